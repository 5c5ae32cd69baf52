// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "base/buffer.hpp"
#include "fft/host/backward_fft.hpp"
#include "fft/host/ring_length.hpp"
#include "fft/host/unit_powers.hpp"

namespace ringweave {

/// Complex FFTs of lengths h = s p, s smooth and p awkward, by one thread. As s and p are coprime,
/// the index maps k = s k1 + p k2, j = s j1 + p j2 (modulo h) leave s transforms of length p, then
/// p of length s, and no twiddle factors: j k / h = s j1 k1 / p + p j2 k2 / s up to whole turns.
///
/// A long awkward transform is a convolution with the chirp u_j = exp(i pi s j^2 / p):
/// sum_k z_k exp(2 pi i s j k / p) = u_j sum_k (z_k u_k) conj(u_{j-k}). The chirp and its transform
/// are made anew when the length changes: kept for every ring they would take memory, and they cost
/// one FFT beside two for each column.
///
/// From  Good (1958), J. Roy. Stat. Soc. B 20, 361
///       Bluestein (1970), IEEE Trans. Audio Electroacoust. 18, 451
class PrimeFactorFft {
 public:
  /// The plans one length needs, shared by all threads.
  struct Plans {
    explicit Plans(const RingLength& length);
    /// Of n_smooth, a batch of columns; null where n_smooth = 1.
    const BackwardFft* smooth = nullptr;
    /// Of n_convolution, or of n_awkward where there is no convolution.
    const BackwardFft* awkward = nullptr;
  };
  /// Scratch that serves several lengths: the largest of each over all of them.
  struct Capacity {
    std::int64_t columns = 0;
    std::int64_t awkward = 0;
    std::int64_t convolution = 0;
    void include(const RingLength& length);
  };

  PrimeFactorFft() = default;
  explicit PrimeFactorFft(const Capacity& capacity);

  /// Chooses the length, which must not be smooth. `roots` table `table` holds exp(i pi k /
  /// n_complex) for k < 2 n_complex. No allocation.
  void prepare(const RingLength& length, const Plans& plans, const UnitPowers& roots,
               std::int64_t table) noexcept;

  /// out_j = sum_k in_k exp(+2 pi i j k / n_complex) for the length last prepared. `in` and `out`
  /// do not overlap.
  void execute(const std::complex<double>* in, std::complex<double>* out) noexcept;

  std::int64_t bytes() const;

 private:
  void chirp_column(const std::complex<double>* in, std::int64_t column) noexcept;
  void direct_column(const std::complex<double>* in, std::int64_t column) noexcept;
  void smooth_columns(std::complex<double>* out) noexcept;

  RingLength length_{1};
  const BackwardFft* smooth_ = nullptr;
  const BackwardFft* awkward_ = nullptr;
  HostBuffer<std::complex<double>> chirp_;        ///< u_j
  HostBuffer<std::complex<double>> response_;     ///< transform of conj(u), over n_convolution
  HostBuffer<std::complex<double>> padded_;       ///< one column going in
  HostBuffer<std::complex<double>> spectrum_;     ///< one column transformed
  HostBuffer<std::complex<double>> columns_;      ///< [n_awkward][n_smooth]
  HostBuffer<std::complex<double>> transformed_;  ///< [n_awkward][n_smooth]
};

}  // namespace ringweave
