// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "gyro/gyro_loops.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"

namespace ringweave {
namespace {

using namespace detail;
using namespace detail::test;

constexpr std::int64_t bytes_of_a_table = 1 << 20;

/// The identity for every radius, whose tables one rank has no memory for.
class LackingScheme : public Scheme {
 public:
  explicit LackingScheme(bool lacks) : lacks_(lacks) {}

  std::unique_ptr<SchemeWork> make_work(std::int64_t, int) const override {
    return std::make_unique<SchemeWork>();
  }
  std::int64_t work_bytes(std::int64_t, int) const override { return 0; }
  void set_radii(std::int64_t begin, std::int64_t) override {
    if (lacks_ && begin % 2 == 1) throw ResourceError("tables need more memory");
  }
  std::int64_t table_bytes(std::int64_t) const override { return bytes_of_a_table; }
  void clear(SchemeWork&, Direction) const override {}
  void load(SchemeWork&, ComponentView<const double>) const override {}
  void add(SchemeWork&, std::int64_t, double) const override {}
  void store(SchemeWork&, ComponentView<double>, Accumulate) const override {}
  double indicator(const SchemeWork&) const override { return 0; }
  std::int64_t bytes_sent(const SchemeWork&) const override { return 0; }

 private:
  bool lacks_;
};

using GyroLoopsOnRanks = OnEveryRankCount;
INSTANTIATE_TEST_SUITE_P(Ranks, GyroLoopsOnRanks, every_rank_count(), name_of_rank_groups);

TEST_P(GyroLoopsOnRanks, ThrowOnAllOfThemWhereOneLacksTheMemoryForOperatorsOfASum) {
  GyroSpec spec;
  spec.grid.x = spec.grid.y = {.size = 4, .nodes = PlaneNodes::chebyshev};
  spec.method = GyroMethod::chebyshev;
  spec.radii.assign(2 * to_size(comm().size()), 0.1);
  const GyroPlan plan = plan_gyroaverage(spec, comm().size());
  if (plan.radius_parts < comm().size()) return;  // 5 and 7 ranks, some of which would be idle
  ASSERT_EQ(plan.radius_parts, comm().size());
  auto scheme = std::make_unique<LackingScheme>(comm().rank() == comm().size() - 1);
  LoopPlan loop_plan =
      plan_loops(plan, comm().rank(), *scheme, 1, bytes_of_a_table + bytes_of_a_table / 2, true);
  ASSERT_EQ(loop_plan.radii_at_once, 1);
  loop_plan.calls_may_fail = true;
  GyroLoops loops(plan, loop_plan, std::move(scheme), comm());
  const std::vector<double> fields(2 * to_size(spec.grid.n_nodes()), 1.0);
  std::vector<double> sum(to_size(spec.grid.n_nodes()));
  const ComponentView<const double> in(fields.data(), 2, spec.grid.n_nodes());
  const ComponentView<double> out(sum.data(), 1, spec.grid.n_nodes());
  expect_error(ErrorKind::resource, "tables need more memory",
               [&] { loops.sum(Direction::average, in, {}, out); });
}

}  // namespace
}  // namespace ringweave
