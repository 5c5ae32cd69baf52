// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/pair_profile.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/ring/host/kernel_values.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// A value of a kernel and the angle it is at.
struct KernelPoint {
  double angle = 0;
  double value = 0;
};

/// Returns values in the middle and at the end of each piece of a table, from angle 0 to the
/// support's end.
std::vector<KernelPoint> points_of_pieces(const KernelTable& kernel) {
  const double cut = kernel.chord_squared_cut;
  const double near_end = kernel.scale * std::sqrt(std::min(cut, 2.0));
  const double far_begin = kernel.scale * std::sqrt(std::max(0.0, 4 - cut));
  const double far_end = kernel.scale * std::sqrt(2.0);
  std::vector<double> near{0.0};
  std::vector<double> far{far_begin};
  if (kernel.is_uniform()) {
    for (int half = 1; 0.5 * half < near_end; ++half) near.push_back(0.5 * half);
    const double first = std::ceil(far_begin);
    for (int half = 0; first + 0.5 * half < far_end; ++half) far.push_back(first + 0.5 * half);
  } else {
    std::vector<double>* half = &near;
    for (std::size_t p = 0; p < kernel.piece_end.size(); ++p) {
      half->push_back(kernel.piece_centre[p]);
      half->push_back(kernel.piece_end[p]);
      // The last piece of a half.
      if (std::isinf(kernel.piece_end[p])) half = &far;
    }
  }
  std::vector<KernelPoint> points;
  for (const double x : near) {
    const double chord = std::min(x, near_end) / kernel.scale;
    points.push_back({2 * std::asin(chord / 2), kernel.evaluate(std::min(chord * chord, cut))});
  }
  if (cut <= 2) return points;
  std::reverse(far.begin(), far.end());
  for (const double x : far) {
    const double rest = std::clamp(x, far_begin, far_end) / kernel.scale;
    points.push_back(
        {2 * std::acos(std::min(rest / 2, 1.0)), kernel.evaluate(std::min(4 - rest * rest, cut))});
  }
  return points;
}

}  // namespace

double narrowest_bump(const KernelTable& kernel, double threshold) {
  /// The stretch on which the kernel rises, or falls, without the flat parts around.
  struct Slope {
    double begin = 0;
    double end = 0;
  };
  double narrowest = std::numeric_limits<double>::infinity();
  Slope before;
  Slope slope;
  std::int64_t n_slopes = 0;
  double sign = 0;     // of the slope; 0 before the first one
  double extreme = 0;  // largest value of the slope, times the sign
  double level = 0;    // value at its end, times the sign
  double previous = 0;
  const std::vector<KernelPoint> points = points_of_pieces(kernel);
  const double first = points.front().value;
  for (const auto& [angle, value] : points) {
    if (sign == 0 && std::abs(value - first) > threshold) {
      sign = value > first ? -1 : 1;
      extreme = sign * first;
    }
    const double along = sign * value;
    if (sign != 0 && along < extreme - threshold) {
      if (n_slopes > 1) narrowest = std::min(narrowest, slope.end - before.begin);
      ++n_slopes;
      before = slope;
      slope = {previous, angle};
      sign = -sign;
      extreme = level = -along;
    }
    extreme = std::max(extreme, sign * value);
    if (sign * value > level + threshold) {
      level = sign * value;
      slope.end = angle;
    }
    previous = angle;
  }
  return n_slopes > 1 ? std::min(narrowest, slope.end - before.begin) : narrowest;
}

std::vector<ProfileRule> profile_rules() {
  std::vector<ProfileRule> rules;
  for (const std::int64_t n : {2, 4, 6, 8, 10, 12, 16, 20, 24, 32, 40, 48}) {
    ProfileRule rule{n, {}, {}};
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
    rules.push_back(std::move(rule));
  }
  return rules;
}

PairSeries ProfileFitter::fit(const KernelTable& kernel, const RingPairChord& chord,
                              double half_width, double weight, double* coefficients) {
  // Small last coefficients say nothing about what lies between the nodes. No bump is missed if
  // nodes are at most half of the narrowest apart. They are at most pi / (2 n) half_width apart in
  // phi, and the distance grows by at most sqrt(span) / 2 with phi.
  const double least = std::numbers::pi / 2 * half_width * std::sqrt(chord.span) / narrowest_;
  // Starts one length below the last one, so that lengths can fall as well as rise.
  for (std::size_t r = last_ > 0 ? last_ - 1 : 0; r < rules_.size(); ++r) {
    const ProfileRule& rule = rules_[r];
    if (static_cast<double>(rule.n) < least) continue;
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
    if (!holds_at_ends(kernel, chord, weight, {coefficients, to_size(rule.n)})) continue;
    last_ = r;
    std::int64_t n = rule.n;
    while (n > 1 && std::abs(coefficients[n - 1]) < 0.1 * tolerance_ * weight) --n;
    return {n, to_monomials(n, weight, coefficients)};
  }
  last_ = 0;
  return {};
}

bool ProfileFitter::holds_at_ends(const KernelTable& kernel, const RingPairChord& chord,
                                  double weight, std::span<const double> coefficients) const {
  // Errors add up at the ends, and the table's own may be several times the smallest tolerance.
  constexpr double slack = 8;
  // All lengths are even.
  double even = 0;
  double odd = 0;
  for (std::size_t k = 0; k < coefficients.size(); k += 2) {
    even += coefficients[k];
    odd += coefficients[k + 1];
  }
  const double edge = std::min(chord.gap + chord.span, kernel.chord_squared_cut);
  const double error = std::max(std::abs(even - odd - weight * kernel.evaluate(chord.gap)),
                                std::abs(even + odd - weight * kernel.evaluate(edge)));
  return error <= slack * tolerance_ * weight;
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
