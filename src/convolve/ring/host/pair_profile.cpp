// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/pair_profile.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "convolve/ring/host/kernel_values.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {

ProfileRules::ProfileRules() {
  for (const std::int64_t n : {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48}) {
    Rule rule{n, {}, {}};
    const double count = static_cast<double>(n);
    for (std::int64_t i = 0; i < n; ++i) {
      const double angle = std::numbers::pi * (static_cast<double>(i) + 0.5) / count;
      rule.x.push_back(RingPairChord::square(std::cos(angle / 2)));
    }
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t i = 0; i < n; ++i) {
        const double angle = std::numbers::pi * (static_cast<double>(i) + 0.5) / count;
        rule.cosines.push_back((k == 0 ? 1 : 2) / count * std::cos(static_cast<double>(k) * angle));
      }
    }
    rules_.push_back(std::move(rule));
  }
}

PairSeries ProfileFitter::fit(const KernelTable& kernel, const RingPairChord& chord,
                              double half_width, double weight, double* coefficients) {
  // Starts one length below the last one, so that lengths can fall as well as rise.
  for (std::size_t r = last_ > 0 ? last_ - 1 : 0; r < rules_->all().size(); ++r) {
    const ProfileRules::Rule& rule = rules_->all()[r];
    for (std::int64_t i = 0; i < rule.n; ++i) {
      const double phi = half_width * std::sqrt(rule.x[to_size(i)]);
      values_[to_size(i)] = chord.squared_at(phi);
    }
    evaluate(kernel, values_.data(), rule.n, values_.data());
    for (std::int64_t k = 0; k < rule.n; ++k) {
      const double* cosines = rule.cosines.data() + k * rule.n;
      double sum = 0;
      for (std::int64_t i = 0; i < rule.n; ++i) sum += cosines[i] * values_[to_size(i)];
      coefficients[k] = weight * sum;
    }
    // Both of the last two must be small: by parity one alone may vanish.
    double last = 0;
    for (std::int64_t k = rule.n - 2; k < rule.n; ++k)
      last = std::max(last, std::abs(coefficients[k]));
    if (last > tolerance_ * weight) continue;
    last_ = r;
    std::int64_t n = rule.n;
    while (n > 1 && std::abs(coefficients[n - 1]) < 0.1 * tolerance_ * weight) --n;
    return {n, to_monomials(n, weight, coefficients)};
  }
  last_ = 0;
  return {};
}

bool ProfileFitter::to_monomials(std::int64_t n, double weight, double* coefficients) {
  // T_k = 2 v T_(k-1) - T_(k-2), in powers of v.
  std::array<double, most_coefficients> before{};
  std::array<double, most_coefficients> last{};
  std::array<double, most_coefficients> sum{};
  last[0] = 1;
  sum[0] = coefficients[0];
  for (std::size_t k = 1; k < to_size(n); ++k) {
    for (std::size_t i = k; i > 0; --i) {
      const double next = (k == 1 ? 1 : 2) * last[i - 1] - before[i];
      before[i] = last[i];
      last[i] = next;
      sum[i] += coefficients[k] * next;
    }
    const double next = -before[0];
    before[0] = last[0];
    last[0] = k == 1 ? 0 : next;
    sum[0] += coefficients[k] * last[0];
  }
  double size = 0;
  for (const double value : sum) size += std::abs(value);
  constexpr double epsilon = 1.2e-16;
  if (size * epsilon > tolerance_ * weight) return false;
  std::copy_n(sum.data(), n, coefficients);
  return true;
}

}  // namespace ringweave::detail::inline convolve
