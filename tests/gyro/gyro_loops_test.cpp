// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/gyro_loops.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

constexpr std::int64_t bytes_of_a_table = 1 << 20;

/// G_r x[i] = r x[i] + x[i + 1], and 0 beyond the end: a method without any plane.
class SimpleScheme : public Scheme {
 public:
  explicit SimpleScheme(std::vector<std::pair<std::int64_t, std::int64_t>>* made) : made_(made) {}

  struct Work : SchemeWork {
    Direction direction = Direction::average;
    std::vector<std::vector<double>> loaded, sums;
  };
  std::unique_ptr<SchemeWork> make_work(std::int64_t, int) const override {
    return std::make_unique<Work>();
  }
  std::int64_t work_bytes(std::int64_t, int) const override { return 0; }
  void set_radii(std::int64_t begin, std::int64_t end) override {
    made_->emplace_back(begin, end);
    radii_ = {begin, end};
  }
  std::int64_t table_bytes(std::int64_t) const override { return bytes_of_a_table; }
  void clear(SchemeWork& work, Direction direction) const override {
    static_cast<Work&>(work).direction = direction;
    static_cast<Work&>(work).sums.clear();
  }
  void load(SchemeWork& work, ComponentView<const double> planes) const override {
    auto& loaded = static_cast<Work&>(work).loaded;
    loaded.clear();
    for (std::int64_t c = 0; c < planes.n_components(); ++c) {
      const auto plane = planes.component(c);
      loaded.emplace_back(plane.data(), plane.data() + plane.size());
    }
  }
  void add(SchemeWork& work, std::int64_t radius, double weight) const override {
    ASSERT_GE(radius, radii_.first);
    ASSERT_LT(radius, radii_.second);
    auto& own = static_cast<Work&>(work);
    const int step = own.direction == Direction::average ? 1 : -1;
    own.sums.resize(own.loaded.size(), std::vector<double>(own.loaded[0].size(), 0.0));
    for (std::size_t c = 0; c < own.loaded.size(); ++c) {
      const std::int64_t n = ssize64(own.loaded[c]);
      for (std::int64_t i = 0; i < n; ++i) {
        const std::int64_t next = i + step;
        const double beside = next >= 0 && next < n ? own.loaded[c][to_size(next)] : 0;
        own.sums[c][to_size(i)] +=
            weight * (static_cast<double>(radius) * own.loaded[c][to_size(i)] + beside);
      }
    }
  }
  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override {
    const auto& sums = static_cast<Work&>(work).sums;
    ASSERT_EQ(ssize64(sums), planes.n_components());
    for (std::int64_t c = 0; c < planes.n_components(); ++c) {
      for (std::int64_t i = 0; i < planes.size(); ++i) {
        double& to = planes.component(c)[i];
        to = sums[to_size(c)][to_size(i)] + (how == Accumulate::add ? to : 0.0);
      }
    }
  }
  double indicator(const SchemeWork& work) const override {
    return static_cast<const Work&>(work).loaded[0][0];
  }
  std::int64_t bytes_sent(const SchemeWork&) const override { return 1; }

 private:
  std::vector<std::pair<std::int64_t, std::int64_t>>* made_;
  std::pair<std::int64_t, std::int64_t> radii_{0, 0};
};

constexpr std::int64_t n_radii = 11;
constexpr std::int64_t n_fields = 5;
constexpr std::int64_t n_nodes = 144;

GyroPlan plan_of_rank(bool adds_radius_by_radius, std::int64_t most_planes) {
  GyroSpec spec;
  spec.grid.x.size = spec.grid.y.size = 12;
  for (std::int64_t r = 0; r < n_radii; ++r) spec.radii.push_back(0.1);
  spec.n_fields = n_fields;
  GyroPlan plan = plan_gyroaverage(spec, 1);
  plan.adds_radius_by_radius = adds_radius_by_radius;
  plan.most_planes = most_planes;
  return plan;
}

struct Case {
  int n_threads = 1;
  std::int64_t most_planes = 1;
  std::int64_t tables = n_radii;  ///< that memory holds
  bool adds_radius_by_radius = false;
};

/// All results of a set of loops, one after the other.
template <class T>
std::vector<T> all_results(const Case& one) {
  const GyroPlan plan = plan_of_rank(one.adds_radius_by_radius, one.most_planes);
  std::vector<std::pair<std::int64_t, std::int64_t>> made;
  auto scheme = std::make_unique<SimpleScheme>(&made);
  const LoopPlan loop_plan =
      plan_loops(plan, 0, *scheme, one.n_threads, (one.tables + 1) * bytes_of_a_table, true);
  EXPECT_EQ(loop_plan.remakes_operators(), one.tables < n_radii);
  GyroLoops loops(plan, loop_plan, std::move(scheme), Communicator::self());
  EXPECT_LE(loops.bytes(), (one.tables + 1) * bytes_of_a_table);

  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  ComponentBuffer<T> many(n_radii * n_fields, n_nodes);
  for (std::int64_t i = 0; i < n_radii * n_fields * n_nodes; ++i)
    many.view().data()[i] = static_cast<T>(uniform(random));
  const ComponentView<const T> of_radii = std::as_const(many).view();
  const ComponentView<const T> fields = of_radii.components(3, n_fields);
  std::vector<double> weights;
  for (std::int64_t r = 0; r < n_radii; ++r) weights.push_back(uniform(random));

  ComponentBuffer<T> large(n_radii * n_fields, n_nodes);
  ComponentBuffer<T> small(n_fields, n_nodes);
  std::vector<T> results;
  const auto keep = [&](ComponentBuffer<T>& buffer) {
    results.insert(results.end(), buffer.view().data(),
                   buffer.view().data() + buffer.n_components() * n_nodes);
  };
  MemoryMeter::reset_high_water();
  const std::int64_t before = MemoryMeter::current_bytes();
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    loops.spread(direction, fields, {}, large.view());
    keep(large);
    loops.spread(direction, fields, weights, large.view());
    keep(large);
    loops.pairs(direction, of_radii, large.view());
    keep(large);
    loops.sum(direction, of_radii, weights, small.view());
    keep(small);
    loops.sum(direction, of_radii, {}, small.view());
    keep(small);
  }
  loops.pairs(Direction::average, of_radii, many.view());  // in place
  keep(many);
  EXPECT_EQ(MemoryMeter::high_water_bytes(), before);
  return results;
}

TEST(TaskShares, WhoHasDoneItsShareHelpsTheOthers) {
  TaskShares shares(3);
  shares.begin(10);  // 0 1 2 | 3 4 5 | 6 7 8 9
  std::vector<std::int64_t> tasks;
  const auto take = [&](std::int64_t worker) { tasks.push_back(shares.next(worker)); };
  take(1);
  for (int i = 0; i < 8; ++i) take(0);
  take(2);
  for (std::int64_t worker = 0; worker < 3; ++worker) take(worker);
  EXPECT_EQ(tasks, (std::vector<std::int64_t>{3, 0, 1, 2, 9, 8, 5, 7, 4, 6, -1, -1, -1}));
  shares.begin(2);  // | 0 | 1
  EXPECT_EQ(shares.next(0), 0);
  EXPECT_EQ(shares.next(2), 1);
  EXPECT_EQ(shares.next(1), -1);
}

TEST(GyroLoops, ResultsDoNotDependOnThreadsAndBatches) {
  const std::vector<double> expected = all_results<double>({});
  for (const int n_threads : {1, 2, 3, 12, 60}) {
    for (const std::int64_t most_planes : {1, 2, 5})
      EXPECT_EQ(all_results<double>({n_threads, most_planes}), expected) << n_threads;
  }
  EXPECT_EQ(all_results<float>({3, 2}), all_results<float>({}));
}

TEST(GyroLoops, ResultsDoNotDependOnHowManyOperatorsAreHeld) {
  Case one{1, 1, n_radii, true};
  const std::vector<double> expected = all_results<double>(one);
  for (const std::int64_t tables : {1, 2, 3, 10}) {
    for (const int n_threads : {1, 3}) {
      one.tables = tables;
      one.n_threads = n_threads;
      one.most_planes = n_threads;
      EXPECT_EQ(all_results<double>(one), expected) << tables;
    }
  }
}

TEST(GyroLoops, ResultsAreThoseOfTheOperators) {
  const std::vector<double> found = all_results<double>({2, 2});
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> in(to_size(n_radii * n_fields * n_nodes));
  for (double& value : in) value = uniform(random);
  const auto average = [&](const double* plane, std::int64_t r, std::int64_t i) {
    return static_cast<double>(r) * plane[i] + (i + 1 < n_nodes ? plane[i + 1] : 0);
  };
  std::vector<double> expected;
  for (std::int64_t c = 0; c < n_radii * n_fields; ++c) {
    for (std::int64_t i = 0; i < n_nodes; ++i)
      expected.push_back(average(&in[to_size((3 + c % n_fields) * n_nodes)], c / n_fields, i));
  }
  EXPECT_TRUE(std::equal(expected.begin(), expected.end(), found.begin()));
  const std::int64_t pairs = 2 * n_radii * n_fields * n_nodes;
  for (std::int64_t c = 0; c < n_radii * n_fields; ++c) {
    for (std::int64_t i = 0; i < n_nodes; ++i) {
      ASSERT_EQ(found[to_size(pairs + c * n_nodes + i)],
                average(&in[to_size(c * n_nodes)], c / n_fields, i));
    }
  }
}

TEST(GyroLoops, OperatorsThatDoNotFitAreRefused) {
  const GyroPlan plan = plan_of_rank(true, 1);
  std::vector<std::pair<std::int64_t, std::int64_t>> made;
  const SimpleScheme scheme(&made);
  expect_error(ErrorKind::resource, "operators of one radius need 1.049 MB",
               [&] { plan_loops(plan, 0, scheme, 1, bytes_of_a_table, true); });
  expect_error(ErrorKind::resource, "operators of all radii need",
               [&] { plan_loops(plan, 0, scheme, 1, 5 * bytes_of_a_table, false); });
}

/// A rank whose share of the operators is nothing, but whose worker needs scratch.
class SchemeWithoutTables : public SimpleScheme {
 public:
  using SimpleScheme::SimpleScheme;
  std::int64_t table_bytes(std::int64_t) const override { return 0; }
  std::int64_t work_bytes(std::int64_t, int) const override { return bytes_of_a_table; }
};

TEST(GyroLoops, ScratchThatDoesNotFitIsRefusedWhereThereAreNoTables) {
  std::vector<std::pair<std::int64_t, std::int64_t>> made;
  const SchemeWithoutTables scheme(&made);
  const GyroPlan plan = plan_of_rank(true, 1);
  expect_error(ErrorKind::resource, "need 0 MB and their scratch",
               [&] { plan_loops(plan, 0, scheme, 1, bytes_of_a_table / 2, true); });
  EXPECT_EQ(plan_loops(plan, 0, scheme, 1, 2 * bytes_of_a_table, true).radii_at_once, n_radii);
}

}  // namespace
}  // namespace ringweave::detail::test
