// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/unit_powers.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "fft/host/complex_arrays.hpp"

namespace ringweave::detail::inline fft {
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
    complex_arrays::scale(*coarse, fine, std::min(n_fine, n - begin), values + begin);
  }
}

std::int64_t UnitPowers::bytes() const {
  return factors_.size() * static_cast<std::int64_t>(sizeof(std::complex<double>)) +
         ssize64(first_) * static_cast<std::int64_t>(sizeof(std::int64_t));
}

}  // namespace ringweave::detail::inline fft
