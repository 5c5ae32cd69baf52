// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "base/buffer.hpp"
#include "fft/host/backward_fft.hpp"
#include "fft/host/ring_length.hpp"
#include "fft/host/unit_powers.hpp"

namespace ringweave {

/// Complex FFTs of awkward lengths h as convolutions with the chirp u_j = exp(i pi j^2 / h), by one thread:
/// sum_k z_k exp(2 pi i j k / h) = u_j sum_k (z_k u_k) conj(u_{j-k}). The chirp and its transform are made anew whenever
/// the length changes (one FFT beside two for every transform), because kept for every ring they would take a fifth of
/// the map's memory.
/// From  Bluestein (1970), IEEE Trans. Audio Electroacoust. 18, doi:10.1109/TAU.1970.1162132
class ChirpFft {
 public:
  ChirpFft() = default;
  /// Scratch for transforms up to these lengths.
  ChirpFft(std::int64_t max_complex, std::int64_t max_convolution);

  /// Chooses the length. `roots` table `table` holds exp(i pi k / n_complex), k < 2 n_complex; `convolution` is the plan
  /// of n_convolution. No allocation.
  void prepare(const RingLength& length, const UnitPowers& roots, std::int64_t table, const BackwardFft& convolution);

  /// out_j = sum_k in_k exp(+2 pi i j k / n_complex), the length last prepared. `in` and `out` may be the same.
  void execute(const std::complex<double>* in, std::complex<double>* out) noexcept;

  std::int64_t bytes() const;

 private:
  const BackwardFft* convolution_ = nullptr;
  std::int64_t n_complex_ = 0;
  std::int64_t n_convolution_ = 0;
  HostBuffer<std::complex<double>> chirp_;     ///< u_j
  HostBuffer<std::complex<double>> response_;  ///< transform of conj(u), over n_convolution
  HostBuffer<std::complex<double>> padded_;
  HostBuffer<std::complex<double>> spectrum_;
};

}  // namespace ringweave
