// SPDX-License-Identifier: GPL-3.0-or-later
// The disabled sets have no additional double arithmetic.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/complex_arrays.cpp"
#include "fft/host/complex_arrays.hpp"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::inline fft::complex_arrays::HWY_NAMESPACE {

// Plain loops: the compiler vectorizes them for the target of this pass.
using Complex = std::complex<double>;

void scale(Complex factor, const Complex* a, std::int64_t n, Complex* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = product(factor, a[i]);
}

}  // namespace ringweave::detail::inline fft::complex_arrays::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft::complex_arrays {

HWY_EXPORT(scale);

void scale(std::complex<double> factor, const std::complex<double>* a, std::int64_t n,
           std::complex<double>* out) noexcept {
  HWY_DYNAMIC_DISPATCH(scale)(factor, a, n, out);
}
}  // namespace ringweave::detail::inline fft::complex_arrays
#endif  // HWY_ONCE
