// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/spin_field.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline legendre {
namespace {

// The scalar route multiplies rounding errors by sin(theta)^-s; few orders are left where that
// exceeds 100.
constexpr double least_sine_power = 0.01;
// Below this degree a sweep with Wigner's d functions costs little more than the ladder.
constexpr int least_lmax_for_ladder = 100;

}  // namespace

SpinField::SpinField(const FieldSet::Field& field, const RingGrid& grid, int lmax)
    : first_component_(field.first_component),
      n_pairs_(grid.n_pairs()),
      ladder_(field.spin, lmax),
      weights_(grid.n_pairs()) {
  if (lmax < least_lmax_for_ladder) n_wigner_pairs_ = n_pairs_;
  for (std::int64_t i = n_wigner_pairs_; i < n_pairs_; ++i) {
    const double power = std::pow(grid.pairs()[to_size(i)].sin_theta, field.spin);
    if (power < least_sine_power) n_wigner_pairs_ = i + 1;
    weights_[i] = 1 / power;
  }
  std::fill(weights_.begin(), weights_.begin() + n_wigner_pairs_, 0.0);
}

std::int64_t SpinField::bytes() const {
  return ladder_.bytes() + weights_.size() * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace ringweave::detail::inline legendre
