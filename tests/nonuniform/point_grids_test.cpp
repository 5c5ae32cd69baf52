// SPDX-License-Identifier: GPL-3.0-or-later
// Values at the pixels of a grid are those of a synthesis on it.
#include <gtest/gtest.h>

#include <memory>
#include <numbers>
#include <vector>

#include "nonuniform/point_problem.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/points.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

Directions pixel_centres(const RingGrid& grid) {
  Directions pixels;
  for (const Ring& ring : grid.rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      pixels.add(ring.theta, ring.phi0 + 2 * std::numbers::pi * static_cast<double>(j) /
                                             static_cast<double>(ring.n_phi));
    }
  }
  return pixels;
}

/// The pixels of the whole map in another order: place i holds pixel numbers[i].
struct Shuffled {
  explicit Shuffled(const Directions& pixels) {
    for (std::int64_t i = 0; i < pixels.size(); ++i) numbers.push_back(i);
    std::shuffle(numbers.begin(), numbers.end(), std::mt19937_64(5));
    for (const std::int64_t number : numbers)
      points.add(pixels.theta[to_size(number)], pixels.phi[to_size(number)]);
  }
  std::vector<std::int64_t> numbers;
  Directions points;
};

TEST(PointGrids, ValuesAtShuffledPixelsAreThoseOfASynthesis) {
  constexpr int lmax = 24;
  for (const RingGrid& grid : {RingGrid::healpix(8), RingGrid::gauss_legendre(lmax + 1)}) {
    TransformSpec on_grid;
    on_grid.grid = std::make_shared<const RingGrid>(grid);
    on_grid.lmax = lmax;
    on_grid.fields = FieldSet({0, 2});
    SphericalHarmonicTransform synthesis(Communicator::self(), on_grid);
    const MapBuffer<double> map =
        synthesized(synthesis, random_alm(synthesis.alm_layout(), on_grid.fields));
    const Shuffled shuffled(pixel_centres(grid));
    ASSERT_EQ(shuffled.points.size(), map.size());
    const ComponentBuffer<double> expected = of_numbers(map, shuffled.numbers);
    on_every_rank_count([&](const Communicator& comm) {
      const PointSpec spec = spec_of(lmax, {0, 2}, 1e-10);
      const Dealt mine = deal(comm, shuffled.points, Deal::in_turn);
      PointTransform transform(comm, spec, PointSet(comm, spec, mine.theta, mine.phi));
      auto values = transform.make_values<double>();
      transform.evaluate(random_alm(transform.alm_layout(), spec.fields), values);
      expect_within(relative_error(comm, values, of_numbers(expected, mine.numbers)),
                    tolerance::at_points(spec.epsilon, lmax));
    });
  }
}

}  // namespace
}  // namespace ringweave::detail::test
