// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numbers>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "point_cases.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/sanitizer.hpp"

namespace ringweave::detail::test {
namespace {

/// Deals points among ranks: [rank] numbers of the points.
struct Deal {
  std::string name;
  std::function<int(std::int64_t point, int n_ranks)> rank_of;
};

std::vector<Deal> deals() {
  return {{"AllOnTheLast", [](std::int64_t, int n) { return n - 1; }},
          {"InTurn", [](std::int64_t point, int n) { return static_cast<int>(point % n); }},
          {"NoneOnMost", [](std::int64_t point, int n) { return point % 2 == 0 ? 0 : n / 2; }},
          {"Shuffled", [](std::int64_t point, int n) {
             return static_cast<int>((point * point + 3 * point) % 17 % n);
           }}};
}

/// The points of one rank, and their numbers among all; every other deal turns them round.
struct Dealt {
  PointList points;
  std::vector<std::int64_t> numbers;

  Dealt(const PointList& all, const Deal& deal, const Communicator& comm) {
    for (std::int64_t i = 0; i < all.size(); ++i) {
      const std::int64_t point = deal.name == "Shuffled" ? all.size() - 1 - i : i;
      if (deal.rank_of(point, comm.size()) != comm.rank()) continue;
      numbers.push_back(point);
      points.add(all.theta[to_size(point)], all.phi[to_size(point)]);
      if (!all.psi.empty()) points.psi.push_back(all.psi[to_size(point)]);
    }
  }
};

/// Weight of a tap, different for each row, tap, point and component; sums of it are exact, in
/// single precision too.
double weight(std::int64_t row, int tap, double phi, std::int64_t component) {
  return static_cast<double>((row % 13 + 1) * (tap + 1) + component) +
         static_cast<double>(static_cast<std::int64_t>(phi * 4));
}

/// Calls visit(point, row, tap) for the rows that this rank sums.
void for_each_own_tap(const PointExchange& exchange, int rank,
                      const std::function<void(std::int64_t, std::int64_t, int)>& visit) {
  const FineRows& rows = exchange.plan().rows();
  for (std::int64_t i = 0; i < exchange.summed().size(); ++i) {
    const std::int64_t first = rows.first_tap_of(exchange.summed().theta[i]);
    for (int tap = 0; tap < rows.n_taps; ++tap) {
      const std::int64_t row = rows.row(first, tap);
      if (exchange.plan().owner(row) == rank) visit(i, row, tap);
    }
  }
}

ComponentBuffer<double> partial_sums_of(const PointExchange& exchange, int rank,
                                        std::int64_t n_components) {
  ComponentBuffer<double> partial(n_components, exchange.summed().size());
  for (std::int64_t c = 0; c < n_components; ++c) {
    const auto sum = partial.view().component(c);
    std::fill(sum.data(), sum.data() + sum.size(), 0.0);
    for_each_own_tap(exchange, rank, [&](std::int64_t i, std::int64_t row, int tap) {
      sum[i] += weight(row, tap, exchange.summed().phi[i], c);
    });
  }
  return partial;
}

template <class T>
void expect_sums_over_all_rows(PointExchange& exchange, const Communicator& comm,
                               const PointList& listed, std::int64_t n_components) {
  const ComponentBuffer<double> partial = partial_sums_of(exchange, comm.rank(), n_components);
  ComponentBuffer<T> values(n_components, listed.size());
  exchange.gather<T>(partial.view(), values.view());
  const FineRows& rows = exchange.plan().rows();
  for (std::int64_t i = 0; i < listed.size(); ++i) {
    const std::int64_t first = rows.first_tap_of(listed.theta[to_size(i)]);
    for (std::int64_t c = 0; c < n_components; ++c) {
      double expected = 0;
      for (int tap = 0; tap < rows.n_taps; ++tap)
        expected += weight(rows.row(first, tap), tap, listed.phi[to_size(i)], c);
      ASSERT_EQ(values.view().component(c)[i], static_cast<T>(expected));
    }
  }
}

/// Calls work(all points, deal) for all cases: the first in every deal, the others in one.
void for_dealt_cases(const std::function<void(const PointList&, const Deal&)>& work) {
  const std::vector<PointCase> cases = point_cases();
  const std::vector<Deal> all_deals = deals();
  for (std::size_t i = 0; i < cases.size(); ++i) {
    for (std::size_t d = 0; d < all_deals.size(); ++d) {
      if (i > 0 && i % all_deals.size() != d) continue;
      SCOPED_TRACE(cases[i].name + " " + all_deals[d].name);
      work(cases[i].points, all_deals[d]);
    }
  }
}

TEST_P(OnEveryRankCount, GatherAddsThePartialSumsOfEveryPointInAnyDeal) {
  for_dealt_cases([&](const PointList& all, const Deal& deal) {
    const PointList points = Dealt(all, deal, comm()).points;
    for (const std::int64_t limit : {std::numeric_limits<int>::max(), 5}) {
      const FineRows rows = limit == 5 ? fine_rows(5, 128, 7) : fine_rows(60, 128, 8);
      PointExchange exchange(comm(), rows, RowCosts::typical(rows), points.angles(),
                             {.most_components = 3, .mpi_count_limit = limit});
      EXPECT_EQ(exchange.n_listed(), points.size());
      EXPECT_EQ(exchange.summed().size(), exchange.plan().load(comm().rank()).points);
      expect_sums_over_all_rows<double>(exchange, comm(), points, 3);
      expect_sums_over_all_rows<float>(exchange, comm(), points, 2);
    }
  });
}

/// The points with some of them several times, and an angle psi.
PointList with_repeats(PointList points) {
  const std::size_t n = points.theta.size();
  for (std::size_t i = 0; i < n; i += 3) points.add(points.theta[i], points.phi[i]);
  for (std::size_t i = 0; i < n; i += 6) points.add(points.theta[i], points.phi[i]);
  for (std::int64_t i = 0; i < points.size(); ++i)
    points.psi.push_back(static_cast<double>(i % 5 == 0 ? 1 : 0));
  return points;
}

template <class T>
void expect_transposes(PointExchange& exchange, const Communicator& comm,
                       std::int64_t n_components) {
  ComponentBuffer<T> listed(n_components, exchange.n_listed());
  std::mt19937 random(static_cast<unsigned>(comm.rank()));
  for (std::int64_t c = 0; c < n_components; ++c) {
    for (std::int64_t i = 0; i < listed.size(); ++i)
      listed.view().component(c)[i] = static_cast<T>(random() % 1000);
  }
  const ComponentBuffer<double> partial = partial_sums_of(exchange, comm.rank(), n_components);
  ComponentBuffer<T> gathered(n_components, exchange.n_listed());
  ComponentBuffer<double> scattered(n_components, exchange.summed().size());
  exchange.gather<T>(partial.view(), gathered.view());
  exchange.scatter<T>(std::as_const(listed).view(), scattered.view());
  for (std::int64_t c = 0; c < n_components; ++c) {
    double by_listed = 0;
    double by_summed = 0;
    for (std::int64_t i = 0; i < listed.size(); ++i) {
      by_listed += static_cast<double>(listed.view().component(c)[i]) *
                   static_cast<double>(gathered.view().component(c)[i]);
    }
    for (std::int64_t i = 0; i < scattered.size(); ++i)
      by_summed += scattered.view().component(c)[i] * partial.view().component(c)[i];
    EXPECT_EQ(comm.sum(by_listed), comm.sum(by_summed));
  }
}

TEST_P(OnEveryRankCount, ScatterIsTheTransposeOfGather) {
  for_dealt_cases([&](const PointList& all, const Deal& deal) {
    const Dealt dealt(with_repeats(all), deal, comm());
    const FineRows rows = fine_rows(60, 128, 8);
    PointExchange exchange(comm(), rows, RowCosts::typical(rows), dealt.points.angles(),
                           {.most_components = 3, .mpi_count_limit = 20});
    expect_transposes<double>(exchange, comm(), 3);
    expect_transposes<float>(exchange, comm(), 1);
  });
}

/// Sums values on rows, one point after the other, as an adjoint does: [component][row], complete
/// on every rank.
std::vector<double> sums_on_rows(const Communicator& comm, const Dealt& dealt,
                                 const std::vector<double>& values) {
  const FineRows rows = fine_rows(60, 128, 8);
  PointExchange exchange(comm, rows, RowCosts::typical(rows), dealt.points.angles(),
                         {.most_components = 2});
  ComponentBuffer<double> listed(2, exchange.n_listed());
  for (std::int64_t i = 0; i < listed.size(); ++i) {
    const double value = values[to_size(dealt.numbers[to_size(i)])];
    listed.view().component(0)[i] = value;
    listed.view().component(1)[i] = 1 / value;
  }
  ComponentBuffer<double> summed(2, exchange.summed().size());
  exchange.scatter<double>(std::as_const(listed).view(), summed.view());
  std::vector<double> sums(2 * 60, 0);
  for_each_own_tap(exchange, comm.rank(), [&](std::int64_t i, std::int64_t row, int tap) {
    for (std::int64_t c = 0; c < 2; ++c) {
      sums[to_size(60 * c + row)] +=
          summed.view().component(c)[i] / (1 + tap + exchange.summed().psi[i]);
    }
  });
  comm.sum(sums.data(), ssize64(sums));
  return sums;
}

TEST_P(OnEveryRankCount, SumsOnRowsAreTheSameBitByBitInAnyDealOnAnyRanks) {
  const PointList points = with_repeats(random_points(2000, 0, std::numbers::pi, 9));
  std::mt19937_64 random(4);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values;
  for (std::int64_t i = 0; i < points.size(); ++i) values.push_back(uniform(random));
  const Communicator alone = Communicator::self();
  const std::vector<double> expected =
      sums_on_rows(alone, Dealt(points, deals().front(), alone), values);
  for (const Deal& deal : deals()) {
    SCOPED_TRACE(deal.name);
    EXPECT_EQ(sums_on_rows(comm(), Dealt(points, deal, comm()), values), expected);
  }
}

TEST_P(OnEveryRankCount, PointsAndTheirBytesAreCounted) {
  const FineRows rows = fine_rows(60, 128, 8);
  const Dealt dealt(random_points(500, 0, std::numbers::pi, 9), deals()[1], comm());
  PointExchange exchange(comm(), rows, RowCosts::typical(rows), dealt.points.angles(),
                         {.most_components = 3});
  const std::int64_t n_listed = dealt.points.size();
  const std::int64_t n_summed = exchange.summed().size();
  std::int64_t n_kept = 0;
  std::int64_t n_shared = 0;
  std::int64_t n_references = 0;
  for (const double theta : dealt.points.theta) {
    const auto ranks = exchange.plan().ranks(rows.first_tap_of(theta));
    n_references += ssize64(ranks);
    n_shared += ranks.size() > 1 ? 1 : 0;
    n_kept += std::count(ranks.begin(), ranks.end(), comm().rank());
  }
  EXPECT_EQ(comm().sum(n_summed), comm().sum(n_references));
  EXPECT_EQ(exchange.plan().total().points, comm().sum(n_references));
  const std::int64_t n_sent = n_references - n_kept;
  const std::int64_t n_arriving = n_summed - n_kept;
  const std::int64_t of_points = 4 * n_listed + 16 * n_shared + 8 * (n_references - n_listed) +
                                 16 * n_summed + 4 * n_arriving + 3 * 8 * (n_sent + n_arriving);
  const std::int64_t of_lists = exchange.bytes() - exchange.plan().bytes() - of_points;
  // Rows of tiles, and the blocks of peers.
  EXPECT_GE(of_lists, 0);
  EXPECT_LE(of_lists, 4 * 24 + 2 * 24 * comm().size());
}

/// Some points on every rank, the last of which is to be spoilt on some.
PointList ten_points(int rank) {
  return random_points(10, 0, std::numbers::pi, static_cast<unsigned>(rank));
}

TEST_P(OnEveryRankCount, WrongAnglesAreRefusedByAllRanksWithTheFirstOfThem) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  const FineRows rows = fine_rows(60, 128, 8);
  const int last = comm().size() - 1;
  const auto refused = [&](const std::string& words, const auto& spoil) {
    PointList points = ten_points(comm().rank());
    points.psi.assign(10, 0);
    if (comm().rank() == last) spoil(points);
    const std::string where = "point 7 of rank " + std::to_string(last) + ", ";
    expect_error(ErrorKind::data, "the first is " + where + words,
                 [&] { PointExchange(comm(), rows, RowCosts::typical(rows), points.angles()); });
  };
  refused("theta = 3.2, phi", [](PointList& points) { points.theta[7] = points.theta[9] = 3.2; });
  refused("theta = -1e-300, phi", [](PointList& points) { points.theta[7] = -1e-300; });
  refused("theta = nan, phi", [](PointList& points) { points.theta[7] = std::nan(""); });
  refused("theta = 1, phi = -inf, psi = 0",
          [](PointList& points) { points.theta[7] = 1, points.phi[7] = -infinity; });
  refused("theta = 1, phi = 2, psi = inf", [](PointList& points) {
    points.theta[7] = 1, points.phi[7] = 2, points.psi[7] = infinity;
  });
  PointList points = ten_points(comm().rank());
  points.theta[3] = 4;
  expect_error(ErrorKind::data, "[0, pi], at " + std::to_string(comm().size()) + " point",
               [&] { PointExchange(comm(), rows, RowCosts::typical(rows), points.angles()); });
}

TEST_P(OnEveryRankCount, WrongArgumentsOfOneRankAreRefusedByAll) {
  const FineRows rows = fine_rows(60, 128, 8);
  const bool is_last = comm().rank() == comm().size() - 1;
  PointList points = ten_points(comm().rank());
  const auto refused = [&](const std::string& words, const PointAngles& angles,
                           const FineRows& its_rows, const PointOptions& options = {}) {
    expect_error(ErrorKind::usage, words, [&] {
      PointExchange(comm(), its_rows, RowCosts::typical(rows), angles, options);
    });
  };
  PointAngles angles = points.angles();
  if (is_last) angles.phi = angles.phi.subspan(1);
  refused("10 values of theta and 9 of phi", angles, rows);
  angles = points.angles();
  if (is_last) angles.psi = angles.phi.subspan(2);
  refused("10 values of theta and 8 of psi", angles, rows);
  refused("messages of 0 numbers", points.angles(), rows,
          {.most_components = 1, .mpi_count_limit = is_last ? 0 : 100});
  refused("1 to 32 rows", points.angles(), {rows.grid, is_last ? 0 : 8});
  if (comm().size() == 1) return;
  angles = points.angles();
  if (is_last) angles.psi = angles.phi;
  refused("10 values of theta and 0 of psi", angles, rows);
  refused("the ranks disagree", points.angles(), {rows.grid, is_last ? 7 : 8});
}

TEST_P(OnEveryRankCount, WrongValuesOfOneRankAreRefusedByAll) {
  const FineRows rows = fine_rows(60, 128, 8);
  const int last = comm().size() - 1;
  const PointList points = ten_points(comm().rank());
  PointExchange exchange(comm(), rows, RowCosts::typical(rows), points.angles(),
                         {.most_components = 2});
  ComponentBuffer<double> summed(2, exchange.summed().size());
  ComponentBuffer<double> values(2, 10);
  std::fill_n(values.view().data(), 20, 1.0);
  const ComponentView<const double> good = std::as_const(values).view();
  ComponentBuffer<double> spoilt(2, 10);
  std::fill_n(spoilt.view().data(), 20, 1.0);
  if (comm().rank() == last) spoilt.view().component(1)[4] = std::nan("");
  expect_error(ErrorKind::data,
               "values that are NaN or infinite at 1 point; the first is point 4 of rank " +
                   std::to_string(last) + ", component 1 = nan",
               [&] { exchange.scatter<double>(std::as_const(spoilt).view(), summed.view()); });
  ComponentBuffer<double> longer(2, 10 + (comm().rank() == last ? 1 : 0));
  expect_error(ErrorKind::usage, "11 listed points; the plan has 10",
               [&] { exchange.gather<double>(summed.view(), longer.view()); });
  ComponentBuffer<double> three(3, 10);
  ComponentBuffer<double> summed_three(3, exchange.summed().size());
  expect_error(ErrorKind::usage, "3 components; planned for at most 2",
               [&] { exchange.gather<double>(summed_three.view(), three.view()); });
  if (comm().size() > 1) {
    const std::int64_t n = comm().rank() == last ? 1 : 2;
    expect_error(ErrorKind::usage, "the ranks disagree on the components", [&] {
      exchange.scatter<double>(good.components(0, n), summed.view().components(0, n));
    });
  }
  // It is still usable.
  exchange.scatter<double>(good, summed.view());
  for (std::int64_t i = 0; i < summed.size(); ++i) EXPECT_EQ(summed.view().component(1)[i], 1);
}

TEST_P(OnEveryRankCount, MemoryThatFailsTwoRanksFailsAll) {
  if (comm().size() == 1) return;
  if (is_sanitized()) GTEST_SKIP() << "sanitizers end the program that asks for so much";
  // One row, which rank 0 owns, and one point, which rank 1 lists: the others need no memory.
  const FineRows rows = fine_rows(60, 128, 1);
  PointList points;
  if (comm().rank() == 1) points.add(0.3, 1);
  expect_error(ErrorKind::resource, comm().size() == 2 ? "" : "rank 0: ", [&] {
    PointExchange(comm(), rows, RowCosts::typical(rows), points.angles(),
                  {.most_components = std::int64_t{1} << 50,
                   .mpi_count_limit = std::numeric_limits<int>::max()});
  });
}

}  // namespace
}  // namespace ringweave::detail::test
