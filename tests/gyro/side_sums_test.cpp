// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/side_sums.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

constexpr unsigned seed = 20261126;

/// Tables of random weights, with gaps and empty runs.
SideTable random_side(std::int64_t margin, std::int64_t n_targets, std::int64_t reach,
                      std::mt19937& random) {
  std::uniform_real_distribution<double> weight(-1, 1);
  SideTable table;
  table.margin = margin;
  table.n_targets = n_targets;
  const auto add_run = [&](std::int64_t begin, std::int64_t end) {
    table.runs.push_back({begin, end - begin, ssize64(table.weights)});
    for (std::int64_t d = begin; d < end; ++d) table.weights.push_back(weight(random));
  };
  for (std::int64_t i = 0; i < margin * n_targets; ++i) {
    table.run_begin.push_back(ssize64(table.runs));
    if (i % 3 != 0) add_run(0, std::min<std::int64_t>(2, reach));
    if (i % 3 != 1) add_run(std::max<std::int64_t>(reach - 1, 0), reach + 1);
  }
  table.run_begin.push_back(ssize64(table.runs));
  return table;
}

CornerTable random_corner(std::int64_t margin, std::int64_t n_targets, bool is_symmetric,
                          std::mt19937& random) {
  std::uniform_real_distribution<double> weight(-1, 1);
  CornerTable table{margin, is_symmetric, {}, {}, {}};
  for (std::int64_t source = 0; source < margin * margin; ++source) {
    table.sources.push_back({ssize64(table.runs), 0, ssize64(table.weights)});
    for (std::int32_t a = 0; a < n_targets; ++a) {
      if (table.is_exchanged(source % margin, source / margin)) continue;
      const auto count = static_cast<std::int32_t>(n_targets) - a % 2;
      table.runs.push_back({a, a % 2, count});
      for (std::int32_t k = 0; k < count; ++k) table.weights.push_back(weight(random));
    }
    table.sources.back().run_end = ssize64(table.runs);
  }
  return table;
}

struct Case {
  PlaneBoundary x;
  PlaneBoundary y;
  std::int64_t n_x;
  std::int64_t n_y;
  std::int64_t targets;
  std::int64_t reach;
};

SideGeometry geometry_of(const Case& some) {
  SideGeometry geometry{2, some.x, some.n_x, held_rows(some.y, some.n_y, {0, some.n_y}, 0)};
  geometry.reach_x = geometry.reach_y = some.reach;
  geometry.targets_x = geometry.targets_y = some.targets;
  return geometry;
}

StencilTables random_tables(const Case& some, std::mt19937& random) {
  StencilTables tables;
  tables.x_side = random_side(2, some.targets, some.reach, random);
  tables.y_side = random_side(2, some.targets, some.reach, random);
  tables.corner = random_corner(2, some.targets, some.n_x == some.n_y, random);
  return tables;
}

/// A square matrix, [target][source].
using Dense = std::vector<double>;

/// Adds the sums over one side, of which sources are lines across `axis` (0: columns).
void add_side(const Case& some, const SideTable& table, int axis, Dense& dense) {
  const std::int64_t n_across = axis == 0 ? some.n_x : some.n_y;
  const std::int64_t n_along = axis == 0 ? some.n_y : some.n_x;
  const PlaneBoundary along = axis == 0 ? some.y : some.x;
  const auto node = [&](std::int64_t across, std::int64_t i) {
    return axis == 0 ? i * some.n_x + across : across * some.n_x + i;
  };
  const auto add = [&](std::int64_t target, std::int64_t source, std::int64_t i, std::int64_t at,
                       double weight) {
    const std::int64_t from = node_at(along, n_along, at);
    if (from < 0) return;
    const bool is_corner = along == PlaneBoundary::zero && (from < 2 || from >= n_along - 2);
    if (!is_corner) {
      dense[to_size(node(target, i) * some.n_x * some.n_y + node(source, from))] += weight;
    }
  };
  for (std::int64_t p = 0; p < 2; ++p) {
    for (std::int64_t a = 0; a < some.targets; ++a) {
      const std::size_t row = to_size(p * some.targets + a);
      for (std::int64_t r = table.run_begin[row]; r < table.run_begin[row + 1]; ++r) {
        const SideTable::Run& run = table.runs[to_size(r)];
        for (std::int64_t d = run.first; d < run.first + run.count; ++d) {
          const double weight = table.weights[to_size(run.begin + d - run.first)];
          for (std::int64_t i = 0; i < n_along; ++i) {
            for (const bool is_mirrored : {false, true}) {
              const std::int64_t target = is_mirrored ? n_across - 1 - a : a;
              const std::int64_t source = is_mirrored ? n_across - 1 - p : p;
              add(target, source, i, i + d, weight);
              if (d > 0) add(target, source, i, i - d, weight);
            }
          }
        }
      }
    }
  }
}

void add_corners(const Case& some, const CornerTable& table, Dense& dense) {
  const std::int64_t n = some.n_x * some.n_y;
  const auto add = [&](std::int64_t source, std::int64_t a, std::int64_t b, double weight) {
    for (const bool right : {false, true}) {
      for (const bool top : {false, true}) {
        const auto node = [&](std::int64_t x, std::int64_t y) {
          return (top ? some.n_y - 1 - y : y) * some.n_x + (right ? some.n_x - 1 - x : x);
        };
        dense[to_size(node(a, b) * n + node(source % 2, source / 2))] += weight;
      }
    }
  };
  for (std::int64_t source = 0; source < 4; ++source) {
    const bool is_exchanged = table.is_exchanged(source % 2, source / 2);
    const CornerTable::Source& runs = table.source(source % 2, source / 2);
    std::int64_t weight = runs.weight_begin;
    for (std::int64_t r = runs.run_begin; r < runs.run_end; ++r) {
      const CornerTable::Run& run = table.runs[to_size(r)];
      for (std::int64_t b = run.b; b < run.b + run.count; ++b, ++weight) {
        add(source, is_exchanged ? b : run.a, is_exchanged ? run.a : b,
            table.weights[to_size(weight)]);
      }
    }
  }
}

Dense dense_of(const Case& some, const StencilTables& tables) {
  const std::int64_t n = some.n_x * some.n_y;
  Dense dense(to_size(n * n), 0.0);
  const bool x_ends = some.x == PlaneBoundary::zero;
  const bool y_ends = some.y == PlaneBoundary::zero;
  if (x_ends) add_side(some, tables.x_side, 0, dense);
  if (y_ends) add_side(some, tables.y_side, 1, dense);
  if (x_ends && y_ends) add_corners(some, tables.corner, dense);
  return dense;
}

std::vector<double> random_plane(const Case& some, std::mt19937& random) {
  std::normal_distribution<double> normal;
  std::vector<double> plane(to_size(some.n_x * some.n_y));
  for (double& value : plane) value = normal(random);
  return plane;
}

/// 0.75 times the sums, added to zero, or in place of it.
std::vector<double> summed(const Case& some, const StencilTables& tables, Direction direction,
                           const std::vector<double>& plane, int n_threads = 1) {
  const SideSums sides(geometry_of(some));
  std::vector<double> work(to_size(sides.work_size()), 0.0);
  std::vector<double> result(plane.size(), 0.0);
  sides.clear(direction, work.data());
  sides.load(direction, plane.data(), work.data(), n_threads);
  sides.add(direction, tables, 0.75, work.data(), n_threads);
  sides.store(direction, work.data(), result.data(), some.n_x, n_threads);
  return result;
}

constexpr PlaneBoundary zero = PlaneBoundary::zero;
constexpr PlaneBoundary periodic = PlaneBoundary::periodic;
constexpr PlaneBoundary mirror = PlaneBoundary::mirror;
// Offsets beyond the line, beyond several periods of it, and lines longer than a piece.
const std::vector<Case> cases = {{zero, zero, 4, 4, 4, 3},         {zero, zero, 7, 9, 5, 4},
                                 {zero, zero, 13, 8, 4, 2},        {zero, periodic, 9, 6, 4, 4},
                                 {zero, mirror, 8, 5, 3, 3},       {periodic, zero, 6, 9, 6, 14},
                                 {mirror, zero, 5, 8, 8, 11},      {zero, periodic, 5, 4, 5, 9},
                                 {periodic, periodic, 5, 4, 3, 2}, {zero, zero, 5, 140, 4, 40}};

TEST(SideSums, EqualADenseProduct) {
  std::mt19937 random(seed);
  for (const Case& some : cases) {
    SCOPED_TRACE(testing::Message() << some.n_x << " x " << some.n_y << ", seed " << seed);
    const StencilTables tables = random_tables(some, random);
    const Dense dense = dense_of(some, tables);
    const std::vector<double> plane = random_plane(some, random);
    const std::vector<double> result = summed(some, tables, Direction::average, plane);
    double worst = 0;
    for (std::size_t t = 0; t < plane.size(); ++t) {
      double expected = 0;
      for (std::size_t s = 0; s < plane.size(); ++s)
        expected += dense[t * plane.size() + s] * plane[s];
      worst = std::max(worst, std::abs(result[t] - 0.75 * expected));
    }
    EXPECT_LT(worst, tolerance::max_over_rms * tolerance::direct_sum);
  }
}

TEST(SideSums, TransposeEqualsTheDenseTranspose) {
  std::mt19937 random(seed);
  for (const Case& some : cases) {
    if (some.x == mirror || some.y == mirror) continue;  // symmetric only up to weights of nodes
    SCOPED_TRACE(testing::Message() << some.n_x << " x " << some.n_y << ", seed " << seed);
    const StencilTables tables = random_tables(some, random);
    const Dense dense = dense_of(some, tables);
    const std::vector<double> plane = random_plane(some, random);
    const std::vector<double> result = summed(some, tables, Direction::transpose, plane);
    double worst = 0;
    for (std::size_t s = 0; s < plane.size(); ++s) {
      double expected = 0;
      for (std::size_t t = 0; t < plane.size(); ++t)
        expected += dense[t * plane.size() + s] * plane[t];
      worst = std::max(worst, std::abs(result[s] - 0.75 * expected));
    }
    EXPECT_LT(worst, tolerance::max_over_rms * tolerance::direct_sum);
  }
}

TEST(SideSums, AreTheSameBitsForAnyNumberOfThreads) {
  std::mt19937 random(seed);
  const Case some{zero, zero, 60, 1100, 20, 25};
  const StencilTables tables = random_tables(some, random);
  const std::vector<double> plane = random_plane(some, random);
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const std::vector<double> one = summed(some, tables, direction, plane);
    for (const int n_threads : {2, 3})
      EXPECT_EQ(summed(some, tables, direction, plane, n_threads), one);
  }
}

TEST(SideSums, AgreeForEveryInstructionSet) {
  std::mt19937 random(seed);
  const Case some{zero, zero, 23, 150, 11, 70};
  const StencilTables tables = random_tables(some, random);
  const std::vector<double> plane = random_plane(some, random);
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const std::vector<double> expected = summed(some, tables, direction, plane);
    for (std::int64_t runnable = hwy::SupportedTargets(); runnable != 0; runnable &= runnable - 1) {
      const OnlyTarget scope(runnable & -runnable);
      SCOPED_TRACE(hwy::TargetName(runnable & -runnable));
      const std::vector<double> found = summed(some, tables, direction, plane);
      for (std::size_t i = 0; i < plane.size(); ++i)
        ASSERT_NEAR(found[i], expected[i], tolerance::max_over_rms * tolerance::direct_sum);
    }
  }
}

TEST(SideSums, OfInnerSourcesAreZero) {
  std::mt19937 random(seed);
  const Case some{zero, zero, 9, 8, 6, 5};
  std::vector<double> plane(72, 0.0);
  for (std::int64_t y = 2; y < 6; ++y) std::fill_n(plane.begin() + 9 * y + 2, 5, 1.0);
  EXPECT_EQ(summed(some, random_tables(some, random), Direction::average, plane),
            std::vector<double>(72, 0.0));
}

TEST(SideSums, AreAddedOverRadii) {
  std::mt19937 random(seed);
  const Case some{zero, zero, 9, 8, 6, 5};
  const StencilTables tables = random_tables(some, random);
  const std::vector<double> plane = random_plane(some, random);
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const SideSums sides(geometry_of(some));
    std::vector<double> work(to_size(sides.work_size()), 0.0);
    std::vector<double> result(plane.size(), 0.0);
    // Sums of earlier calls are forgotten.
    sides.load(direction, plane.data(), work.data(), 1);
    sides.add(direction, tables, 5, work.data(), 1);
    sides.clear(direction, work.data());
    sides.add(direction, tables, 0.25, work.data(), 1);
    sides.add(direction, tables, 0.5, work.data(), 1);
    sides.store(direction, work.data(), result.data(), some.n_x, 1);
    const std::vector<double> expected = summed(some, tables, direction, plane);
    for (std::size_t i = 0; i < plane.size(); ++i) EXPECT_NEAR(result[i], expected[i], 1e-13);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
