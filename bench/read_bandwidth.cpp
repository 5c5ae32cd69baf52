// SPDX-License-Identifier: GPL-3.0-or-later
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "bench/read_bandwidth.cpp"
#include "bench/read_bandwidth.hpp"

#include <cstdint>

#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Returns the sum of `size` numbers, which must be a multiple of 64 of them.
HWY_NOINLINE double sum_of(const double* numbers, std::int64_t size) {
  const hn::CappedTag<double, 8> d;
  constexpr int chains = 8;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sum[chains];
#pragma GCC unroll 8
  for (int i = 0; i < chains; ++i) sum[i] = hn::Zero(d);
  for (std::int64_t n = 0; n < size; n += chains * lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < chains; ++i)
      sum[i] = hn::Add(sum[i], hn::LoadU(d, numbers + n + i * lanes));
  }
  for (int i = 1; i < chains; ++i) sum[0] = hn::Add(sum[0], sum[i]);
  return hn::GetLane(hn::SumOfLanes(d, sum[0]));
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <omp.h>

#include <algorithm>
#include <chrono>

#include "ringweave/views.hpp"

namespace ringweave::detail {

HWY_EXPORT(sum_of);

double measure_read_bandwidth(const Communicator& comm) {
  constexpr std::int64_t size_of_all = std::int64_t{1} << 26;
  const std::int64_t part = size_of_all / (comm.size() * omp_get_max_threads()) / 64 * 64;
  const std::int64_t size = part * omp_get_max_threads();
  HostBuffer<double> numbers(size);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < size; ++i) numbers[i] = 1;
  double best = 0;
  for (int repeat = 0; repeat < 5; ++repeat) {
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t first = 0; first < size; first += part)
      sum += HWY_DYNAMIC_DISPATCH(sum_of)(numbers.data() + first, part);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double bytes = 8 * comm.sum(sum);
    best = std::max(best, bytes / comm.max(elapsed.count()));
  }
  return best;
}

}  // namespace ringweave::detail
#endif
