// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/bessel_filter.hpp"

#include <math.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/operator_rows.hpp"

namespace ringweave::detail::inline gyro {
namespace {

FilterAxis bessel_axis(const PlaneAxis& axis, double rho, std::int64_t padding) {
  FilterAxis filter{.size = axis.size, .size_out = axis.size};
  if (axis.boundary == PlaneBoundary::periodic) {
    filter.length = axis.size;
  } else if (axis.boundary == PlaneBoundary::mirror) {
    filter.length = 2 * (axis.size - 1);
    filter.is_mirrored = true;
  } else {
    const std::int64_t least = least_padding(radius_in_spacings(axis, rho));
    filter.series = AxisSeries::cosine;
    filter.length = fast_length(axis.size + 2 * (padding < 0 ? least : padding), true);
    filter.first = (filter.length - axis.size) / 2;
    filter.first_out = filter.first;
  }
  return filter;
}

/// Returns the squares of the wavenumbers of an axis, times rho^2.
std::vector<double> squared_phases(const FilterAxis& axis, double spacing, double rho) {
  const double halves = axis.series == AxisSeries::cosine ? 1 : 2;
  std::vector<double> squares;
  for (std::int64_t k = 0; k < axis.n_frequencies(); ++k) {
    const double phase = std::numbers::pi * halves * static_cast<double>(k) * rho /
                         (static_cast<double>(axis.length) * spacing);
    squares.push_back(phase * phase);
  }
  return squares;
}

/// Returns the parts that node i has in the series at a point, [frequency][node]: the field there
/// is the sum of all parts times the values at the nodes.
/// position  of the point, in spacings from the first node
std::vector<double> parts_of_nodes(const FilterAxis& axis, double position) {
  const auto length = static_cast<double>(axis.length);
  const bool is_cosine = axis.series == AxisSeries::cosine;
  std::vector<double> parts;
  for (std::int64_t k = 0; k < axis.n_frequencies(); ++k) {
    const bool is_single = k == 0 || (!is_cosine && 2 * k == axis.length);
    const double factor = (is_single ? 1 : 2) / length;
    const double angle = (is_cosine ? 1 : 2) * std::numbers::pi * static_cast<double>(k) / length;
    const auto first = static_cast<double>(axis.first) + 0.5;
    for (std::int64_t i = 0; i < axis.size; ++i) {
      const auto node = static_cast<double>(i);
      double part = 0;
      if (is_cosine) {
        part = std::cos(angle * (first + position)) * std::cos(angle * (first + node));
      } else {
        part = std::cos(angle * (position - node));
        if (axis.is_mirrored && i > 0 && i < axis.size - 1)
          part += std::cos(angle * (position + node));
      }
      parts.push_back(factor * part);
    }
  }
  return parts;
}

/// Returns the product of a [n][rows] matrix, transposed, and a [n][columns] matrix.
std::vector<double> transposed_product(const std::vector<double>& a, const std::vector<double>& b,
                                       std::int64_t n) {
  const std::int64_t n_rows = ssize64(a) / n;
  const std::int64_t n_columns = ssize64(b) / n;
  std::vector<double> product(to_size(n_rows * n_columns));
  for (std::int64_t k = 0; k < n; ++k) {
    for (std::int64_t r = 0; r < n_rows; ++r) {
      const double factor = a[to_size(k * n_rows + r)];
      const double* from = b.data() + k * n_columns;
      double* to = product.data() + r * n_columns;
      for (std::int64_t c = 0; c < n_columns; ++c) to[c] += factor * from[c];
    }
  }
  return product;
}

}  // namespace

BesselAxes bessel_axes(const PlaneGrid& grid, double rho, std::int64_t padding) {
  return {bessel_axis(grid.x, rho, padding), bessel_axis(grid.y, rho, padding)};
}

void bessel_multiplier(const BesselAxes& axes, const PlaneGrid& grid, double rho, double scale,
                       double* multiplier) {
  const std::vector<double> x = squared_phases(axes.x, grid.x.spacing(), rho);
  const std::vector<double> y = squared_phases(axes.y, grid.y.spacing(), rho);
  const std::int64_t n_x = ssize64(x);
  const std::int64_t n_y = ssize64(y);
#pragma omp parallel for schedule(static)
  for (std::int64_t q = 0; q < n_y; ++q) {
    for (std::int64_t p = 0; p < n_x; ++p)
      multiplier[q * n_x + p] = scale * ::j0(std::sqrt(x[to_size(p)] + y[to_size(q)]));
  }
}

std::vector<GyroWeight> dct_row(const PlaneGrid& grid, double x, double y, double rho,
                                std::int64_t padding) {
  if (is_beyond(grid, rho)) return {};
  const BesselAxes axes = bessel_axes(grid, rho, padding);
  std::vector<double> multiplier(to_size(axes.multiplier_size()));
  bessel_multiplier(axes, grid, rho, 1, multiplier.data());
  const auto x_parts = parts_of_nodes(axes.x, (x - grid.x.first) / grid.x.spacing());
  const auto y_parts = parts_of_nodes(axes.y, (y - grid.y.first) / grid.y.spacing());
  // [y frequency][x frequency] -> [x frequency][y node] -> [y node][x node]
  const std::vector<double> along_y =
      transposed_product(multiplier, y_parts, axes.y.n_frequencies());
  const std::vector<double> weights = transposed_product(along_y, x_parts, axes.x.n_frequencies());
  std::vector<GyroWeight> row;
  for (std::int64_t j = 0; j < grid.y.size; ++j) {
    for (std::int64_t i = 0; i < grid.x.size; ++i)
      row.push_back({i, j, weights[to_size(j * grid.x.size + i)]});
  }
  return row;
}

}  // namespace ringweave::detail::inline gyro
