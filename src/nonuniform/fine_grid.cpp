// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/fine_grid.hpp"

#include <numbers>

namespace ringweave::detail::inline nonuniform {
namespace {

TwoDoubles two_doubles(long double value) {
  const auto high = static_cast<double>(value);
  return {high, static_cast<double>(value - static_cast<long double>(high))};
}

}  // namespace

FineGrid make_fine_grid(std::int64_t n_rows, std::int64_t n_columns, int theta_width,
                        int phi_width) {
  constexpr long double pi = std::numbers::pi_v<long double>;
  return {n_rows,
          n_columns,
          theta_width,
          phi_width,
          two_doubles(static_cast<long double>(n_rows) / pi),
          two_doubles(static_cast<long double>(n_columns) / (2 * pi))};
}

}  // namespace ringweave::detail::inline nonuniform
