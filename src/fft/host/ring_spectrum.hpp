// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

namespace ringweave::detail::inline fft {

// One component of one ring: modes of all orders <-> the bins 0..n/2 that n pixels distinguish <->
// the input or output of a complex FFT. All arrays hold complex doubles; no allocation.

/// Computes bins[k] = sum over the orders m that alias to k, ascending, of phase_m mode_m
/// (conjugated for m = t n - k), so that
/// f_j = bins_0 + 2 Re sum_{0 < k < n/2} bins_k exp(2 pi i j k / n) + bins_{n/2} (-1)^j (n even).
/// Bins 0 and n/2 get the aliases' real parts twice, mode 0 once.
///
/// modes   [n_modes], orders from 0
/// phases  [n_modes], exp(i m phi0); null: all 1
/// bins    [n/2 + 1], overwritten
void fold(const std::complex<double>* modes, std::int64_t n_modes,
          const std::complex<double>* phases, std::int64_t n, std::complex<double>* bins) noexcept;

/// Applies the transpose: mode_m = conj(phase_m) bin of m (conjugated where mirrored), for m <
/// n_modes.
void unfold(const std::complex<double>* bins, std::int64_t n, const std::complex<double>* phases,
            std::int64_t n_modes, std::complex<double>* modes) noexcept;

/// Computes, for even n, packed[n/2], whose backward FFT is f_{2j} + i f_{2j+1}: the ring itself in
/// memory.
/// roots  [n/4 + 1], exp(2 pi i k / n)
void pack_even(const std::complex<double>* bins, std::int64_t n, const std::complex<double>* roots,
               std::complex<double>* packed) noexcept;
/// Computes, for odd n, packed[n], whose backward FFT is f_j + 0 i.
void pack_odd(const std::complex<double>* bins, std::int64_t n,
              std::complex<double>* packed) noexcept;

/// Computes, for even n, bins[k] = weight sum_j f_j exp(-2 pi i j k / n) from transformed[n/2], the
/// *backward* FFT of f_{2j} + i f_{2j+1}.
void unpack_even(const std::complex<double>* transformed, std::int64_t n,
                 const std::complex<double>* roots, double weight,
                 std::complex<double>* bins) noexcept;
/// Computes the same for odd n from transformed[n], the backward FFT of f_j + 0 i.
void unpack_odd(const std::complex<double>* transformed, std::int64_t n, double weight,
                std::complex<double>* bins) noexcept;

}  // namespace ringweave::detail::inline fft
