// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "nonuniform/fine_taps.hpp"
#include "nonuniform/lensing_memory.hpp"
#include "nonuniform/point_memory.hpp"
#include "support/tolerance.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int n_ranks = 16;

PointSpec large_spec(const ExchangeOptions& exchange) {
  PointSpec spec;
  spec.lmax = 2047;
  spec.fields = FieldSet({0, 2});
  spec.epsilon = 1e-6;
  spec.exchange = exchange;
  return spec.checked();
}

/// The transform to fine rows of the rank with most modes.
TransformPlan plan_of_rows(const PointSpec& spec, std::int64_t n_points, const PointPlan& points) {
  const std::vector<std::int64_t> modes = modes_of_ranks(spec, points);
  const auto most = std::max_element(modes.begin(), modes.end()) - modes.begin();
  return {FineTaps(spec, n_points).transform_spec(spec, points.rings()), static_cast<int>(most),
          n_ranks};
}

struct ExchangeCase {
  std::string name;
  ExchangeOptions options;
};

/// Every way, and modes that one MPI count does not hold.
std::vector<ExchangeCase> exchange_cases() {
  std::vector<ExchangeCase> cases{
      {"whole", {}}, {"overlapped", {}}, {"single", {}}, {"packed", {}}};
  cases[1].options.schedule = ExchangeSchedule::overlapped;
  cases[2].options.precision = ModePrecision::single_;
  cases[3].options.mpi_count_limit = 100'000;
  return cases;
}

void expect_near(const std::string& what, std::int64_t predicted, std::int64_t expected) {
  EXPECT_NEAR(static_cast<double>(predicted) / static_cast<double>(expected), 1,
              tolerance::predicted_memory)
      << what << ": " << expected;
}

TEST(SlotMemory, OfManyPixelsIsThatOfAllPassesOrOfOne) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(1024));
  TransformSpec on_grid;
  on_grid.grid = grid;
  on_grid.lmax = 2047;
  const TransformPlan of_grid(on_grid, 0, n_ranks);
  for (const ExchangeCase& each : exchange_cases()) {
    const LensingProblem problem{large_spec(each.options), 4e-3, 1};
    const PixelPoints pixels = pixels_of_lensing(problem, of_grid.ring_bands);
    const TransformPlan rows = plan_of_rows(problem.spec, grid->n_pixels(), pixels.plan());
    expect_near(each.name, memory_of_lensing(problem, pixels, rows.rank).modes,
                rows.by_ring_bytes() + rows.pass_workspace_bytes(rows.n_passes_within));
  }
}

TEST(SlotMemory, OfFewPointsIsThatOfSomePasses) {
  for (const ExchangeCase& each : exchange_cases()) {
    const PointProblem problem{.spec = large_spec(each.options),
                               .n_points = 10'000,
                               .n_angles = 2,
                               .n_ranks = n_ranks,
                               .n_threads = 1};
    const FineRows fine =
        rows_of(choose_taps(problem.spec, problem.n_points), UntouchedRows::left_out);
    const TransformPlan rows =
        plan_of_rows(problem.spec, problem.n_points, even_plan(problem, fine));
    expect_near(each.name, predict_memory(problem).modes,
                rows.by_ring_bytes() + rows.pass_workspace_bytes(rows.n_passes));
  }
}

TEST(SlotMemory, OfManyPointsIsThatOfTheirSums) {
  const PointProblem problem{.spec = large_spec({}),
                             .n_points = 100'000'000,
                             .n_angles = 2,
                             .n_ranks = n_ranks,
                             .n_threads = 1};
  const FineRows fine =
      rows_of(choose_taps(problem.spec, problem.n_points), UntouchedRows::left_out);
  const TransformPlan rows = plan_of_rows(problem.spec, problem.n_points, even_plan(problem, fine));
  expect_near("sums", predict_memory(problem).modes, rows.by_ring_bytes());
}

}  // namespace
}  // namespace ringweave::detail::test
