// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/chebyshev_operator.hpp"
#include "gyro/cuda/chebyshev_sequence.hpp"
#include "gyro/gyro_problem.hpp"
#include "support/emulated_block.hpp"
#include "support/tolerance.hpp"

// The launches of method chebyshev as loops, against the host's operators.
namespace ringweave::detail::test {
namespace {

using Sequence = gpu::ChebyshevSequence<gpu::EmulatedMachine>;

constexpr double weight = 0.75;

ChunkRange chunks_of(const ChebyshevFold& fold, std::int64_t begin, std::int64_t end) {
  return {begin, end, fold.chunk_begin(begin), fold.chunk_begin(end)};
}

/// Compares the sums of both directions of some planes over one radius, for the targets of a part
/// of the chunks.
void expect_as_the_host(const GyroSpec& spec, std::int64_t n_planes, const ChunkRange& chunks) {
  const ChebyshevFold fold = make_chebyshev_fold(spec);
  const SemiAxes semi{spec.radii[0], spec.radii[0] / 0.85};
  const auto host = make_host_chebyshev_operator(fold, chunks, {semi});
  host->set_radii(0, 1);
  const auto work = host->make_work(n_planes, 1);

  const gpu::ChebyshevPlan plan(fold, chunks);
  gpu::EmulatedMachine machine;
  Sequence sequence(plan, machine);
  std::vector<double> rows(to_size(chunks.n_blocks() * fold.block_size()));
  GaussRules rules;
  const TargetNodes nodes =
      nodes_of_targets(fold, semi.x, semi.y, chunks.block_begin, chunks.block_end, rules);
  sequence.make_rows(nodes, 2 * plan.matrix_size() * gpu::targets_of_group * 8, rows.data());

  const std::vector<double> columns = random_values(n_planes * fold.row_size(), 1);
  const std::vector<double> values = random_values(n_planes * fold.output_size(true), 2);
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const bool is_average = direction == Direction::average;
    const std::int64_t size = n_planes * fold.output_size(is_average);
    const double* const in = is_average ? columns.data() : values.data();
    std::vector<double> expected(to_size(size));
    host->clear(*work, direction, n_planes, expected.data());
    std::vector<double> found(to_size(size), 1.0);
    std::vector<double> sums(to_size(plan.sums_size(Sequence::planes_together)));
    sequence.clear(found.data(), size);
    for (int twice = 0; twice < 2; ++twice) {
      host->add(*work, direction, 0, weight, n_planes, in, expected.data());
      if (is_average) {
        sequence.average(rows.data(), weight, n_planes, in, found.data(), sums.data());
      } else {
        sequence.transpose(rows.data(), weight, n_planes, in, found.data());
      }
    }
    EXPECT_LT(largest_error(found, expected), tolerance::gyroaverage)
        << n_planes << (is_average ? " planes averaged" : " planes transposed");
  }
}

TEST(EmulatedChebyshev, IsTheHosts) {
  for (const double radius : {0.2, 1.3}) {
    for (const std::int64_t n_planes : {1, 3, 11}) {
      const GyroSpec square = gyro_spec(GyroMethod::chebyshev, 13, 13, {radius}, 1);
      GyroSpec rectangle = gyro_spec(GyroMethod::chebyshev, 12, 9, {radius}, 1);
      rectangle.targets_x = 11;
      rectangle.targets_y = 16;
      for (const GyroSpec& spec : {square, rectangle}) {
        const ChebyshevFold fold = make_chebyshev_fold(spec);
        expect_as_the_host(spec, n_planes, chunks_of(fold, 0, fold.n_chunks()));
        if (fold.n_chunks() > 1)
          expect_as_the_host(spec, n_planes, chunks_of(fold, 1, fold.n_chunks()));
      }
    }
  }
}

// More degrees than a block has, more nodes than it takes together, more elements than a part.
TEST(EmulatedChebyshev, OfManyDegreesIsTheHosts) {
  const GyroSpec spec = gyro_spec(GyroMethod::chebyshev, 41, 41, {0.7}, 1);
  const ChebyshevFold fold = make_chebyshev_fold(spec);
  expect_as_the_host(spec, 2, chunks_of(fold, 3, 6));
}

}  // namespace
}  // namespace ringweave::detail::test
