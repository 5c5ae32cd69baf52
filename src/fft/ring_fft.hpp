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
};

/// What RingSpectra computes from a map f, given by its spectra, and modes.
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
  virtual void take(AnyMapView<> map) = 0;

  /// Replaces modes by the result of an operator. Returns, for adjoint_of_residual,
  /// ||f - S modes||^2 over the owned pixels, the same for any number of threads; else 0.
  virtual double apply(SpectrumOperator what, AnyConstMapView<> spectra,
                       std::span<const double> ring_weights, ModeView<double> modes) = 0;
};

/// What the calling thread calls during an adjoint, so that modes are sent meanwhile.
struct AdjointCalls {
  /// Once, when the modes of all urgent rings are complete, also if there are none.
  std::function<void()> urgent_done = [] {};
  /// After that, from time to time; never with CUDA. Must not throw.
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

  /// Returns the bytes of plans' tables and per-thread scratch (without FFTW's own plans).
  virtual std::int64_t bytes() const = 0;
};

/// Plans all lengths of the owned rings. The host has scratch for omp_get_max_threads() threads;
/// later calls use no more.
/// Error  UsageError when the shape contradicts itself, or this build lacks the backend.
std::unique_ptr<RingFft> make_ring_fft(RingFftShape shape, Backend backend);
std::unique_ptr<RingFft> make_host_ring_fft(RingFftShape shape);
std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape shape);

/// Returns name and version of the FFT library of the host backend, "fftw-3.3.10-sse2-avx".
std::string fft_library_version();

}  // namespace ringweave::detail::inline fft
