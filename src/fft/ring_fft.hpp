// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/backend.hpp"
#include "base/view.hpp"
#include "sphere/local_rings.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave {

/// Everything a ring FFT is planned from: the rings this rank owns and where the modes of all
/// orders lie for them.
struct RingFftShape {
  LocalRings rings;
  ModeLayout rows;  ///< all orders 0..mmax; where their modes lie for the owned rings
  std::int64_t n_components = 1;
  std::vector<RingRange> urgent = {};  ///< rings whose modes others wait for
  /// What a ring FFT with Backend::cuda may take of its device: with less it works in smaller
  /// blocks. It never takes more than half of what is free.
  std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();
};

/// What an analysis that iterates needs of a map: the spectra of its rings. The residual of a map
/// is that of its spectra, so no iteration takes an FFT. They lie in the map's memory, those of a
/// ring where its n pixels were,
///   c_k = 1/n sum_j f(r, j) exp(-2 pi i j k / n):  c_0, (n even: c_{n/2},) Re c_1, Im c_1, Re c_2,
///   ...
/// Modes and ring weights are those of RingFft, whose synthesize() and adjoint() are S and A below.
/// No allocation. Not collective.
class RingSpectra {
 public:
  virtual ~RingSpectra() = default;

  /// Pixels -> spectra, in place.
  virtual void take(AnyMapView<> map) = 0;

  /// modes = A f for the map f that the spectra are of.
  virtual void adjoint_of_map(AnyConstMapView<> spectra, std::span<const double> ring_weights,
                              ModeView<double> modes) = 0;

  /// modes = A (f - S modes). Returns ||f - S modes||^2 over the owned pixels, the same for any
  /// number of threads.
  virtual double adjoint_of_residual(AnyConstMapView<> spectra,
                                     std::span<const double> ring_weights,
                                     ModeView<double> modes) = 0;

  /// modes = A S modes.
  virtual void adjoint_of_synthesis(std::span<const double> ring_weights,
                                    ModeView<double> modes) = 0;
};

/// Ring modes <-> pixels of the rings this rank owns. Modes above a ring's Nyquist fold onto their
/// aliases exactly (in ascending m) and repeat in the adjoint; ring offsets phi0 are applied as
/// phases. One call at a time per object.
class RingFft {
 public:
  virtual ~RingFft() = default;

  /// f(r, j) = Re Delta_0 + 2 Re sum_{m >= 1} Delta_m(r) exp(i m phi_j), phi_j = phi0 + 2 pi j / n.
  /// modes  [position][component]; read only
  /// map    [component][pixel]; overwritten
  /// Error  UsageError when a size differs from the shape. No allocation. Not collective.
  virtual void synthesize(ModeView<const double> modes, AnyMapView<> map) = 0;

  /// Rings of an adjoint(), which may be made in two steps, so that modes travel while others are
  /// made.
  enum class Step {
    all,
    urgent,  ///< the shape's urgent rings, and what is taken together with them
    rest
  };
  /// Exact transpose (with weight 2 for m > 0 on the modes):
  ///   Delta_m(r) = w_r sum_j f(r, j) exp(-i m phi_j).
  /// ring_weights  [owned ring], multiplied to every pixel of a ring on the way in; empty: all 1,
  ///               the exact adjoint
  /// modes         overwritten at every position of the rows; padding untouched
  /// meanwhile     the calling thread calls it now and then; must not throw
  virtual void adjoint(
      AnyConstMapView<> map, std::span<const double> ring_weights, ModeView<double> modes,
      Step step = Step::all, const std::function<void()>& meanwhile = [] {}) = 0;

  /// Its spectra; null where maps are on a device.
  virtual RingSpectra* spectra() noexcept { return nullptr; }

  /// Bytes of plans' tables and per-thread scratch held (FFTW's own plans not counted).
  virtual std::int64_t bytes() const = 0;
};

/// Plans every length the owned rings need. Error  UsageError when this build lacks the backend.
std::unique_ptr<RingFft> make_ring_fft(RingFftShape shape, Backend backend);

/// Name and version of the FFT library the host backend was linked with, "fftw-3.3.10-sse2-avx".
std::string fft_library_version();

}  // namespace ringweave
