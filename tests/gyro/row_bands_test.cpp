// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "bench/sent_bytes.hpp"
#include "stencil_problem.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

class RowBands : public OnEveryRankCount {
 protected:
  /// A scheme of the rows of this rank, and that of whole planes.
  void expect_whole_planes(const GyroSpec& spec, int n_threads = 1) const {
    const PlaneGrid& grid = spec.grid;
    const std::vector<std::int64_t> cuts = equal_partition(grid.y.size, comm().size());
    const RowShare share{cuts[to_size(comm().rank())], cuts[to_size(comm().rank()) + 1],
                         comm().rank(), comm().size()};
    constexpr std::int64_t most_planes = 3;
    const std::unique_ptr<Scheme> scheme = make_stencil_scheme(spec, comm(), share);
    const std::unique_ptr<SchemeWork> work = scheme->make_work(most_planes, n_threads);
    scheme->set_radii(0, ssize64(spec.radii));
    WholePlanes whole(spec);
    const std::int64_t first = share.row_begin * grid.x.size;
    const std::int64_t size = (share.row_end - share.row_begin) * grid.x.size;
    for (const Direction direction : {Direction::average, Direction::transpose}) {
      for (const std::int64_t n_planes : {most_planes, std::int64_t{2}}) {
        const Plane planes = random_plane(n_planes * grid.n_nodes(), 5);
        Plane result(to_size(n_planes * size));
        scheme->clear(*work, direction);
        const std::int64_t before = mpi_bytes_sent() - scheme->bytes_sent(*work);
        scheme->load(*work, {planes.data() + first, n_planes, size, grid.n_nodes()});
        EXPECT_EQ(mpi_bytes_sent() - before, scheme->bytes_sent(*work));
        for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) scheme->add(*work, r, 1);
        scheme->store(*work, {result.data(), n_planes, size}, Accumulate::overwrite);
        for (std::int64_t p = 0; p < n_planes; ++p) {
          const auto begin = planes.begin() + p * grid.n_nodes();
          const Plane plane(begin, begin + grid.n_nodes());
          Plane expected(to_size(size));
          for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
            const Plane one = whole.apply(direction, plane, r);
            for (std::int64_t i = 0; i < size; ++i) expected[to_size(i)] += one[to_size(first + i)];
          }
          EXPECT_LT(
              largest_difference(Plane(result.begin() + p * size, result.begin() + (p + 1) * size),
                                 expected),
              tolerance::rank_invariance * static_cast<double>(ssize64(spec.radii)));
        }
      }
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, RowBands, every_rank_count(), name_of_rank_groups);

TEST_P(RowBands, GiveAveragesOfWholePlanes) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    for (const PlaneBoundary x : boundaries) {
      for (const PlaneBoundary y : boundaries) {
        SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(method) << ", boundaries "
                                        << static_cast<int>(x) << static_cast<int>(y));
        const PlaneGrid grid{plane_axis(12, x, 0, 11), plane_axis(40, y, 0, 31.2)};
        expect_whole_planes(stencil_spec(grid, method, {0.3, 2}));
        expect_whole_planes(stencil_spec(grid, method, {0, 6.1}));
        expect_whole_planes(stencil_spec(grid, method, {25, 50}));
      }
    }
  }
}

TEST_P(RowBands, GiveAveragesOfWholePlanesOnTwoThreads) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    const PlaneGrid grid{plane_axis(12, PlaneBoundary::zero, 0, 11),
                         plane_axis(40, PlaneBoundary::periodic, 0, 31.2)};
    expect_whole_planes(stencil_spec(grid, method, {0.3, 6.1}), 2);
  }
}

TEST_P(RowBands, OfFewerRowsThanRanksGiveAveragesOfWholePlanes) {
  for (const PlaneBoundary y : boundaries) {
    const PlaneGrid grid{plane_axis(11, PlaneBoundary::zero, 0, 10), plane_axis(4, y, 0, 3)};
    expect_whole_planes(stencil_spec(grid, GyroMethod::bilinear, {0.7, 2}));
    if (y != PlaneBoundary::zero)
      expect_whole_planes(stencil_spec(grid, GyroMethod::bicubic, {0.7, 5}));
  }
}

}  // namespace
}  // namespace ringweave::detail::test
