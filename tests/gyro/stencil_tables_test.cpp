// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/stencil_tables.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/direct_gyroaverage.hpp"
#include "gyro/operator_rows.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

using namespace test;

constexpr std::array interpolations{Interpolation::bilinear, Interpolation::bicubic};

StencilTables tables_of(const PlaneGrid& grid, Interpolation interpolation, double rho) {
  return make_stencil_tables(interpolation, {rho / grid.x.spacing(), rho / grid.y.spacing()},
                             grid.x.size, grid.y.size, grid.x.boundary, grid.y.boundary);
}

double weight_in(const SideTable& side, std::int64_t p, std::int64_t a, std::int64_t d) {
  if (a >= side.n_targets) return 0;
  const std::int64_t line = p * side.n_targets + a;
  for (std::int64_t r = side.run_begin[to_size(line)]; r < side.run_begin[to_size(line + 1)]; ++r) {
    const SideTable::Run& run = side.runs[to_size(r)];
    if (d >= run.first && d < run.first + run.count) {
      return side.weights[to_size(run.begin + d - run.first)];
    }
  }
  return 0;
}

double weight_in(const CornerTable& corner, std::int64_t p, std::int64_t q, std::int64_t a,
                 std::int64_t b) {
  if (corner.is_exchanged(p, q)) std::swap(a, b);
  const CornerTable::Source& source = corner.source(p, q);
  std::int64_t weight = source.weight_begin;
  for (std::int64_t r = source.run_begin; r < source.run_end; ++r) {
    const CornerTable::Run& run = corner.runs[to_size(r)];
    if (run.a == a && b >= run.b && b < run.b + run.count)
      return corner.weights[to_size(weight + b - run.b)];
    weight += run.count;
  }
  return 0;
}

/// A source or image of one along an axis, as a target sees it.
struct Seen {
  std::int64_t offset = 0;  ///< without its sign
  bool is_special = false;
  std::int64_t source = 0;  ///< distance from the end that it is special for
  std::int64_t target = 0;  ///< from that end

  Seen(const PlaneAxis& axis, std::int64_t margin, std::int64_t from, std::int64_t to)
      : offset(std::abs(from - to)), source(from), target(to) {
    if (axis.boundary != PlaneBoundary::zero) return;
    const std::int64_t last = axis.size - 1;
    if (from > last - margin) {
      source = last - from;
      target = last - to;
    }
    is_special = source < margin;
  }
};

double weight_of(const StencilTables& tables, const Seen& x, const Seen& y) {
  if (x.is_special && y.is_special)
    return weight_in(tables.corner, x.source, y.source, x.target, y.target);
  if (x.is_special) return weight_in(tables.x_side, x.source, x.target, y.offset);
  if (y.is_special) return weight_in(tables.side_of_y(), y.source, y.target, x.offset);
  if (x.offset > tables.reach_x || y.offset > tables.reach_y) return 0;
  return tables.interior[to_size(y.offset * (tables.reach_x + 1) + x.offset)];
}

/// Sources along an axis that may reach a target, with their images.
std::vector<std::int64_t> sources_of(const PlaneAxis& axis, std::int64_t target,
                                     std::int64_t reach) {
  const bool has_images = axis.boundary != PlaneBoundary::zero;
  std::vector<std::int64_t> sources;
  for (std::int64_t i = has_images ? target - reach : 0;
       i <= (has_images ? target + reach : axis.size - 1); ++i) {
    sources.push_back(i);
  }
  return sources;
}

/// Returns the row of a target as the tables have it.
std::vector<double> row_of(const StencilTables& tables, const PlaneGrid& grid, std::int64_t x,
                           std::int64_t y) {
  const std::int64_t margin = margin_of(tables.interpolation);
  // Beyond every weight, those of sides too.
  const auto reach = static_cast<std::int64_t>(std::max(tables.circle.x, tables.circle.y)) + 4;
  std::vector<double> row(to_size(grid.n_nodes()));
  for (const std::int64_t j : sources_of(grid.y, y, reach)) {
    for (const std::int64_t i : sources_of(grid.x, x, reach)) {
      row[to_size(node_of_image(grid.y, j) * grid.x.size + node_of_image(grid.x, i))] +=
          weight_of(tables, Seen(grid.x, margin, i, x), Seen(grid.y, margin, j, y));
    }
  }
  return row;
}

void expect_rows(const PlaneGrid& grid, Interpolation interpolation, double rho) {
  const StencilTables tables = tables_of(grid, interpolation, rho);
  double worst = 0;
  for (std::int64_t y = 0; y < grid.y.size; ++y) {
    for (std::int64_t x = 0; x < grid.x.size; ++x) {
      const auto row = stencil_row(grid, interpolation, grid.x.node(x), grid.y.node(y), rho);
      worst = std::max(worst, largest_difference(row_of(tables, grid, x, y), dense_row(grid, row)));
    }
  }
  EXPECT_LT(worst, tolerance::gyro_weights)
      << "rho " << rho << ", " << grid.x.size << " x " << grid.y.size << " nodes, boundaries "
      << static_cast<int>(grid.x.boundary) << static_cast<int>(grid.y.boundary);
}

TEST(StencilTables, HoldTheRowsOfAllTargetsForAllBoundaries) {
  for (const Interpolation interpolation : interpolations) {
    for (const PlaneBoundary x : boundaries) {
      for (const PlaneBoundary y : boundaries) {
        // Spacings 1 and 0.8.
        const PlaneGrid grid{plane_axis(13, x, 0, 12), plane_axis(11, y, 0, 8)};
        for (const double rho : {0.1, 0.9, 2.0, 4.0, 5.7, 11.9}) {
          expect_rows(grid, interpolation, rho);
        }
      }
    }
  }
}

TEST(StencilTables, HoldTheRowsOfSmallestGrids) {
  for (const Interpolation interpolation : interpolations) {
    const std::int64_t n = least_nodes(interpolation);
    const PlaneGrid grid{plane_axis(n, PlaneBoundary::zero, 0, static_cast<double>(n - 1)),
                         plane_axis(n + 1, PlaneBoundary::zero, 0, static_cast<double>(n))};
    for (const double rho : {0.0, 0.1, 0.5, 1.0, 1.3, 3.0, 4.2, 8.1, 9.0, 12.5, 13.5, 1e5}) {
      expect_rows(grid, interpolation, rho);
    }
    const PlaneGrid images{plane_axis(2, PlaneBoundary::periodic, 0, 1),
                           plane_axis(2, PlaneBoundary::mirror, 0, 1)};
    for (const double rho : {0.0, 0.4, 3.0, 5.3}) expect_rows(images, interpolation, rho);
  }
}

TEST(StencilTables, HoldTheRowsOfFlatEllipses) {
  for (const Interpolation interpolation : interpolations) {
    const PlaneGrid grid{plane_axis(12, PlaneBoundary::zero, 0, 1),
                         plane_axis(30, PlaneBoundary::zero, 0, 0.5)};
    for (const double rho : {0.01, 0.2, 0.45, 0.8}) expect_rows(grid, interpolation, rho);
  }
}

TEST(StencilTables, HoldTheRowsOfALargerGrid) {
  const PlaneGrid grid{plane_axis(40, PlaneBoundary::zero), plane_axis(37, PlaneBoundary::zero)};
  expect_rows(grid, Interpolation::bicubic, 0.46875);
}

TEST(StencilTables, InteriorWeightsSumToOne) {
  for (const Interpolation interpolation : interpolations) {
    for (const double radius : {0.0, 0.2, 1.0, 3.7, 8.0, 87.3, 174.6}) {
      const StencilTables tables =
          make_stencil_tables(interpolation, {radius, 0.8 * radius}, 400, 400,
                              PlaneBoundary::periodic, PlaneBoundary::periodic);
      Long sum = 0;
      for (std::int64_t y = 0; y <= tables.reach_y; ++y) {
        for (std::int64_t x = 0; x <= tables.reach_x; ++x) {
          sum += (x > 0 ? 2 : 1) * (y > 0 ? 2 : 1) *
                 tables.interior[to_size(y * (tables.reach_x + 1) + x)];
        }
      }
      EXPECT_NEAR(static_cast<double>(sum), 1, 1e-14) << radius;
    }
  }
}

TEST(StencilTables, OfHugeCirclesOnPeriodicAxesAreNotLargerThanHalfAPeriod) {
  for (const Interpolation interpolation : interpolations) {
    const StencilTables tables = make_stencil_tables(
        interpolation, {5120.3, 4711}, 40, 31, PlaneBoundary::periodic, PlaneBoundary::mirror);
    EXPECT_EQ(tables.reach_x, 20);
    EXPECT_EQ(tables.reach_y, 30);
    Long sum = 0;
    for (std::int64_t y = 0; y <= tables.reach_y; ++y) {
      for (std::int64_t x = 0; x <= tables.reach_x; ++x) {
        sum += (x > 0 ? 2 : 1) * (y > 0 ? 2 : 1) *
               tables.interior[to_size(y * (tables.reach_x + 1) + x)];
      }
    }
    EXPECT_NEAR(static_cast<double>(sum), 1, tolerance::gyro_weights);
  }
}

TEST(StencilTables, BytesOfHugeCirclesDoNotOverflow) {
  for (const double radius : {1e9, 1e15, 1e300}) {
    const StencilTableBytes bytes =
        stencil_table_bytes(Interpolation::bicubic, {radius, radius}, 512, 512,
                            PlaneBoundary::periodic, PlaneBoundary::periodic);
    EXPECT_EQ(bytes.interior, 257 * 257 * 8);
    EXPECT_GT(bytes.making, std::int64_t{100'000'000'000});
    EXPECT_LT(bytes.making, std::int64_t{1} << 52);
  }
}

TEST(StencilTables, ConstantsStayConstantWhereCirclesTouchTheEdge) {
  for (const Interpolation interpolation : interpolations) {
    const PlaneGrid grid{plane_axis(24, PlaneBoundary::zero, -1, 1),
                         plane_axis(25, PlaneBoundary::zero, -0.3, 0.3 + 2 / 23.0 - 1e-17)};
    for (std::int64_t k = 1; k <= 11; ++k) {
      const double rho = static_cast<double>(k) * grid.x.spacing();
      const StencilTables tables = tables_of(grid, interpolation, rho);
      for (const std::int64_t x : {k, 23 - k}) {
        if (rho > 12 * grid.y.spacing()) continue;
        double sum = 0;
        for (const double weight : row_of(tables, grid, x, 12)) sum += weight;
        EXPECT_NEAR(sum, 1, tolerance::gyro_weights) << "radius " << k;
      }
    }
  }
}

TEST(StencilTables, TableOfASideIsThatOfTheOtherAxisExchanged) {
  const StencilTables tables = make_stencil_tables(Interpolation::bicubic, {7.3, 4.1}, 20, 15,
                                                   PlaneBoundary::zero, PlaneBoundary::zero);
  const StencilTables exchanged = make_stencil_tables(Interpolation::bicubic, {4.1, 7.3}, 15, 20,
                                                      PlaneBoundary::zero, PlaneBoundary::zero);
  EXPECT_EQ(tables.x_side.weights, exchanged.y_side.weights);
  EXPECT_EQ(tables.y_side.weights, exchanged.x_side.weights);
}

void expect_same_bits(const StencilTables& a, const StencilTables& b) {
  EXPECT_EQ(a.interior, b.interior);
  EXPECT_EQ(a.x_side.weights, b.x_side.weights);
  EXPECT_EQ(a.x_side.run_begin, b.x_side.run_begin);
  EXPECT_EQ(a.y_side.weights, b.y_side.weights);
  EXPECT_EQ(a.corner.weights, b.corner.weights);
  ASSERT_EQ(a.corner.runs.size(), b.corner.runs.size());
  for (std::size_t k = 0; k < a.corner.runs.size(); ++k) {
    ASSERT_EQ(a.corner.runs[k].a, b.corner.runs[k].a);
    ASSERT_EQ(a.corner.runs[k].b, b.corner.runs[k].b);
    ASSERT_EQ(a.corner.runs[k].count, b.corner.runs[k].count);
  }
}

TEST(StencilTables, HaveTheSameBitsForAnyNumberOfThreads) {
  const int before = omp_get_max_threads();
  for (const Interpolation interpolation : interpolations) {
    const auto make = [&](int n_threads) {
      omp_set_num_threads(n_threads);
      return make_stencil_tables(interpolation, {17.3, 24.1}, 60, 50, PlaneBoundary::zero,
                                 PlaneBoundary::zero);
    };
    const StencilTables tables = make(1);
    expect_same_bits(tables, make(2));
    expect_same_bits(tables, make(3));
  }
  omp_set_num_threads(before);
}

TEST(StencilTables, OfALargeRoundCircleAreCompact) {
  const StencilTables tables =
      make_stencil_tables(Interpolation::bicubic, {174.5625, 174.5625}, 400, 400,
                          PlaneBoundary::zero, PlaneBoundary::zero);
  const std::int64_t bytes = tables.bytes() - held_bytes(tables.interior);
  RecordProperty("bytes", static_cast<int>(bytes));
  EXPECT_LT(bytes, 400'000);
}

TEST(StencilTables, BytesAreThoseOfTheBound) {
  for (const Interpolation interpolation : interpolations) {
    for (const GridCircle circle : {GridCircle{0.3, 0.3}, {2, 2}, {9.7, 14.2}, {87.3, 87.3}}) {
      for (const std::int64_t n : {20, 50, 100}) {
        for (const PlaneBoundary y : boundaries) {
          const StencilTables tables =
              make_stencil_tables(interpolation, circle, n, 50, PlaneBoundary::zero, y);
          const auto bytes = static_cast<double>(tables.bytes());
          const StencilTableBytes planned =
              stencil_table_bytes(interpolation, circle, n, 50, PlaneBoundary::zero, y);
          const auto bound = static_cast<double>(planned.interior + planned.sides);
          EXPECT_GE(bound, 0.98 * bytes) << circle.x << " " << n;
          EXPECT_LE(bound, 1.2 * bytes) << circle.x << " " << n;
        }
      }
    }
  }
}

}  // namespace
}  // namespace ringweave::detail
