// SPDX-License-Identifier: GPL-3.0-or-later
// The disabled sets have no additional double arithmetic.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "base/unit_powers.cpp"
#include "base/unit_powers.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

// A plain loop: the compiler vectorizes it for the target of this pass.
void scale_powers(std::complex<double> factor, const std::complex<double>* powers, std::int64_t n,
                  std::complex<double>* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = product(factor, powers[i]);
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline base {

HWY_EXPORT(scale_powers);

namespace {

/// Returns exp(i angle) to full double precision: the digits of the angle that a double cannot hold
/// enter at first order.
std::complex<double> unit(long double angle) {
  const auto head = static_cast<double>(angle);
  const auto tail = static_cast<double>(angle - static_cast<long double>(head));
  const double c = std::cos(head);
  const double s = std::sin(head);
  return {c - tail * s, s + tail * c};
}

}  // namespace

UnitPowers::UnitPowers(const std::vector<Request>& requests) {
  std::int64_t size = 0;
  for (const Request& request : requests) {
    first_.push_back(size);
    size += n_factors(request.count);
  }
  factors_.allocate(size);
  const std::int64_t n_tables = ssize64(requests);
#pragma omp parallel for schedule(static)
  for (std::int64_t table = 0; table < n_tables; ++table) {
    const Request& request = requests[to_size(table)];
    std::complex<double>* factor = factors_.data() + first_[to_size(table)];
    for (std::int64_t k = 0; k < n_fine; ++k)
      *factor++ = unit(static_cast<long double>(k) * request.angle);
    for (std::int64_t k = 0; k < request.count; k += n_fine) {
      *factor++ = unit(static_cast<long double>(k) * request.angle);
    }
  }
}

void UnitPowers::expand(std::int64_t table, std::int64_t n,
                        std::complex<double>* values) const noexcept {
  const std::complex<double>* fine = this->fine(table);
  const std::complex<double>* coarse = fine + n_fine;
  for (std::int64_t begin = 0; begin < n; begin += n_fine, ++coarse) {
    HWY_DYNAMIC_DISPATCH(scale_powers)
    (*coarse, fine, std::min(n_fine, n - begin), values + begin);
  }
}

HostBuffer<std::complex<double>> powers_of_unity(std::int64_t period) {
  const auto angle = 2 * std::numbers::pi_v<long double> / static_cast<long double>(period);
  HostBuffer<std::complex<double>> values(period);
  UnitPowers({{angle, period}}).expand(0, period, values.data());
  return values;
}

}  // namespace ringweave::detail::inline base
#endif  // HWY_ONCE
