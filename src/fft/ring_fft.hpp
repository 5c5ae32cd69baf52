// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/mode_view.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::inline fft {

/// Use of a ring FFT: all of a map, or also some at a time (RingRuns).
enum class RingFftUse { maps, runs };

/// Input of the plan of a ring FFT: the rings this rank owns and the layout of their modes of all
/// orders.
struct RingFftShape {
  LocalRings rings;
  ModeLayout rows;  ///< all orders 0..mmax; layout of their modes on the owned rings
  std::int64_t n_components = 1;
  std::vector<RingRange> urgent = {};  ///< rings whose modes other ranks wait for
  /// Limit for the device memory of a ring FFT with Backend::cuda; with less it works in smaller
  /// blocks. It never uses more than half of the free memory.
  std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();
  RingFftUse use = RingFftUse::maps;
};

/// Operators of RingSpectra on modes and a map f, which is given by its spectra.
enum class SpectrumOperator {
  adjoint_of_map,        ///< A f; modes are not read
  adjoint_of_residual,   ///< A (f - S modes)
  adjoint_of_synthesis,  ///< A S modes; spectra are not read
};

/// Ring spectra of a map, from which an iterative analysis computes residuals without further FFTs.
/// They are stored in the map's memory, those of a ring in place of its n pixels,
///   c_k = 1/n sum_j f(r, j) exp(-2 pi i j k / n):
///   c_0, (n even: c_{n/2},) Re c_1, Im c_1, Re c_2, ...
/// Modes and ring weights are those of RingFft, whose synthesize() and adjoint() are S and A.
/// No allocation. Not collective.
class RingSpectra {
 public:
  virtual ~RingSpectra() = default;

  /// Replaces pixels by spectra.
  virtual void from_pixels(AnyMapView<> map) = 0;

  /// Replaces modes by the result of an operator. Returns, for adjoint_of_residual,
  /// ||f - S modes||^2 over the owned pixels, the same for any number of threads; else 0.
  virtual double apply(SpectrumOperator what, AnyConstMapView<> spectra,
                       std::span<const double> ring_weights, ModeView<double> modes) = 0;
};

/// Pixels of neighbouring rings of one length, anywhere in memory.
struct RunPixels {
  std::span<double* const> rings;     ///< [ring] its pixels of component 0
  std::int64_t component_stride = 0;  ///< from those of one component to those of the next
};

/// The transform of RingFft for a few rings at a time, so that their pixels need not all exist at
/// once. Modes and pixels are the same bit by bit. Threads may call side by side, each with a
/// number of its own below n_threads(). No allocation. Not collective.
///
/// run    rings of one band that this rank owns
/// modes  of all owned rings
class RingRuns {
 public:
  virtual ~RingRuns() = default;
  virtual int n_threads() const noexcept = 0;

  /// Overwrites pixels.
  virtual void synthesize(int thread, RingRange run, ModeView<const double> modes,
                          const RunPixels& pixels) noexcept = 0;
  /// Overwrites the modes of the run. Only reads pixels.
  virtual void adjoint(int thread, RingRange run, const RunPixels& pixels,
                       ModeView<double> modes) noexcept = 0;
};

/// Functions that the calling thread calls during an adjoint, so that modes are sent during it.
struct AdjointCalls {
  /// Called once, when the modes of all urgent rings are complete, also if there are none.
  std::function<void()> urgent_done = [] {};
  /// Called after that, from time to time; never with CUDA. Must not throw.
  std::function<void()> meanwhile = [] {};
};

/// Transforms between ring modes and pixels of the rings this rank owns. Modes above a ring's
/// Nyquist fold onto their aliases exactly (in ascending m) and repeat in the adjoint; ring offsets
/// phi0 are applied as phases. One call at a time per object.
class RingFft {
 public:
  virtual ~RingFft() = default;

  /// Synthesizes f(r, j) = Re Delta_0 + 2 Re sum_{m >= 1} Delta_m(r) exp(i m phi_j), phi_j = phi0 +
  /// 2 pi j / n.
  /// modes  [position][component]; read only
  /// map    [component][pixel]; overwritten
  /// Error  UsageError when a size differs from the shape. No allocation. Not collective.
  virtual void synthesize(ModeView<const double> modes, AnyMapView<> map) = 0;

  /// Applies the exact transpose (with weight 2 for m > 0 on the modes):
  ///   Delta_m(r) = w_r sum_j f(r, j) exp(-i m phi_j).
  /// ring_weights  [owned ring], factors of the pixels; empty: all 1, the exact adjoint
  /// modes         overwritten at every position of the rows; padding untouched
  virtual void adjoint(AnyConstMapView<> map, std::span<const double> ring_weights,
                       ModeView<double> modes, const AdjointCalls& calls = {}) = 0;

  /// Returns the ring spectra; null if maps are on a device.
  virtual RingSpectra* spectra() noexcept { return nullptr; }

  /// Returns the transform of some rings at a time; null unless the plan was made for it, on the
  /// host.
  virtual RingRuns* runs() noexcept { return nullptr; }

  /// Returns the bytes of plans' tables and per-thread scratch (without FFTW's own plans).
  virtual std::int64_t bytes() const = 0;
};

/// Plans all lengths of the owned rings. The host has scratch for omp_get_max_threads() threads;
/// later calls use no more.
/// Error  UsageError when the shape contradicts itself, rings used in runs are of odd length or
///        have prime factors above 13, or this build lacks the backend.
std::unique_ptr<RingFft> make_ring_fft(RingFftShape shape, Backend backend);
std::unique_ptr<RingFft> make_host_ring_fft(RingFftShape shape);
std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape shape);

/// Predicts the bytes of a thread of RingRuns, for rings of so many pixels and orders 0 .. n_orders
/// - 1.
std::int64_t run_bytes_of_thread(std::int64_t n_phi, std::int64_t n_orders);

/// Returns name and version of the FFT library of the host backend, "fftw-3.3.10-sse2-avx".
std::string fft_library_version();

}  // namespace ringweave::detail::inline fft
