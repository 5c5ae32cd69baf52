// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "gyro/chebyshev_problem.hpp"
#include "gyro/schemes.hpp"
#include "support/rank_groups.hpp"

namespace ringweave {
namespace {

using namespace detail;
using namespace detail::test;

using ChebyshevRanks = OnEveryRankCount;
INSTANTIATE_TEST_SUITE_P(Ranks, ChebyshevRanks, every_rank_count(), name_of_rank_groups);

/// Compares both directions with those of one rank, bit by bit.
void expect_as_on_one_rank(const GyroSpec& spec, const Communicator& comm) {
  constexpr std::int64_t n_planes = 3;
  const std::int64_t n_x = spec.targets_x == 0 ? spec.grid.x.size : spec.targets_x;
  const std::int64_t n_y = spec.targets_y == 0 ? spec.grid.y.size : spec.targets_y;
  const std::int64_t nodes = spec.grid.n_nodes();
  const std::int64_t targets = n_x * n_y;
  const RowShare share{n_y * comm.rank() / comm.size(), n_y * (comm.rank() + 1) / comm.size(),
                       comm.rank(), comm.size()};
  const auto alone = make_chebyshev_scheme(spec, Communicator::self(), {0, n_y, 0, 1});
  const auto shared = make_chebyshev_scheme(spec, comm, share);
  alone->set_radii(0, 2);
  shared->set_radii(0, 2);
  const std::int64_t bytes = shared->table_bytes(0);
  EXPECT_EQ(comm.sum(bytes), alone->table_bytes(0));
  const auto rows_of = [&](const std::vector<double>& planes) {
    std::vector<double> rows;
    for (std::int64_t p = 0; p < n_planes; ++p) {
      const double* plane = planes.data() + p * targets;
      rows.insert(rows.end(), plane + share.row_begin * n_x, plane + share.row_end * n_x);
    }
    return rows;
  };
  const std::int64_t own = (share.row_end - share.row_begin) * n_x;
  const std::vector<double> fields = random_values(n_planes * nodes, 1);
  EXPECT_EQ(averaged(*shared, Direction::average, fields, n_planes, own, {0, 1}, 2),
            rows_of(averaged(*alone, Direction::average, fields, n_planes, targets, {0, 1})));
  const std::vector<double> results = random_values(n_planes * targets, 2);
  EXPECT_EQ(averaged(*alone, Direction::transpose, results, n_planes, nodes, {0, 1}),
            averaged(*shared, Direction::transpose, rows_of(results), n_planes, nodes, {0, 1}));
}

TEST_P(ChebyshevRanks, ThatShareRowsHaveTheBitsOfOne) {
  GyroSpec square = chebyshev_spec(chebyshev_axis(26), chebyshev_axis(26), {0.3, 0.9});
  expect_as_on_one_rank(square, comm());
  square.targets_x = square.targets_y = 19;
  expect_as_on_one_rank(square, comm());
  expect_as_on_one_rank(chebyshev_spec(chebyshev_axis(14), chebyshev_axis(17), {0.3, 0.9}), comm());
  // Fewer blocks than ranks.
  expect_as_on_one_rank(chebyshev_spec(chebyshev_axis(9), chebyshev_axis(9), {0.3, 0.9}), comm());
}

}  // namespace
}  // namespace ringweave
