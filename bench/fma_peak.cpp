// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/fma_peak.cpp"
#include "bench/fma_peak.hpp"

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Runs `rounds` rounds of independent multiply-adds; returns the number of operations. `result`
/// keeps them from being optimised away.
HWY_NOINLINE double fma_rounds(long rounds, double* result) {
  const hn::ScalableTag<double> d;
  constexpr int chains = 12;
  hn::Vec<decltype(d)> value[chains];
#pragma GCC unroll 12
  for (int i = 0; i < chains; ++i) value[i] = hn::Set(d, i);
  const auto a = hn::Set(d, 0.999);
  const auto b = hn::Set(d, 0.001);
  for (long round = 0; round < rounds; ++round) {
#pragma GCC unroll 12
    for (int i = 0; i < chains; ++i) value[i] = hn::MulAdd(value[i], a, b);
  }
  double sum = 0;
#pragma GCC unroll 12
  for (int i = 0; i < chains; ++i) sum += hn::GetLane(hn::SumOfLanes(d, value[i]));
  *result = sum;
  return 2.0 * chains * static_cast<double>(hn::Lanes(d)) * static_cast<double>(rounds);
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <ctime>

namespace ringweave::detail {

HWY_EXPORT(fma_rounds);

double thread_seconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

double measure_fma_peak(double seconds) {
  volatile double keep = 0;
  double operations = 0;
  const double start = thread_seconds();
  double elapsed = 0;
  while (elapsed < seconds) {
    double result = 0;
    operations += HWY_DYNAMIC_DISPATCH(fma_rounds)(100000, &result);
    keep = result;
    elapsed = thread_seconds() - start;
  }
  static_cast<void>(keep);
  return operations / elapsed;
}

}  // namespace ringweave::detail
#endif
