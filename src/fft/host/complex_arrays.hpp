// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

// Products of arrays of complex doubles, compiled for several instruction sets, the best chosen at
// run time.
namespace ringweave::complex_arrays {

/// Every `stride`-th element from `first`.
template <class T>
struct Strided {
  T* first;
  std::int64_t stride;
};

/// out[i] = factor a[i].
void scale(std::complex<double> factor, const std::complex<double>* a, std::int64_t n,
           std::complex<double>* out) noexcept;
/// a[i] *= b[i].
void multiply(std::complex<double>* a, const std::complex<double>* b, std::int64_t n) noexcept;
/// out[i] = a[i * stride] b[i].
void multiply_from(Strided<const std::complex<double>> a, const std::complex<double>* b,
                   std::int64_t n, std::complex<double>* out) noexcept;
/// out[i * stride] = a[-i] b[i].
void multiply_reversed_to(const std::complex<double>* a, const std::complex<double>* b,
                          std::int64_t n, Strided<std::complex<double>> out) noexcept;

}  // namespace ringweave::complex_arrays
