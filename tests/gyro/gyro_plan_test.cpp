// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/gyro_plan.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/schemes.hpp"
#include "gyro/stencil_plan.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

GyroSpec spec_of(GyroMethod method, std::int64_t n, std::int64_t n_radii, std::int64_t n_fields) {
  GyroSpec spec;
  spec.method = method;
  spec.grid.x = {n, -1, 1,
                 method == GyroMethod::chebyshev ? PlaneNodes::chebyshev : PlaneNodes::equispaced};
  spec.grid.y = spec.grid.x;
  for (std::int64_t r = 0; r < n_radii; ++r)
    spec.radii.push_back(0.3 * static_cast<double>(r + 1) / static_cast<double>(n_radii));
  spec.n_fields = n_fields;
  return spec;
}

constexpr GyroMethod all_methods[] = {GyroMethod::bilinear, GyroMethod::bicubic, GyroMethod::dct,
                                      GyroMethod::chebyshev};

/// Every result belongs to exactly one rank, parts follow each other, and ranks of a group have the
/// same radii and fields, or the same fields and rows.
void expect_complete(const GyroPlan& plan, const GyroSpec& spec) {
  std::int64_t results = 0;
  for (int rank = 0; rank < plan.n_ranks; ++rank) {
    const GyroPart part = plan.part(rank);
    ASSERT_EQ(part.is_empty(), plan.is_idle(rank)) << rank;
    results += part.n_radii() * part.n_fields() * part.n_rows();
    if (plan.is_idle(rank)) continue;
    if (rank > 0 && plan.row_group(rank) == plan.row_group(rank - 1)) {
      const GyroPart before = plan.part(rank - 1);
      ASSERT_EQ(part.radius_begin, before.radius_begin);
      ASSERT_EQ(part.field_begin, before.field_begin);
      ASSERT_EQ(part.row_begin, before.row_end);
    }
    const int same_fields = plan.radius_group(rank);
    const GyroPart first = plan.part(same_fields);
    ASSERT_EQ(part.row_begin, first.row_begin);
    ASSERT_EQ(part.field_begin, first.field_begin);
    ASSERT_LE(part.field_row_begin, part.row_begin);
  }
  EXPECT_EQ(results, ssize64(spec.radii) * spec.n_fields * plan.targets.y.size);
  for (std::int64_t block = 0; block < plan.n_blocks(); ++block) {
    const int rank = plan.owner_of(block) * plan.field_parts * plan.row_parts;
    EXPECT_LE(plan.part(rank).radius_begin, plan.block_begin[to_size(block)]);
    EXPECT_GE(plan.part(rank).radius_end, plan.block_begin[to_size(block + 1)]);
  }
}

TEST(GyroPlan, EveryResultBelongsToOneRank) {
  for (const GyroMethod method : all_methods) {
    for (const std::int64_t n_radii : {1, 3, 7, 35}) {
      for (const std::int64_t n_fields : {1, 3, 10}) {
        for (const std::int64_t n : {10, 250}) {
          for (const GyroSums sums : {GyroSums::formed, GyroSums::none}) {
            GyroSpec spec = spec_of(method, n, n_radii, n_fields);
            spec.sums = sums;
            for (const int n_ranks : {1, 2, 3, 5, 8, 13, 64, 500})
              expect_complete(plan_gyroaverage(spec, n_ranks), spec);
          }
        }
      }
    }
  }
}

TEST(GyroPlan, ManyRanksArePlanned) {
  constexpr int n_ranks = 16384;
  for (const GyroMethod method : all_methods) {
    for (const std::int64_t n_fields : {1, 50, 20000}) {
      for (const GyroSums sums : {GyroSums::formed, GyroSums::none}) {
        GyroSpec spec = spec_of(method, 4096, 35, n_fields);
        spec.sums = sums;
        const GyroPlan plan = plan_gyroaverage(spec, n_ranks);
        expect_complete(plan, spec);
        EXPECT_LE(plan.n_busy(), n_ranks);
      }
    }
  }
}

TEST(GyroPlan, FieldsAreDealtFirstThenRadiiThenRows) {
  const auto parts = [](const GyroSpec& spec, int n_ranks) {
    const GyroPlan plan = plan_gyroaverage(spec, n_ranks);
    return std::vector{plan.field_parts, plan.radius_parts, plan.row_parts};
  };
  const GyroSpec spec = spec_of(GyroMethod::bicubic, 1024, 16, 4);
  EXPECT_EQ(parts(spec, 4), (std::vector{4, 1, 1}));
  EXPECT_EQ(parts(spec, 2), (std::vector{2, 1, 1}));
  EXPECT_EQ(parts(spec, 8), (std::vector{4, 2, 1}));
  EXPECT_EQ(parts(spec, 32), (std::vector{4, 8, 1}));
  EXPECT_EQ(parts(spec, 96), (std::vector{4, 8, 3}));
}

TEST(GyroPlan, SmallPlanesAreNotCutIntoBands) {
  const GyroPlan plan = plan_gyroaverage(spec_of(GyroMethod::bilinear, 16, 1, 1), 8);
  EXPECT_EQ(plan.row_parts, 1);
  EXPECT_EQ(plan.n_busy(), 1);
  EXPECT_NE(plan.reason.find("7 of 8 ranks are idle"), std::string::npos) << plan.reason;
}

TEST(GyroPlan, LargePlanesAreCutIntoBandsWithAHalo) {
  GyroSpec spec = spec_of(GyroMethod::bicubic, 1001, 1, 1);
  spec.radii = {0.1};
  const GyroPlan plan = plan_gyroaverage(spec, 4);
  EXPECT_EQ(plan.row_parts, 4);
  EXPECT_EQ(plan.halo_rows, 2 * (50 + 3 + 4));
  EXPECT_EQ(plan.halo_rows, 2 * plan_stencil(spec, {250, 500}).halo);
  EXPECT_EQ(plan.halo_bytes(0), plan.halo_reach * 1001 * 8);
  EXPECT_EQ(plan.halo_bytes(1), plan.halo_rows * 1001 * 8);
  EXPECT_EQ(plan.halo_bytes_sent(3), plan.halo_bytes(3));
  EXPECT_EQ(plan.part(1).field_row_begin, plan.part(1).row_begin);
}

TEST(GyroPlan, DctIsNeverCutIntoRows) {
  const GyroPlan plan = plan_gyroaverage(spec_of(GyroMethod::dct, 2000, 3, 2), 100);
  EXPECT_EQ(plan.row_parts, 1);
  EXPECT_EQ(plan.radius_parts * plan.field_parts, 6);
  EXPECT_NE(plan.reason.find("dct is never cut into rows"), std::string::npos) << plan.reason;
}

TEST(GyroPlan, ChebyshevSharesRowsOfResultsWhereThereAreFewRadiiAndFields) {
  GyroSpec spec = spec_of(GyroMethod::chebyshev, 128, 1, 1);
  const GyroPlan plan = plan_gyroaverage(spec, 4);
  EXPECT_EQ(plan.row_parts, 4);
  EXPECT_EQ(plan.part(2).n_rows(), 32);
  EXPECT_EQ(plan.part(2).n_field_rows(), 128);
  // Its targets are 16 chunks.
  EXPECT_EQ(plan_gyroaverage(spec, 64).row_parts, 16);
  spec.targets_y = 50;
  EXPECT_EQ(plan_gyroaverage(spec, 4).part(3).row_end, 50);
}

TEST(GyroPlan, SizesOfAnOperatorAreThoseOfTheSchemeAndOfAMovedSquareAsSmall) {
  GyroSpec spec = spec_of(GyroMethod::chebyshev, 21, 1, 1);
  const RowShare all{0, 21, 0, 1};
  const auto planned = [&] { return static_cast<std::int64_t>(chebyshev_operator_size(spec)) * 8; };
  const std::int64_t bytes = planned();
  EXPECT_EQ(make_chebyshev_scheme(spec, Communicator::self(), all)->table_bytes(0), bytes);
  spec.grid.x.first = 0;
  spec.grid.x.last = 2;
  EXPECT_EQ(planned(), bytes);
  EXPECT_EQ(make_chebyshev_scheme(spec, Communicator::self(), all)->table_bytes(0), bytes);
  spec.grid.x.last = 3;
  EXPECT_EQ(make_chebyshev_scheme(spec, Communicator::self(), all)->table_bytes(0), planned());
}

TEST(GyroPlan, TheOperatorOfASquareTakesLittleMoreThanAnEighthOfADenseOne) {
  const GyroSpec spec = spec_of(GyroMethod::chebyshev, 80, 1, 1);
  const auto scheme = make_chebyshev_scheme(spec, Communicator::self(), {0, 80, 0, 1});
  EXPECT_LE(scheme->table_bytes(0), 43'000'000);
  EXPECT_LE(spec.grid.n_nodes() * spec.grid.n_nodes() * 8, 328'000'000);
}

TEST(GyroPlan, TablesOfFilteredMethodsTakeTheBytesThatArePlanned) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic, GyroMethod::dct}) {
    for (const PlaneBoundary y : {PlaneBoundary::zero, PlaneBoundary::periodic}) {
      for (const std::int64_t n_y : {40, 44}) {
        GyroSpec spec = spec_of(method, 40, 4, 1);
        spec.radii.insert(spec.radii.end(), {0.9, 3});
        spec.grid.y.size = n_y;
        spec.grid.y.boundary = y;
        const auto scheme = method == GyroMethod::dct
                                ? make_dct_scheme(spec)
                                : make_stencil_scheme(spec, Communicator::self(), {0, n_y, 0, 1});
        scheme->set_radii(0, ssize64(spec.radii));
        std::int64_t held = 0;
        std::int64_t planned = 0;
        for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
          held += scheme->held_bytes(r);
          planned += scheme->table_bytes(r);
        }
        EXPECT_GE(planned, 98 * held / 100) << static_cast<int>(method) << " " << n_y;
        EXPECT_LE(planned, 120 * held / 100) << static_cast<int>(method) << " " << n_y;
      }
    }
  }
}

TEST(GyroPlan, BlocksOfSumsAreAtMostEightAndNearlyEqual) {
  using Blocks = std::vector<std::int64_t>;
  const auto of_sums = [](std::int64_t n) { return blocks_of_radii(n, GyroSums::formed); };
  EXPECT_EQ(of_sums(1), (Blocks{0, 1}));
  EXPECT_EQ(of_sums(3), (Blocks{0, 1, 2, 3}));
  EXPECT_EQ(of_sums(35), (Blocks{0, 4, 8, 13, 17, 21, 26, 30, 35}));
  EXPECT_EQ(blocks_of_radii(10, GyroSums::none), (Blocks{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}));
}

TEST(GyroPlan, WithoutSumsEveryRankMayHaveOneRadius) {
  for (const GyroMethod method : all_methods) {
    for (const std::int64_t n : {24, 300}) {
      GyroSpec spec = spec_of(method, n, 10, 1);
      spec.sums = GyroSums::none;
      const GyroPlan plan = plan_gyroaverage(spec, 10);
      EXPECT_EQ(plan.radius_parts, 10);
      EXPECT_EQ(plan.n_idle(), 0) << plan.reason;
      EXPECT_EQ(plan.idle_reason, "");
      EXPECT_EQ(plan_gyroaverage(spec, 7).radius_parts, 5) << "two each, as seven parts would";
    }
  }
}

TEST(GyroPlan, TheReasonWhyRanksAreIdleIsTrue) {
  const auto reason = [](const GyroSpec& spec, int n_ranks) {
    const GyroPlan plan = plan_gyroaverage(spec, n_ranks);
    EXPECT_EQ(plan.n_idle() > 0, !plan.idle_reason.empty());
    EXPECT_NE(plan.reason.find(plan.idle_reason), std::string::npos) << plan.reason;
    return plan.idle_reason;
  };
  const std::string of_sums =
      "sums over radii are formed of 8 blocks of radii on any number of ranks";
  for (const GyroMethod method : all_methods)
    EXPECT_EQ(reason(spec_of(method, 24, 10, 1), 10), of_sums);
  const auto without_sums = [](GyroMethod method, std::int64_t n, std::int64_t n_radii) {
    GyroSpec spec = spec_of(method, n, n_radii, 1);
    spec.sums = GyroSums::none;
    return spec;
  };
  const std::string no_gain = "smaller parts would not be faster";
  for (const GyroMethod method : all_methods)
    EXPECT_EQ(reason(without_sums(method, 24, 10), 9), no_gain);  // 2 of 10 radii on 5 ranks or 9
  EXPECT_EQ(reason(without_sums(GyroMethod::bicubic, 24, 10), 11), no_gain);
  const std::string of_dct = "method dct is never cut into rows";
  EXPECT_EQ(reason(without_sums(GyroMethod::dct, 24, 10), 20), of_dct);
  EXPECT_EQ(reason(without_sums(GyroMethod::dct, 2000, 10), 20),
            of_dct + " (bilinear or bicubic would be)");
  EXPECT_EQ(reason(without_sums(GyroMethod::chebyshev, 128, 1), 20),
            "method chebyshev is cut into 16 parts of rows at most");
}

TEST(GyroPlan, RadiiBeyondTheDiagonalHaveNoHaloAndNoPadding) {
  GyroSpec spec = spec_of(GyroMethod::dct, 21, 1, 1);
  spec.radii = {0.5, 1e300};
  EXPECT_EQ(least_padding_x(spec), 2);
  spec.method = GyroMethod::bilinear;
  spec.grid.x.size = spec.grid.y.size = 2001;
  EXPECT_EQ(plan_gyroaverage(spec, 2).radius_parts, 2);
}

TEST(GyroChecks, PaddingKeepsCirclesOffTheImages) {
  EXPECT_EQ(least_padding(0), 0);
  EXPECT_EQ(least_padding(1), 0);
  EXPECT_EQ(least_padding(1.5), 1);
  EXPECT_EQ(least_padding(5), 2);
  EXPECT_EQ(least_padding(5.1), 3);
  GyroSpec spec = spec_of(GyroMethod::dct, 21, 1, 1);  // spacing 0.1, rounded
  spec.radii = {0.3 + 1e-17};
  EXPECT_EQ(least_padding_x(spec), 1);
}

void expect_refused(const GyroSpec& spec, const std::string& words) {
  expect_error(ErrorKind::usage, words, [&] { check_gyro_spec(spec); });
}

TEST(GyroChecks, ContradictionsAreNamed) {
  const GyroSpec good = spec_of(GyroMethod::bicubic, 20, 2, 1);
  check_gyro_spec(good);
  GyroSpec spec = good;
  spec.radii[1] = -0.5;
  expect_refused(spec, "radius 1 (from 0) is -0.5");
  spec.radii[1] = std::numeric_limits<double>::quiet_NaN();
  expect_refused(spec, "radius 1 (from 0) is nan");
  spec.radii.clear();
  expect_refused(spec, "no radius");
  spec = good;
  spec.grid.y.size = 9;
  expect_refused(spec, "axis y has 9 nodes; method bicubic needs at least 10");
  spec.grid.y.boundary = PlaneBoundary::periodic;
  check_gyro_spec(spec);
  spec = good;
  spec.method = GyroMethod::chebyshev;
  expect_refused(spec, "the nodes of axis x are equispaced; method chebyshev needs Chebyshev");
  spec = good;
  spec.grid.y.nodes = PlaneNodes::chebyshev;
  expect_refused(spec, "axis y are Chebyshev nodes; method bicubic needs equispaced");
  spec = good;
  spec.grid.x.last = -1;
  expect_refused(spec, "axis x goes from -1 to -1");
  spec = good;
  spec.targets_x = 10;
  expect_refused(spec, "10 targets along x");
  spec = good;
  spec.padding = 3;
  expect_refused(spec, "only method dct is padded");
  spec.method = GyroMethod::dct;
  spec.padding = 0;
  expect_refused(spec, "pad 1 nodes or more");
  spec = good;
  spec.n_fields = 0;
  expect_refused(spec, "0 fields");
}

TEST(GyroChecks, ChebyshevHasBoundaryZeroAndOtherTargets) {
  GyroSpec spec = spec_of(GyroMethod::chebyshev, 12, 2, 1);
  spec.targets_x = 7;
  check_gyro_spec(spec);
  spec.targets_x = 1;
  expect_refused(spec, "1 targets along x");
  spec.targets_x = 0;
  spec.grid.x.boundary = PlaneBoundary::mirror;
  expect_refused(spec, "axis x is mirrored; method chebyshev");
}

TEST(GyroChecks, TwoOrThreeNodesSuitEveryMethod) {
  for (const std::int64_t n : {2, 3}) {
    for (const PlaneNodes nodes : {PlaneNodes::equispaced, PlaneNodes::chebyshev}) {
      for (const GyroMethod method :
           {GyroMethod::bilinear, GyroMethod::dct, GyroMethod::chebyshev}) {
        GyroSpec spec = spec_of(method, n, 1, 1);
        spec.grid.x.nodes = nodes;
        check_gyro_spec(spec);
      }
    }
  }
}

TEST(GyroChecks, DigestsDifferWhereSpecificationsDo) {
  const GyroSpec good = spec_of(GyroMethod::bicubic, 20, 2, 1);
  GyroSpec spec = good;
  spec.most_bytes = 1;
  EXPECT_EQ(digest_of(spec), digest_of(good));
  spec.radii[0] = std::nextafter(spec.radii[0], 1);
  EXPECT_NE(digest_of(spec), digest_of(good));
  spec = good;
  spec.grid.x.boundary = PlaneBoundary::periodic;
  EXPECT_NE(digest_of(spec), digest_of(good));
  spec = good;
  spec.sums = GyroSums::none;
  EXPECT_NE(digest_of(spec), digest_of(good));
}

}  // namespace
}  // namespace ringweave::detail::test
