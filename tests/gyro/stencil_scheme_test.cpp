// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "gyro/stencil_plan.hpp"
#include "stencil_problem.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

constexpr std::array methods{GyroMethod::bilinear, GyroMethod::bicubic};
constexpr std::array directions{Direction::average, Direction::transpose};

double product(const Plane& a, const Plane& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Calls use(specification) for every method and boundaries of both axes, spacings 1 and 0.8.
template <class Use>
void for_all_boundaries(std::int64_t n_x, std::int64_t n_y, const std::vector<double>& radii,
                        const Use& use) {
  for (const GyroMethod method : methods) {
    for (const PlaneBoundary x : boundaries) {
      for (const PlaneBoundary y : boundaries) {
        SCOPED_TRACE(testing::Message()
                     << n_x << " x " << n_y << " nodes, method " << static_cast<int>(method)
                     << ", boundaries " << static_cast<int>(x) << static_cast<int>(y));
        const PlaneGrid grid{plane_axis(n_x, x, 0, static_cast<double>(n_x - 1)),
                             plane_axis(n_y, y, -1, -1 + 0.8 * static_cast<double>(n_y - 1))};
        use(stencil_spec(grid, method, radii));
      }
    }
  }
}

void expect_rows(const GyroSpec& spec) {
  WholePlanes planes(spec);
  const Plane plane = random_plane(spec.grid.n_nodes(), 1);
  for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
    const double rho = spec.radii[to_size(r)];
    EXPECT_LT(largest_difference(planes.apply(Direction::average, plane, r),
                                 averaged_by_rows(spec, rho, plane)),
              tolerance::gyro_weights)
        << "rho " << rho;
  }
}

TEST(StencilScheme, AveragesAreThoseOfRows) {
  const std::vector<double> radii{0.1, 0.9, 2, 4, 5.7, 11.9, 14.5};
  for_all_boundaries(13, 11, radii, expect_rows);
  for_all_boundaries(10, 16, {0.1, 3.2, 8, 14}, expect_rows);
}

TEST(StencilScheme, AveragesOnSmallestGridsAreThoseOfRows) {
  for (const GyroMethod method : methods) {
    const std::int64_t n = method == GyroMethod::bilinear ? 2 : 10;
    const PlaneAxis axis = plane_axis(n, PlaneBoundary::zero, 0, static_cast<double>(n - 1));
    expect_rows(stencil_spec({axis, axis}, method, {0.1, 0.5, 1, 1.4, 3.3, 9, 12.7, 12.8, 1e9}));
    const PlaneGrid images{plane_axis(2, PlaneBoundary::periodic, 0, 1),
                           plane_axis(2, PlaneBoundary::mirror, 0, 1)};
    expect_rows(stencil_spec(images, method, {0.1, 1, 5.3}));
  }
}

TEST(StencilScheme, TransposesAreTransposes) {
  for_all_boundaries(13, 12, {0.1, 2, 5.7, 14}, [](const GyroSpec& spec) {
    WholePlanes planes(spec);
    const Plane f = random_plane(spec.grid.n_nodes(), 1);
    const Plane g = random_plane(spec.grid.n_nodes(), 2);
    for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
      const double averaged = product(g, planes.apply(Direction::average, f, r));
      const double transposed = product(planes.apply(Direction::transpose, g, r), f);
      EXPECT_LT(std::abs(averaged - transposed) / std::sqrt(product(f, f) * product(g, g)),
                tolerance::adjoint);
    }
  });
}

TEST(StencilScheme, RadiusZeroIsTheIdentity) {
  for_all_boundaries(12, 11, {0, 3}, [](const GyroSpec& spec) {
    WholePlanes planes(spec);
    const Plane plane = random_plane(spec.grid.n_nodes(), 1);
    for (const Direction direction : directions)
      EXPECT_EQ(planes.apply(direction, plane, 0), plane);
  });
}

TEST(StencilScheme, RadiusZeroAloneIsTheIdentity) {
  const PlaneGrid grid{plane_axis(12, PlaneBoundary::zero), plane_axis(12, PlaneBoundary::zero)};
  WholePlanes planes(stencil_spec(grid, GyroMethod::bicubic, {0}));
  const Plane plane = random_plane(grid.n_nodes(), 1);
  EXPECT_EQ(planes.apply(Direction::average, plane, 0), plane);
}

TEST(StencilScheme, BytesHeldAreBoundedByTheOnesPlanned) {
  const PlaneGrid grid{plane_axis(64, PlaneBoundary::zero), plane_axis(64, PlaneBoundary::zero)};
  for (const GyroMethod method : methods) {
    const WholePlanes planes(stencil_spec(grid, method, {0.1, 0.6, 1.3, 9}));
    for (std::int64_t r = 0; r < 4; ++r) {
      const auto held = static_cast<double>(planes.scheme->held_bytes(r));
      EXPECT_GE(static_cast<double>(planes.scheme->table_bytes(r)), 0.98 * held) << r;
      EXPECT_LE(static_cast<double>(planes.scheme->table_bytes(r)), 1.2 * held) << r;
    }
  }
}

TEST(StencilScheme, TablesOfALargeRoundCircleAreCompact) {
  const PlaneAxis axis = plane_axis(400, PlaneBoundary::zero);
  const WholePlanes planes(stencil_spec({axis, axis}, GyroMethod::bicubic, {0.875}));
  EXPECT_LT(planes.scheme->held_bytes(0), 700'000);
}

TEST(StencilScheme, RadiusBeyondTheDiagonalGivesZeros) {
  const PlaneGrid grid{plane_axis(12, PlaneBoundary::zero), plane_axis(14, PlaneBoundary::zero)};
  for (const GyroMethod method : methods) {
    WholePlanes planes(stencil_spec(grid, method, {2.83, 1e300}));
    const Plane plane = random_plane(grid.n_nodes(), 1);
    for (const Direction direction : directions) {
      for (const std::int64_t r : {0, 1})
        EXPECT_EQ(planes.apply(direction, plane, r), Plane(plane.size(), 0.0));
    }
  }
}

TEST(StencilScheme, AveragesOfOneAreOneWhereCirclesTouchTheEdge) {
  const PlaneGrid grid{plane_axis(41, PlaneBoundary::zero), plane_axis(41, PlaneBoundary::zero)};
  for (const GyroMethod method : methods) {
    for (const std::int64_t k : {1, 6, 13, 20}) {
      WholePlanes planes(stencil_spec(grid, method, {static_cast<double>(k) * grid.x.spacing()}));
      const Plane result = planes.apply(Direction::average, Plane(41 * 41, 1.0), 0);
      for (std::int64_t y = k; y <= 40 - k; ++y) {
        for (std::int64_t x = k; x <= 40 - k; ++x)
          EXPECT_NEAR(result[to_size(y * 41 + x)], 1, tolerance::gyro_weights);
      }
    }
  }
}

TEST(StencilScheme, FieldsThatVanishNearTheEdgeHaveAveragesOfRows) {
  const PlaneGrid grid{plane_axis(24, PlaneBoundary::zero), plane_axis(20, PlaneBoundary::zero)};
  for (const GyroMethod method : methods) {
    const GyroSpec spec = stencil_spec(grid, method, {0.31, 1.1});
    WholePlanes planes(spec);
    Plane plane(to_size(grid.n_nodes()), 0.0);
    for (std::int64_t y = 5; y < 15; ++y) {
      for (std::int64_t x = 5; x < 19; ++x)
        plane[to_size(y * 24 + x)] = std::sin(static_cast<double>(3 * x + y));
    }
    for (const std::int64_t r : {0, 1}) {
      EXPECT_LT(largest_difference(planes.apply(Direction::average, plane, r),
                                   averaged_by_rows(spec, spec.radii[to_size(r)], plane)),
                tolerance::gyro_weights);
    }
  }
}

TEST(StencilScheme, SumsOverRadiiAndPlanesAreThoseOfSingleOnes) {
  // Radii far apart have filters of their own.
  const std::vector<double> radii{0.5, 60, 3, 0, 61};
  const PlaneGrid grid{plane_axis(130, PlaneBoundary::zero, 0, 129),
                       plane_axis(90, PlaneBoundary::mirror, 0, 89)};
  const GyroSpec spec = stencil_spec(grid, GyroMethod::bicubic, radii);
  EXPECT_GT(plan_stencil(spec, {0, 90}).filters.size(), 1U);
  constexpr std::int64_t n_planes = 2;
  WholePlanes single(spec);
  WholePlanes planes(spec, n_planes + 1);
  for (const Direction direction : directions) {
    const Plane before = random_plane(n_planes * grid.n_nodes(), 9);
    Plane expected = before;
    Plane sums = before;
    planes.scheme->clear(*planes.work, direction);
    for (std::int64_t r = 0; r < ssize64(radii); ++r) {
      const double weight = 0.5 + static_cast<double>(r);
      const Plane fields = random_plane(n_planes * grid.n_nodes(), static_cast<unsigned>(r % 4));
      // The same planes may have several radii.
      if (r != 4) planes.scheme->load(*planes.work, {fields.data(), n_planes, grid.n_nodes()});
      planes.scheme->add(*planes.work, r, weight);
      for (std::int64_t p = 0; p < n_planes; ++p) {
        const Plane& loaded = r == 4 ? random_plane(n_planes * grid.n_nodes(), 3) : fields;
        const auto first = loaded.begin() + p * grid.n_nodes();
        const Plane one = single.apply(direction, Plane(first, first + grid.n_nodes()), r);
        for (std::size_t i = 0; i < one.size(); ++i)
          expected[to_size(p * grid.n_nodes()) + i] += weight * one[i];
      }
    }
    planes.scheme->store(*planes.work, {sums.data(), n_planes, grid.n_nodes()}, Accumulate::add);
    EXPECT_LT(largest_difference(sums, expected), tolerance::max_over_rms * tolerance::direct_sum);
  }
}

TEST(StencilScheme, LoadedPlanesMayBeAveragedSeveralTimes) {
  const PlaneGrid grid{plane_axis(20, PlaneBoundary::zero), plane_axis(21, PlaneBoundary::zero)};
  const GyroSpec spec = stencil_spec(grid, GyroMethod::bicubic, {0.2, 0.9});
  WholePlanes planes(spec);
  const Plane plane = random_plane(grid.n_nodes(), 1);
  for (const Direction direction : directions) {
    for (const std::int64_t r : {0, 1}) {
      const Plane expected = planes.apply(direction, plane, r);
      planes.apply(direction, plane, 1 - r);
      Plane result(plane.size());
      planes.scheme->clear(*planes.work, direction);
      planes.scheme->add(*planes.work, r, 1);
      planes.scheme->store(*planes.work, {result.data(), 1, grid.n_nodes()}, Accumulate::overwrite);
      EXPECT_EQ(result, expected);
    }
  }
}

TEST(StencilScheme, ResultsAreTheSameBitsForAnyNumberOfThreads) {
  const PlaneGrid grid{plane_axis(83, PlaneBoundary::zero), plane_axis(101, PlaneBoundary::zero)};
  const GyroSpec spec = stencil_spec(grid, GyroMethod::bicubic, {0.45, 1.7});
  const Plane plane = random_plane(grid.n_nodes(), 1);
  for (const Direction direction : directions) {
    WholePlanes one(spec);
    for (const int n_threads : {2, 3}) {
      WholePlanes several(spec, 1, n_threads);
      for (const std::int64_t r : {0, 1})
        EXPECT_EQ(several.apply(direction, plane, r), one.apply(direction, plane, r));
    }
  }
}

TEST(StencilPlan, RadiiShareFiltersOfAboutTheirLengths) {
  const PlaneAxis axis = plane_axis(200, PlaneBoundary::zero, 0, 199);
  std::vector<double> radii;
  for (int i = 0; i < 32; ++i) radii.push_back(90 - 2.5 * i);
  const StencilPlan plan =
      plan_stencil(stencil_spec({axis, axis}, GyroMethod::bicubic, radii), {0, 200});
  EXPECT_GT(plan.filters.size(), 1U);
  EXPECT_LT(plan.filters.size(), 16U);
  for (const StencilPlan::Radius& radius : plan.radii) {
    const StencilFilter& filter = plan.filters[to_size(radius.filter)];
    EXPECT_GE(filter.x.length, 195 + radius.reach_x);
    EXPECT_LE(filter.x.length, 195 + radius.reach_x + 40);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
