// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "app/plot/mollweide.hpp"
#include "base/checked_cast.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/grid.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

/// Pixel numbers as values, with every 17th pixel unseen.
std::vector<double> numbered_map(const LocalRings& rings) {
  std::vector<double> map;
  for (const PixelSlab& slab : rings.slabs()) {
    for (std::int64_t p = slab.first_global; p < slab.first_global + slab.count; ++p) {
      map.push_back(p % 17 == 0 ? unseen : static_cast<double>(p));
    }
  }
  return map;
}

std::vector<double> sampled(const Communicator& comm, const LocalRings& rings,
                            const MollweideView& view) {
  const std::vector<double> map = numbered_map(rings);
  return sample_mollweide(comm, rings, View<const double>(map.data(), ssize64(map)), 100, 50, view);
}

TEST(SampleMollweideOnRanks, GivesRankZeroThePictureOfOneRank) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  for (const SkyPoint centre : {SkyPoint{std::numbers::pi / 2, 0}, SkyPoint{0.7, -1}}) {
    const MollweideView view(centre);
    const std::vector<double> expected = sampled(Communicator::self(), LocalRings(grid), view);
    on_every_rank_count([&](const Communicator& comm) {
      const RingDistribution rings(grid, ModeLimits(*grid, 8, 8, 0), comm.size());
      const std::vector<double> raster = sampled(comm, rings.rings(comm.rank()), view);
      if (!comm.is_root()) return;
      ASSERT_EQ(raster.size(), expected.size());
      for (std::size_t i = 0; i < raster.size(); ++i) {
        // Sums of a few whole numbers are exact.
        if (!std::isnan(expected[i])) {
          ASSERT_EQ(raster[i], expected[i]) << i;
        } else {
          ASSERT_TRUE(std::isnan(raster[i])) << i;
        }
      }
    });
  }
}

}  // namespace
}  // namespace ringweave::detail::test
