// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>

namespace ringweave {

/// Returns a b without the recovery of infinities that std::complex requires and that prevents
/// vectorization.
inline std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Returns conj(a) b.
inline std::complex<double> conj_product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() + a.imag() * b.imag(), a.real() * b.imag() - a.imag() * b.real()};
}

}  // namespace ringweave
