// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/spin_sums.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline sphere {
namespace {

constexpr std::size_t n_points = 32;  // evaluated side by side
using JacobiValues = std::array<double, n_points>;
/// Degrees per partial sum, as for Legendre series.
constexpr std::size_t degrees_together = 128;

/// Jacobi polynomials of one degree n = l - s after the other at several points of a half, over
/// their value at its centre: P_n^{(0, 2s)}(z), or P_n^{(2s, 0)}(z) over its value at 1, to which
/// those of -z belong.
class JacobiLanes {
 public:
  /// Points beyond the end of chord_squared repeat z = 1.
  JacobiLanes(int spin, Half half, std::span<const double> chord_squared, std::size_t first)
      : spin_(spin), is_far_(half == Half::far) {
    const std::size_t n = std::min(n_points, chord_squared.size() - first);
    for (std::size_t i = 0; i < n; ++i) one_minus_z_[i] = chord_squared[first + i] / 2;
    p_.fill(1);
  }

  const JacobiValues& p() const { return p_; }
  /// Returns the value of P_n^{(0, 2s)} at the centre of the half.
  double at_centre() const { return at_centre_; }

  void advance() {
    const JacobiStep step = is_far_ ? JacobiStep::far(spin_, n_) : JacobiStep::near(spin_, n_);
    for (std::size_t i = 0; i < n_points; ++i) {
      difference_[i] = step.before * difference_[i] - step.here * (one_minus_z_[i] * p_[i]);
      p_[i] += difference_[i];
    }
    if (is_far_) at_centre_ *= -(n_ + 2 * spin_ + 1) / (n_ + 1);
    n_ += 1;
  }

 private:
  int spin_;
  bool is_far_;
  double n_ = 0;
  double at_centre_ = 1;
  alignas(64) JacobiValues one_minus_z_{};
  alignas(64) JacobiValues p_{};
  alignas(64) JacobiValues difference_{};
};

void sum_half(int spin, Half half, std::span<const double> coefficient,
              std::span<const double> chord_squared, std::vector<double>& values) {
  const auto blocks = static_cast<std::int64_t>((chord_squared.size() + n_points - 1) / n_points);
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t block = 0; block < blocks; ++block) {
    const std::size_t first = to_size(block) * n_points;
    JacobiLanes jacobi(spin, half, chord_squared, first);
    alignas(64) JacobiValues sum{};
    for (std::size_t begin = to_size(spin); begin < coefficient.size(); begin += degrees_together) {
      const std::size_t end = std::min(begin + degrees_together, coefficient.size());
      alignas(64) JacobiValues part{};
      for (std::size_t l = begin; l < end; ++l) {
        const double factor = coefficient[l] * jacobi.at_centre();
        for (std::size_t i = 0; i < n_points; ++i) part[i] += factor * jacobi.p()[i];
        jacobi.advance();
      }
      for (std::size_t i = 0; i < n_points; ++i) sum[i] += part[i];
    }
    const std::size_t n = std::min(n_points, chord_squared.size() - first);
    std::copy_n(sum.begin(), n, values.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

/// Returns the step, with (above, below) = (n + 1, n + b) near the centre and (n + b + 1, n) at its
/// antipode.
JacobiStep step_of(double n, double b, double above, double below) {
  const double sum = 2 * n + b;
  const double divisor = above * (n + b + 1);
  return {n == 0 ? 0 : n * below * (sum + 2) / (divisor * sum),
          (sum + 1) * (sum + 2) / (2 * divisor)};
}

}  // namespace

JacobiStep JacobiStep::near(int spin, double n) {
  const double b = 2 * spin;
  return step_of(n, b, n + 1, n + b);
}

JacobiStep JacobiStep::far(int spin, double n) {
  const double b = 2 * spin;
  return step_of(n, b, n + b + 1, n);
}

LegendreSeriesValues sum_spin_series(int spin, std::span<const double> coefficient,
                                     std::span<const double> chord_squared) {
  const std::size_t n = chord_squared.size();
  LegendreSeriesValues values{std::vector<double>(n), std::vector<double>(n)};
  sum_half(spin, Half::near, coefficient, chord_squared, values.near);
  sum_half(spin, Half::far, coefficient, chord_squared, values.far);
  return values;
}

LegendreSeriesValues sum_conjugate_series(int spin, std::span<const double> coefficient,
                                          std::span<const double> chord_squared) {
  // P_n^{(2s, 0)}(z) = (-1)^n P_n^{(0, 2s)}(-z), n = l - s
  std::vector<double> alternating(coefficient.begin(), coefficient.end());
  for (std::size_t l = 1; l < alternating.size(); l += 2) alternating[l] = -alternating[l];
  LegendreSeriesValues values = sum_spin_series(spin, alternating, chord_squared);
  std::swap(values.near, values.far);
  for (std::size_t i = 0; i < chord_squared.size(); ++i) {
    values.near[i] *= std::pow(chord_squared[i] / 4, spin);
    values.far[i] *= std::pow(1 - chord_squared[i] / 4, spin);
  }
  return values;
}

std::vector<double> project_on_spin(int spin, Half half, std::span<const double> chord_squared,
                                    std::span<const double> value, int lmax) {
  const std::size_t n = chord_squared.size();
  std::vector<double> result(to_size(std::int64_t{lmax} + 1), 0.0);
  for (std::size_t first = 0; first < n; first += n_points) {
    JacobiLanes jacobi(spin, half, chord_squared, first);
    alignas(64) JacobiValues factor{};
    for (std::size_t i = 0; i < std::min(n_points, n - first); ++i) factor[i] = value[first + i];
    for (std::size_t l = to_size(spin); l < result.size(); ++l) {
      double sum = 0;
      for (std::size_t i = 0; i < n_points; ++i) sum += factor[i] * jacobi.p()[i];
      result[l] += jacobi.at_centre() * sum;
      jacobi.advance();
    }
  }
  return result;
}

}  // namespace ringweave::detail::inline sphere
