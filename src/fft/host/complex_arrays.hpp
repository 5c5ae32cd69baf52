// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

namespace ringweave::detail::inline fft {

/// a b, without the recovery of infinities that std::complex's operator owes and that stops
/// vectorisation.
inline std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// conj(a) b.
inline std::complex<double> conj_product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real()};
}

}  // namespace ringweave::detail::inline fft

// Products of arrays of complex doubles, compiled for several instruction sets and dispatched at
// run time.
namespace ringweave::detail::inline fft::complex_arrays {

/// Computes out[i] = factor a[i].
void scale(std::complex<double> factor, const std::complex<double>* a, std::int64_t n,
           std::complex<double>* out) noexcept;

}  // namespace ringweave::detail::inline fft::complex_arrays
