// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"

namespace ringweave::detail::test {
namespace {

using Direction = std::array<double, 3>;

std::vector<Direction> directions(const RingGrid& grid) {
  std::vector<Direction> all;
  for (const Ring& ring : grid.rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      const double phi = ring.phi0 + 2 * std::numbers::pi * static_cast<double>(j) /
                                         static_cast<double>(ring.n_phi);
      all.push_back(
          {ring.sin_theta * std::cos(phi), ring.sin_theta * std::sin(phi), ring.cos_theta});
    }
  }
  return all;
}

/// A mask of the whole grid: holes around a pole, across phi = 0, and of one pixel.
std::vector<double> holes(const std::vector<Direction>& pixels) {
  std::vector<double> mask;
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const auto& [x, y, z] = pixels[i];
    const bool masked = z > 0.97 || (x > 0.9 && std::fabs(z) < 0.1) || i == pixels.size() * 5 / 7;
    mask.push_back(masked ? 0 : 0.5 + 0.5 * std::fabs(z));
  }
  return mask;
}

/// This rank's part of a mask of the whole grid.
std::vector<double> part_of(const LocalRings& rings, const std::vector<double>& mask) {
  std::vector<double> part;
  for (const PixelSlab& slab : rings.slabs()) {
    const auto first = mask.begin() + slab.first_global;
    part.insert(part.end(), first, first + slab.count);
  }
  return part;
}

LocalRings rings_of(const Communicator& comm, const std::shared_ptr<const RingGrid>& grid) {
  return RingDistribution(grid, ModeLimits(*grid, 8, 8, 0), comm.size()).rings(comm.rank());
}

TEST_P(OnEveryRankCount, ApodisationFallsWithTheDistanceToTheNearestMaskedPixel) {
  for (const char* name : {"healpix:8", "gauss:15", "clenshaw:17"}) {
    const auto grid = share(RingGrid::from_name(name));
    const std::vector<Direction> pixels = directions(*grid);
    const std::vector<double> mask = holes(pixels);
    const LocalRings rings = rings_of(comm(), grid);
    for (const double angle : {0.3, 2.0, std::numbers::pi}) {
      std::vector<double> found = part_of(rings, mask);
      apodise(comm(), rings, angle, found);
      std::vector<double> expected = mask;
      for (std::size_t i = 0; i < pixels.size(); ++i) {
        double least = 1;  // sin^2(d / 2)
        for (std::size_t k = 0; k < pixels.size(); ++k) {
          if (mask[k] != 0) continue;
          double chord_squared = 0;
          for (std::size_t a = 0; a < 3; ++a)
            chord_squared += (pixels[i][a] - pixels[k][a]) * (pixels[i][a] - pixels[k][a]);
          least = std::min(least, chord_squared / 4);
        }
        const double x = std::sqrt(least) / std::sin(angle / 2);
        if (x < 1) expected[i] *= (1 - std::cos(std::numbers::pi * x)) / 2;
      }
      const std::vector<double> own = part_of(rings, expected);
      for (std::size_t i = 0; i < own.size(); ++i)
        ASSERT_NEAR(found[i], own[i], 1e-12) << name << " " << angle << " pixel " << i;
    }
  }
}

TEST_P(OnEveryRankCount, TheSkyFractionIsTheMeanByArea) {
  for (const char* name : {"healpix:8", "gauss:15"}) {
    const auto grid = share(RingGrid::from_name(name));
    const LocalRings rings = rings_of(comm(), grid);
    std::vector<double> mask;
    for (const Direction& pixel : directions(*grid)) mask.push_back(pixel[2] * pixel[2]);
    const SkyFraction fraction = sky_fraction(comm(), rings, part_of(rings, mask));
    EXPECT_NEAR(fraction.f_sky, 1.0 / 3, 0.003);
    EXPECT_NEAR(fraction.of_squares, 1.0 / 5, 0.003);
  }
}

TEST_P(OnEveryRankCount, AnglesThatAreNoneAreRefused) {
  const LocalRings rings = rings_of(comm(), share(RingGrid::healpix(2)));
  std::vector<double> mask(to_size(rings.n_pixels()), 1.0);
  for (const double angle : {0.0, -1.0, 4.0, std::nan("")})
    EXPECT_THROW(apodise(comm(), rings, angle, mask), UsageError) << angle;
}

TEST_P(OnEveryRankCount, AMaskThatIsTooShortOnOneRankIsRefusedOnAll) {
  const LocalRings rings = rings_of(comm(), share(RingGrid::healpix(2)));
  std::vector<double> mask(to_size(rings.n_pixels() - (comm().is_root() ? 1 : 0)), 1.0);
  EXPECT_THROW(apodise(comm(), rings, 0.1, mask), UsageError);
  EXPECT_THROW(sky_fraction(comm(), rings, mask), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
