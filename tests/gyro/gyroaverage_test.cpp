// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/gyroaverage.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "base/memory_meter.hpp"
#include "gyro/gyro_plan.hpp"
#include "gyro/gyro_problem.hpp"
#include "support/counted_allocations.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

std::vector<double> several_radii(std::int64_t n) {
  std::vector<double> radii;
  for (std::int64_t r = 0; r < n; ++r)
    radii.push_back(0.9 * static_cast<double>(r) / static_cast<double>(n));
  return radii;
}

std::vector<PlaneBoundary> boundaries_of(GyroMethod method) {
  if (method == GyroMethod::chebyshev) return {PlaneBoundary::zero};
  return {PlaneBoundary::zero, PlaneBoundary::periodic, PlaneBoundary::mirror};
}

using Results = std::vector<std::vector<double>>;

/// Returns on all ranks what the first one makes.
template <class Make>
Results by_root(const Communicator& comm, const Make& make) {
  Results results;
  if (comm.is_root()) results = make();
  std::int64_t n_results = ssize64(results);
  comm.broadcast(&n_results, sizeof(n_results), 0);
  results.resize(to_size(n_results));
  for (std::vector<double>& values : results) {
    std::int64_t size = ssize64(values);
    comm.broadcast(&size, sizeof(size), 0);
    values.resize(to_size(size));
    comm.broadcast(values.data(), size * std::int64_t{sizeof(double)}, 0);
  }
  return results;
}

/// Results of all calls of one object.
template <class T = double>
Results all_calls(const Communicator& comm, Gyroaverage& gyro) {
  Results results;
  for (const GyroCall call : all_gyro_calls) {
    const std::int64_t n = values_of(gyro.spec(), input_of(call));
    results.push_back(run_call<T>(comm, gyro, call, random_values(n, 5)));
  }
  return results;
}
Results all_calls(const Communicator& comm, const GyroSpec& spec) {
  Gyroaverage gyro(comm, spec);
  return all_calls(comm, gyro);
}
Results all_expected_calls(const GyroSpec& spec) {
  Results results;
  for (const GyroCall call : all_gyro_calls) {
    const std::int64_t n = values_of(spec, input_of(call));
    results.push_back(expected_call(spec, call, random_values(n, 5)));
  }
  return results;
}

void expect_within(const Results& found, const Results& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t call = 0; call < found.size(); ++call)
    EXPECT_LT(largest_error(found[call], expected[call]), tolerance) << "call " << call;
}

TEST(Gyroaverage, CallsAreThoseOfTheRowsOfTheOperator) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    for (const PlaneBoundary boundary : boundaries_of(method)) {
      SCOPED_TRACE(static_cast<int>(method) * 10 + static_cast<int>(boundary));
      // From a tenth of a spacing to beyond the diagonal.
      GyroSpec spec = gyro_spec(method, 13, 11, {0, 0.016, 0.4, 1.23, 3.1}, 2);
      spec.grid.y.boundary = boundary;
      expect_within(all_calls(comm, spec), by_root(comm, [&] { return all_expected_calls(spec); }),
                    tolerance::gyroaverage);
    }
  }
}

TEST(Gyroaverage, CirclesOnUnequalSpacingsAreRoundInTheCoordinates) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    SCOPED_TRACE(static_cast<int>(method));
    GyroSpec spec = gyro_spec(method, 10, 12, {0.31, 2.2}, 1);
    spec.grid.x.first = 0.5;
    spec.grid.x.last = 3.5;
    spec.grid.y.last = 0.2;
    expect_within(all_calls(comm, spec), by_root(comm, [&] { return all_expected_calls(spec); }),
                  tolerance::gyroaverage);
  }
}

TEST(Gyroaverage, TwiceIsTheOperatorAppliedTwice) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    for (const PlaneBoundary boundary : boundaries_of(method)) {
      SCOPED_TRACE(static_cast<int>(method) * 10 + static_cast<int>(boundary));
      GyroSpec spec = gyro_spec(method, 12, 12, {0.016, 0.4, 1.23, 3.1}, 2);
      spec.grid.x.boundary = spec.grid.y.boundary = boundary;
      Gyroaverage gyro(comm, spec);
      for (const auto& calls : {std::pair{GyroCall::each, GyroCall::pairs},
                                std::pair{GyroCall::pairs_adjoint, GyroCall::each_adjoint}}) {
        const std::vector<double> planes = random_values(values_of(spec, input_of(calls.first)), 5);
        const std::vector<double> once = run_call<double>(comm, gyro, calls.first, planes);
        const Results expected = by_root(comm, [&] {
          const std::vector<double> first = expected_call(spec, calls.first, planes);
          return Results{expected_call(spec, calls.second, first)};
        });
        expect_within({run_call<double>(comm, gyro, calls.second, once)}, expected,
                      tolerance::gyroaverage);
      }
    }
  }
}

TEST(Gyroaverage, OtherTargetsOfMethodChebyshev) {
  const Communicator comm = Communicator::world();
  GyroSpec spec = gyro_spec(GyroMethod::chebyshev, 12, 12, {0.3, 0.9}, 3);
  spec.targets_x = 7;
  spec.targets_y = 9;
  expect_within(all_calls(comm, spec), by_root(comm, [&] { return all_expected_calls(spec); }),
                tolerance::gyroaverage);
}

/// Returns |<G f, g> - <f, G^T g>| over ||G f|| ||g|| / sqrt(n).
double adjoint_gap(const Communicator& comm, Gyroaverage& gyro, GyroCall call, GyroCall adjoint) {
  const GyroSpec& spec = gyro.spec();
  const std::vector<double> f = random_values(values_of(spec, input_of(call)), 1);
  const std::vector<double> g = random_values(values_of(spec, input_of(adjoint)), 2);
  const std::vector<double> image = run_call<double>(comm, gyro, call, f);
  const std::vector<double> back = run_call<double>(comm, gyro, adjoint, g);
  const auto dot = [](const std::vector<double>& a, const std::vector<double>& b) {
    long double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<long double>(a[i]) * b[i];
    return static_cast<double>(sum);
  };
  const double norms = std::sqrt(dot(image, image) * dot(g, g));
  return std::abs(dot(image, g) - dot(f, back)) /
         (norms / std::sqrt(static_cast<double>(g.size())));
}

TEST(Gyroaverage, AdjointsAreTheTransposes) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    for (const PlaneBoundary boundary : boundaries_of(method)) {
      GyroSpec spec = gyro_spec(method, 33, 30, several_radii(5), 2);
      spec.grid.x.boundary = boundary;
      Gyroaverage gyro(comm, spec);
      EXPECT_LT(adjoint_gap(comm, gyro, GyroCall::each, GyroCall::each_adjoint),
                tolerance::adjoint);
      EXPECT_LT(adjoint_gap(comm, gyro, GyroCall::pairs, GyroCall::pairs_adjoint),
                tolerance::adjoint);
      EXPECT_LT(adjoint_gap(comm, gyro, GyroCall::sum, GyroCall::sum_adjoint), tolerance::adjoint);
    }
  }
}

TEST(Gyroaverage, AveragesAreLinear) {
  if (Communicator::world().size() > 1) GTEST_SKIP() << "other numbers of ranks are compared";
  const Communicator comm = Communicator::self();
  for (const GyroMethod method : all_gyro_methods) {
    SCOPED_TRACE(static_cast<int>(method));
    Gyroaverage gyro(comm, gyro_spec(method, 19, 22, {0.05, 0.6}, 2));
    for (const GyroCall call : all_gyro_calls) {
      const std::int64_t n = values_of(gyro.spec(), input_of(call));
      const std::vector<double> f = random_values(n, 1);
      const std::vector<double> g = random_values(n, 2);
      const auto combined = [](const std::vector<double>& a, const std::vector<double>& b) {
        std::vector<double> sum;
        for (std::size_t i = 0; i < a.size(); ++i) sum.push_back(0.7 * a[i] - 1.9 * b[i]);
        return sum;
      };
      EXPECT_LT(largest_error(run_call<double>(comm, gyro, call, combined(f, g)),
                              combined(run_call<double>(comm, gyro, call, f),
                                       run_call<double>(comm, gyro, call, g))),
                tolerance::gyroaverage);
    }
  }
}

TEST(Gyroaverage, AveragesKeepTheEightSymmetriesOfTheSquare) {
  if (Communicator::world().size() > 1) GTEST_SKIP() << "other numbers of ranks are compared";
  constexpr std::int64_t n = 18;
  const Communicator comm = Communicator::self();
  for (const GyroMethod method : all_gyro_methods) {
    for (const PlaneBoundary boundary : boundaries_of(method)) {
      GyroSpec spec = gyro_spec(method, n, n, {0.55}, 1);
      spec.grid.x.boundary = spec.grid.y.boundary = boundary;
      Gyroaverage gyro(comm, spec);
      const std::vector<double> f = random_values(n * n, 3);
      const std::vector<double> expected = run_call<double>(comm, gyro, GyroCall::each, f);
      for (int symmetry = 1; symmetry < 8; ++symmetry) {
        EXPECT_LT(largest_error(run_call<double>(comm, gyro, GyroCall::each, moved(f, n, symmetry)),
                                moved(expected, n, symmetry)),
                  tolerance::gyroaverage)
            << "method " << static_cast<int>(method) << ", symmetry " << symmetry;
      }
    }
  }
}

TEST(Gyroaverage, RanksThatShareRadiiAndFieldsGetTheSameBits) {
  const int before = omp_get_max_threads();
  for (const GyroMethod method : all_gyro_methods) {
    for (const std::int64_t n_fields : {1, 3}) {
      SCOPED_TRACE(static_cast<int>(method));
      const GyroSpec spec = gyro_spec(method, 24, 20, several_radii(10), n_fields);
      const Results expected =
          by_root(Communicator::world(), [&] { return all_calls(Communicator::self(), spec); });
      for (const int n_threads : {1, 2}) {
        omp_set_num_threads(n_threads);
        on_every_rank_count(
            [&](const Communicator& comm) { EXPECT_EQ(all_calls(comm, spec), expected); });
      }
      omp_set_num_threads(before);
    }
  }
}

TEST(Gyroaverage, PlansOfDoublesHoldNoPlanesToConvertFloats) {
  GyroSpec spec = gyro_spec(GyroMethod::bicubic, 12, 13, {0.3}, 1);
  const Results expected = all_calls(Communicator::self(), spec);
  const std::int64_t with_floats = Gyroaverage(Communicator::self(), spec).bytes();
  spec.numbers = GyroNumbers::doubles;
  Gyroaverage gyro(Communicator::self(), spec);
  EXPECT_EQ(gyro.bytes(), with_floats - 2 * 12 * 13 * 8);
  EXPECT_EQ(all_calls(Communicator::self(), gyro), expected);
  const std::vector<double> in = random_values(12 * 13, 5);
  expect_error(ErrorKind::usage, "views of floats",
               [&] { run_call<float>(Communicator::self(), gyro, GyroCall::each, in); });
}

TEST(Gyroaverage, PlansWithoutSumsShareAllRadiiAndGiveTheSameBits) {
  for (const GyroMethod method : all_gyro_methods) {
    SCOPED_TRACE(static_cast<int>(method));
    GyroSpec spec = gyro_spec(method, 12, 13, several_radii(9), 1);
    const Results expected =
        by_root(Communicator::world(), [&] { return all_calls(Communicator::self(), spec); });
    const std::int64_t with_sums = Gyroaverage(Communicator::self(), spec).bytes();
    spec.sums = GyroSums::none;
    // One plane of doubles for each of eight blocks.
    EXPECT_EQ(Gyroaverage(Communicator::self(), spec).bytes(), with_sums - 8 * 12 * 13 * 8);
    on_every_rank_count([&](const Communicator& comm) {
      Gyroaverage gyro(comm, spec);
      for (std::size_t i = 0; i < std::size(all_gyro_calls); ++i) {
        const GyroCall call = all_gyro_calls[i];
        const std::vector<double> in = random_values(values_of(spec, input_of(call)), 5);
        if (call == GyroCall::sum || call == GyroCall::each_adjoint) {
          expect_error(ErrorKind::usage, "a sum over radii is asked for",
                       [&] { run_call<double>(comm, gyro, call, in); });
        } else {
          EXPECT_EQ(run_call<double>(comm, gyro, call, in), expected[i]) << "call " << i;
        }
      }
    });
  }
}

TEST(Gyroaverage, ProgressCountsTheRadiiOfMethodChebyshev) {
  const Communicator comm = Communicator::world();
  using Count = std::pair<std::int64_t, std::int64_t>;
  std::vector<Count> counts;
  const Gyroaverage gyro(
      comm, gyro_spec(GyroMethod::chebyshev, 12, 12, several_radii(9), 1),
      [&](std::int64_t done, std::int64_t total) { counts.emplace_back(done, total); });
  const std::int64_t n_radii = gyro.part().n_radii();
  std::vector<Count> expected;
  for (std::int64_t r = 1; r <= n_radii; ++r) expected.emplace_back(r, n_radii);
  EXPECT_EQ(counts, expected);
}

TEST(GyroaverageWithRadii, ProgressCountsRows) {
  const PlaneGrid grid = gyro_spec(GyroMethod::bilinear, 13, 11, {}, 1).grid;
  const std::vector<double> radii(to_size(5 * 13), 0.3);
  std::vector<double> fields(to_size(grid.n_nodes()), 1);
  std::vector<double> rows(radii.size(), 1);
  for (const bool is_average : {true, false}) {
    std::vector<std::int64_t> counts;
    const GyroProgress progress = [&](std::int64_t done, std::int64_t total) {
      EXPECT_EQ(total, 5);
      counts.push_back(done);
    };
    is_average ? gyroaverage_with_radii<double>(
                     grid, GyroMethod::bilinear, radii, 2, 7,
                     ComponentView<const double>(fields.data(), 1, grid.n_nodes()),
                     {rows.data(), 1, ssize64(rows)}, Backend::host, progress)
               : gyroaverage_with_radii_adjoint<double>(
                     grid, GyroMethod::bilinear, radii, 2, 7,
                     ComponentView<const double>(rows.data(), 1, ssize64(rows)),
                     {fields.data(), 1, grid.n_nodes()}, Backend::host, progress);
    EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end()));
    ASSERT_FALSE(counts.empty());
    EXPECT_EQ(counts.back(), 5);  // one thread for each rank
  }
}

TEST(Gyroaverage, ProgressCountsTheAveragesOfEveryCall) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    GyroSpec spec = gyro_spec(method, 12, 12, several_radii(4), 3);
    Gyroaverage gyro(comm, spec);
    for (const GyroCall call : all_gyro_calls) {
      std::vector<std::int64_t> counts;
      const std::int64_t n_averages = gyro.part().n_radii() * gyro.part().n_fields();
      gyro.on_progress([&](std::int64_t done, std::int64_t total) {
        EXPECT_EQ(total, n_averages);
        counts.push_back(done);
      });
      const std::vector<double> in = random_values(values_of(spec, input_of(call)), 5);
      run_call<double>(comm, gyro, call, in);
      EXPECT_TRUE(std::is_sorted(counts.begin(), counts.end()));
      if (gyro.part().is_empty()) {
        EXPECT_TRUE(counts.empty());
      } else {
        ASSERT_FALSE(counts.empty());
        EXPECT_EQ(counts.back(), n_averages);  // one thread for each rank
      }
      gyro.on_progress({});
    }
  }
}

void expect_the_same_of_shared_rows(const GyroSpec& spec) {
  const Results expected =
      by_root(Communicator::world(), [&] { return all_calls(Communicator::self(), spec); });
  on_every_rank_count([&](const Communicator& comm) {
    Gyroaverage gyro(comm, spec);
    EXPECT_EQ(gyro.part().n_rows() < spec.grid.y.size, comm.size() > 1);
    expect_within(all_calls(comm, gyro), expected, tolerance::rank_invariance);
    EXPECT_EQ(gyro.halo_bytes_sent() > 0, comm.size() > 1 && !gyro.part().is_empty());
    const GyroPlan plan = plan_gyroaverage(spec, comm.size());
    if (plan.halo_rows == 0) return;
    // The last call had one plane.
    EXPECT_EQ(gyro.halo_bytes_sent(), plan.halo_bytes_sent(comm.rank()));
    EXPECT_EQ(comm.sum(plan.halo_bytes(comm.rank())), comm.sum(gyro.halo_bytes_sent()));
    EXPECT_LE(plan.halo_bytes(comm.rank()), plan.halo_rows * spec.grid.x.size * 8);
  });
}

TEST(Gyroaverage, RanksThatShareRowsGetTheSameToRounding) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    for (const PlaneBoundary boundary : boundaries_of(method)) {
      SCOPED_TRACE(static_cast<int>(method) * 10 + static_cast<int>(boundary));
      GyroSpec spec = gyro_spec(method, 40, 400, {0.05}, 1);
      spec.grid.y.boundary = boundary;
      expect_the_same_of_shared_rows(spec);
    }
  }
  expect_the_same_of_shared_rows(gyro_spec(GyroMethod::chebyshev, 48, 48, {0.4}, 1));
}

TEST(Gyroaverage, RanksWithoutWorkAreIdle) {
  const GyroSpec spec = gyro_spec(GyroMethod::dct, 20, 20, {0.3}, 1);
  const Results expected = all_calls(Communicator::self(), spec);
  on_every_rank_count([&](const Communicator& comm) {
    Gyroaverage gyro(comm, spec);
    EXPECT_EQ(gyro.part().is_empty(), comm.rank() > 0);
    EXPECT_EQ(all_calls(comm, gyro), expected);
  });
}

TEST(Gyroaverage, ThreadsGiveTheSameBits) {
  const int before = omp_get_max_threads();
  for (const GyroMethod method : all_gyro_methods) {
    SCOPED_TRACE(static_cast<int>(method));
    const GyroSpec spec = gyro_spec(method, 21, 26, several_radii(5), 2);
    omp_set_num_threads(1);
    const Results expected = all_calls(Communicator::self(), spec);
    for (const int n_threads : {2, 12}) {  // fewer than loads, and more
      omp_set_num_threads(n_threads);
      EXPECT_EQ(all_calls(Communicator::self(), spec), expected);
    }
  }
  omp_set_num_threads(before);
}

TEST(Gyroaverage, FloatsAreAveragedInDouble) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    Gyroaverage gyro(comm, gyro_spec(method, 20, 24, several_radii(9), 2));
    expect_within(all_calls<float>(comm, gyro), all_calls(comm, gyro), tolerance::single_storage);
  }
}

template <class T>
void expect_pairs_in_place(const Communicator& comm, const GyroSpec& spec) {
  Gyroaverage gyro(comm, spec);
  const std::vector<double> whole = random_values(values_of(spec, input_of(GyroCall::pairs)), 5);
  const std::vector<double> expected = run_call<T>(comm, gyro, GyroCall::pairs, whole);
  ComponentBuffer<T> planes = part_of<T>(spec, gyro.part(), input_of(GyroCall::pairs), whole);
  gyro.pairs<T>(std::as_const(planes).view(), planes.view());
  EXPECT_EQ(whole_of<T>(comm, spec, gyro.part(), output_of(GyroCall::pairs),
                        std::as_const(planes).view()),
            expected);
}

TEST(Gyroaverage, PairsWorkInPlace) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    expect_pairs_in_place<double>(comm, gyro_spec(method, 20, 24, several_radii(3), 2));
    expect_pairs_in_place<float>(comm, gyro_spec(method, 20, 24, several_radii(3), 2));
  }
  expect_pairs_in_place<double>(comm, gyro_spec(GyroMethod::bicubic, 40, 400, {0.05}, 1));
}

TEST(Gyroaverage, OperatorsThatDoNotFitAreMadeAnewWithTheSameBits) {
  const Communicator comm = Communicator::world();
  GyroSpec spec = gyro_spec(GyroMethod::chebyshev, 24, 24, several_radii(9), 2);
  Gyroaverage all(comm, spec);
  const std::int64_t most = comm.max(all.bytes());
  spec.most_bytes = most / 2;
  Gyroaverage some(comm, spec);
  EXPECT_LE(some.bytes(), spec.most_bytes);
  EXPECT_EQ(all_calls(comm, some), all_calls(comm, all));
  spec.most_bytes = 10'000;
  expect_error(ErrorKind::resource, "operators of one radius need",
               [&] { Gyroaverage(comm, spec); });
}

TEST(Gyroaverage, HugeRadiiOfPeriodicAxesAreRefusedWhereMemoryLacks) {
  GyroSpec spec = gyro_spec(GyroMethod::bicubic, 16, 16, {1e9, 1e9}, 1);
  spec.grid.x.boundary = spec.grid.y.boundary = PlaneBoundary::periodic;
  spec.most_bytes = 1'000'000'000;
  expect_error(ErrorKind::resource, "operators of all radii need",
               [&] { Gyroaverage(Communicator::self(), spec); });
  // Tables are not larger than the plane, whatever the radius.
  spec.radii = {1e3};
  spec.most_bytes = 10'000'000;
  EXPECT_LE(Gyroaverage(Communicator::self(), spec).bytes(), 100'000);
}

void expect_calls_allocate_nothing(Gyroaverage& gyro) {
  const GyroSpec& spec = gyro.spec();
  const std::vector<double> weights = weights_of(spec);
  for (const GyroCall call : all_gyro_calls) {
    SCOPED_TRACE(static_cast<int>(call));
    const ComponentBuffer<double> in = part_of<double>(
        spec, gyro.part(), input_of(call), random_values(values_of(spec, input_of(call)), 5));
    ComponentBuffer<double> out = make_part<double>(spec, gyro.part(), output_of(call));
    expect_no_allocations(
        [&] { call_gyroaverage<double>(gyro, call, in.view(), out.view(), weights); });
  }
}

TEST(Gyroaverage, CallsAllocateNothingAndBytesAreThoseOfTheMeter) {
  const Communicator comm = Communicator::world();
  for (const GyroMethod method : all_gyro_methods) {
    const std::int64_t n = method == GyroMethod::chebyshev ? 48 : 96;
    const GyroSpec spec = gyro_spec(method, n, n, several_radii(9), 3);
    const std::int64_t before = MemoryMeter::current_bytes();
    MemoryMeter::reset_high_water();
    Gyroaverage gyro(comm, spec);
    const auto held = static_cast<double>(MemoryMeter::high_water_bytes() - before);
    const auto bytes = static_cast<double>(gyro.bytes());
    EXPECT_GE(bytes, 0.9 * held) << static_cast<int>(method);
    // The meter does not see tables of sides, which are large for bicubic averages.
    if (method != GyroMethod::bicubic) {
      EXPECT_LE(bytes, 1.1 * held) << static_cast<int>(method);
    }
    SCOPED_TRACE(static_cast<int>(method));
    expect_calls_allocate_nothing(gyro);
  }
  // Rows are shared.
  Gyroaverage bands(comm, gyro_spec(GyroMethod::bicubic, 40, 400, {0.05}, 1));
  expect_calls_allocate_nothing(bands);
}

TEST(Gyroaverage, BadCallsAreRefusedOnAllRanks) {
  const Communicator comm = Communicator::world();
  const GyroSpec spec = gyro_spec(GyroMethod::bicubic, 20, 20, several_radii(8), 2);
  Gyroaverage gyro(comm, spec);
  const GyroPart& part = gyro.part();
  const GyroPlanes fields = input_of(GyroCall::sum);
  std::vector<double> values(to_size(values_of(spec, fields)), 1.0);
  ComponentBuffer<double> in = part_of<double>(spec, part, fields, values);
  ComponentBuffer<double> out = make_part<double>(spec, part, output_of(GyroCall::sum));
  ComponentBuffer<double> large = make_part<double>(spec, part, output_of(GyroCall::pairs));
  const std::vector<double> weights(8, 1.0);
  const ComponentView<const double> good = std::as_const(in).view();
  expect_error(ErrorKind::usage, "7 weights; the plan has 8",
               [&] { gyro.sum(good, std::span(weights).first(7), out.view()); });
  expect_error(ErrorKind::usage, "components; the plan has", [&] {
    const bool is_last = comm.rank() == comm.size() - 1;
    gyro.pairs(is_last ? good.components(0, 0) : good, large.view());
  });
  std::vector<double> infinite(weights);
  infinite[3] = std::numeric_limits<double>::infinity();
  expect_error(ErrorKind::usage, "weight 3 (from 0) is inf",
               [&] { gyro.sum(good, infinite, out.view()); });

  values[to_size((5 * 2 + 1) * 400 + 7 * 20 + 3)] = std::numeric_limits<double>::quiet_NaN();
  values[to_size((6 * 2 + 0) * 400)] = std::numeric_limits<double>::infinity();
  const ComponentBuffer<double> bad = part_of<double>(spec, part, fields, values);
  const char* const words =
      "2 values are NaN or infinite; the first is in radius 5, field 1, row 7, column 3";
  expect_error(ErrorKind::data, words, [&] { gyro.sum(bad.view(), weights, out.view()); });
  expect_error(ErrorKind::data, words, [&] { gyro.pairs(bad.view(), large.view()); });
}

TEST(Gyroaverage, CopiesOfAValueThatIsNotFiniteCountOnce) {
  const Communicator comm = Communicator::world();
  const GyroSpec spec = gyro_spec(GyroMethod::chebyshev, 20, 20, several_radii(8), 1);
  Gyroaverage gyro(comm, spec);
  const GyroPlanes fields = input_of(GyroCall::each);
  std::vector<double> values(400, 1.0);
  values[47] = std::numeric_limits<double>::quiet_NaN();
  const ComponentBuffer<double> bad = part_of<double>(spec, gyro.part(), fields, values);
  ComponentBuffer<double> out = make_part<double>(spec, gyro.part(), output_of(GyroCall::each));
  expect_error(ErrorKind::data,
               "1 values are NaN or infinite; the first is in field 0, row 2, column 7",
               [&] { gyro.each(bad.view(), out.view()); });
}

TEST(Gyroaverage, SpecificationsAreCheckedOnAllRanks) {
  const Communicator comm = Communicator::world();
  GyroSpec spec = gyro_spec(GyroMethod::bicubic, 20, 20, {0.3}, 1);
  spec.radii[0] = comm.rank() == comm.size() - 1 ? -1 : 0.3;
  expect_error(ErrorKind::usage, "radius 0 (from 0) is -1", [&] { Gyroaverage(comm, spec); });
  if (comm.size() == 1) return;
  spec.radii[0] = comm.rank() == 0 ? 0.2 : 0.3;
  expect_error(ErrorKind::usage, "the ranks disagree on the specification of gyroaverages",
               [&] { Gyroaverage(comm, spec); });
}

TEST(Gyroaverage, IndicatorsSayWhatToExpect) {
  const Communicator self = Communicator::self();
  for (const GyroMethod method : all_gyro_methods) {
    Gyroaverage gyro(self, gyro_spec(method, 40, 40, {0.3}, 1));
    run_call<double>(self, gyro, GyroCall::each, std::vector<double>(1600, 1.0));
    if (method == GyroMethod::dct) {
      EXPECT_EQ(gyro.indicator(), 1);
    } else {
      EXPECT_LT(gyro.indicator(), 1e-14);
    }
    EXPECT_GT(gyro.times().seconds("transform"), 0);
  }
}

TEST(Gyroaverage, ALargeFieldDoesNotHideTheIndicatorOfAnother) {
  const Communicator self = Communicator::self();
  const std::vector<double> narrow = random_values(24 * 24, 1);
  for (const GyroMethod method : {GyroMethod::dct, GyroMethod::chebyshev}) {
    Gyroaverage one(self, gyro_spec(method, 24, 24, {0.2}, 1));
    run_call<double>(self, one, GyroCall::each, narrow);
    EXPECT_GT(one.indicator(), 0.01);
    // The large one vanishes at the edge and is of low degree.
    std::vector<double> both = narrow;
    for (std::int64_t i = 0; i < 24 * 24; ++i) {
      const double x = one.spec().grid.x.node(i % 24);
      const double y = one.spec().grid.y.node(i / 24);
      both.push_back(1e9 * (1 - x * x) * (1 - y * y));
    }
    Gyroaverage two(self, gyro_spec(method, 24, 24, {0.2}, 2));
    run_call<double>(self, two, GyroCall::each, both);
    EXPECT_EQ(two.indicator(), one.indicator());
  }
}

}  // namespace
}  // namespace ringweave::detail::test
