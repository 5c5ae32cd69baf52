// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

// Products of arrays of complex doubles, compiled for several instruction sets and dispatched at
// run time.
namespace ringweave::complex_arrays {

/// Computes out[i] = factor a[i].
void scale(std::complex<double> factor, const std::complex<double>* a, std::int64_t n,
           std::complex<double>* out) noexcept;

}  // namespace ringweave::complex_arrays
