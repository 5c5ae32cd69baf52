// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/points/compact_indices.hpp"
#include "distribute/points/point_order.hpp"
#include "distribute/points/point_plan.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/summed_points.hpp"
#include "nonuniform/tap_kernel.hpp"
#include "support/angles.hpp"

namespace ringweave::detail::test {

using Values = std::vector<double>;

inline Values random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Values values(to_size(n));
  for (double& value : values) value = normal(random);
  return values;
}

inline double relative_gap(const Values& found, const Values& expected) {
  double gap = 0;
  double all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    gap += (found[i] - expected[i]) * (found[i] - expected[i]);
    all += expected[i] * expected[i];
  }
  return std::sqrt(gap / all);
}

/// Points, many of them next to the poles and to phi = 0.
inline PointOrder sorted_points(const FineGrid& grid, std::int64_t n) {
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> unit;
  Values theta;
  Values phi;
  for (std::int64_t i = 0; i < n; ++i) {
    const double near = std::pow(unit(random), 3) * 8 / static_cast<double>(grid.n_rows);
    theta.push_back(i % 4 == 0 ? near : i % 4 == 1 ? pi - near : pi * unit(random));
    phi.push_back(i % 5 == 0 ? 0.1 * (unit(random) - 0.5) : 2 * pi * unit(random));
  }
  const FineRows rows{
      std::make_shared<const RingGrid>(RingGrid::fejer(grid.n_rows, grid.n_columns)),
      grid.theta_width, grid.phi_width};
  CompactIndices place;
  place.allocate(n, n);
  return sort_points(rows, {theta.data(), phi.data(), nullptr, 1, n}, place);
}

/// Points, and rows of a rank, with the sums of the host. The frames of a field of spin 3 turn.
class PointSumsProblem {
 public:
  static constexpr std::int64_t n_components = 3;

  /// has_row(row) tells whether this rank has it.
  PointSumsProblem(const FineGrid& grid, std::int64_t n_points,
                   const std::function<bool(std::int64_t)>& has_row)
      : theta_(grid.theta_width, 1.5),
        phi_(grid.phi_width, 1.5),
        points_(sorted_points(grid, n_points)) {
    for (std::int64_t row = 0; row < grid.n_rows; ++row) {
      first_value_.push_back(has_row(row) ? size_ : -1);
      if (has_row(row)) size_ += grid.n_columns;
    }
    taps_ = {grid, theta_.polynomials(), phi_.polynomials(), first_value_, beyond_pole_};
    rows_ = random_values(n_components * size_, 1);
    values_ = random_values(n_components * points_.size(), 2);
    for (const double angle : random_values(points_.size(), 3)) {
      cos_gamma_.push_back(std::cos(angle));
      sin_gamma_.push_back(std::sin(angle));
    }
  }

  const RowTaps& taps() const { return taps_; }
  SummedPoints points() const { return {span(), {cos_gamma_, sin_gamma_, {{spin, 1}}}}; }
  std::int64_t n_points() const { return points_.size(); }
  std::int64_t row_size() const { return size_; }  ///< of a component
  const Values& rows() const { return rows_; }
  const Values& values() const { return values_; }

  /// [component][point]
  Values interpolated() const {
    Values values(values_.size(), 0);
    interpolate_points(taps_, rows_.data(), size_, span(), values.data(), points_.size());
    turn(values, spin);
    return values;
  }
  /// [component][value]
  Values spread() const {
    Values rows(rows_.size(), 0);
    Values values = values_;
    turn(values, -spin);
    spread_points(taps_, span(), values.data(), points_.size(), {0, taps_.grid.n_rows}, rows.data(),
                  size_);
    return rows;
  }

 private:
  static constexpr int spin = 3;

  PointSpan span() const { return {points_.theta.data(), points_.phi.data(), points_.size()}; }
  /// Multiplies the last two components by exp(i `power` gamma).
  void turn(Values& values, int power) const {
    for (std::int64_t i = 0; i < points_.size(); ++i) {
      double& q = values[to_size(points_.size() + i)];
      double& u = values[to_size(2 * points_.size() + i)];
      const std::complex<double> turned =
          std::complex<double>(q, u) *
          std::pow(std::complex<double>(cos_gamma_[to_size(i)], sin_gamma_[to_size(i)]), power);
      q = turned.real();
      u = turned.imag();
    }
  }

  TapKernel theta_;
  TapKernel phi_;
  PointOrder points_;
  std::int64_t size_ = 0;
  std::vector<std::int64_t> first_value_;
  Values beyond_pole_ = {1, -1, -1};
  RowTaps taps_{};
  Values rows_;
  Values values_;
  Values cos_gamma_;  ///< [point]
  Values sin_gamma_;
};

}  // namespace ringweave::detail::test
