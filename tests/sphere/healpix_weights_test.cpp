// SPDX-License-Identifier: GPL-3.0-or-later
#include <fitsio.h>
#include <gtest/gtest.h>
#include <healpix_map.h>
#include <weight_utils.h>

#include <filesystem>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

LocalRings whole(const RingGrid& grid) {
  return LocalRings(std::make_shared<const RingGrid>(grid));
}

std::vector<double> distinct_weights(std::int64_t nside) {
  std::vector<double> compressed(static_cast<std::size_t>((nside + 1) * (3 * nside + 1) / 4));
  std::iota(compressed.begin(), compressed.end(), 1.0);
  return compressed;
}

TEST(PixelWeights, ExpandAsInHealpix) {
  for (const int nside : {1, 2, 3, 4, 7, 16, 33}) {
    const std::vector<double> compressed = distinct_weights(nside);
    Healpix_Map<double> map(nside, RING, SET_NSIDE);
    map.fill(1.0);
    apply_fullweights(map, compressed);
    const std::vector<double> weights =
        expand_pixel_weights(whole(RingGrid::healpix(nside)), compressed);
    ASSERT_EQ(static_cast<int>(weights.size()), map.Npix());
    for (int p = 0; p < map.Npix(); ++p) {
      ASSERT_EQ(weights[static_cast<std::size_t>(p)], map[p])
          << "nside " << nside << " pixel " << p;
    }
  }
}

TEST(PixelWeights, PartsAndSubsetsExpandToTheSameWeights) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(8));
  const std::vector<double> compressed = distinct_weights(8);
  const std::vector<double> all = expand_pixel_weights(whole(*grid), compressed);

  const LocalRings part(grid, {{3, 12}, {19, 28}});
  const std::vector<double> some = expand_pixel_weights(part, compressed);
  for (const PixelSlab& slab : part.slabs()) {
    for (std::int64_t i = 0; i < slab.count; ++i) {
      ASSERT_EQ(some[static_cast<std::size_t>(slab.first_local + i)],
                all[static_cast<std::size_t>(slab.first_global + i)]);
    }
  }

  const RingGrid subset =
      grid->subset(std::vector<RingId>{RingId{2}, RingId{9}, RingId{22}, RingId{30}});
  const std::vector<double> few = expand_pixel_weights(whole(subset), compressed);
  for (const Ring& ring : subset.rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      ASSERT_EQ(few[static_cast<std::size_t>(ring.first_pixel + j)],
                all[static_cast<std::size_t>(ring.source_pixel + j)]);
    }
  }
}

TEST(PixelWeights, WrongLengthsAndOtherGridsAreRefused) {
  const std::vector<double> compressed = distinct_weights(4);
  EXPECT_THROW(expand_pixel_weights(whole(RingGrid::healpix(5)), compressed), UsageError);
  EXPECT_THROW(expand_pixel_weights(whole(RingGrid::fejer(5)), compressed), UsageError);
}

/// Returns the only column of the first table of a FITS file.
std::vector<double> read_column(const std::string& path) {
  fitsfile* file = nullptr;
  int status = 0;
  LONGLONG rows = 0;
  int type = 0;
  long repeat = 0;
  long width = 0;
  fits_open_table(&file, path.c_str(), READONLY, &status);
  fits_get_num_rowsll(file, &rows, &status);
  fits_get_coltype(file, 1, &type, &repeat, &width, &status);
  std::vector<double> values(static_cast<std::size_t>(rows * repeat));
  fits_read_col(file, TDOUBLE, 1, 1, 1, rows * repeat, nullptr, values.data(), nullptr, &status);
  fits_close_file(file, &status);
  return status == 0 ? values : std::vector<double>{};
}

TEST(PixelWeights, PublishedTablesIntegrateToTheSphere) {
  const std::string path = RINGWEAVE_TEST_DATA "/windows/healpix_full_weights_nside_0032.fits";
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "sample data absent: " << path;
  const std::vector<double> weights =
      expand_pixel_weights(whole(RingGrid::healpix(32)), read_column(path));
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  EXPECT_NEAR(sum / static_cast<double>(weights.size()), 1, 1e-12);
}

TEST(RingWeights, AreTheGridsOwnTimesTheCorrectionOfTheNorthernRing) {
  const RingGrid grid = RingGrid::healpix(3);
  const double pixel = grid.ring(RingId{0}).weight;
  EXPECT_EQ(ring_weights(whole(grid)), std::vector<double>(11, pixel));
  const std::vector<double> northern{1, 2, 3, 4, 5, 6};
  const std::vector<double> weights = ring_weights(whole(grid), northern);
  const std::vector<double> expected{1, 2, 3, 4, 5, 6, 5, 4, 3, 2, 1};
  for (std::size_t r = 0; r < 11; ++r) EXPECT_DOUBLE_EQ(weights[r], expected[r] * pixel);

  const RingGrid subset = grid.subset(std::vector<RingId>{RingId{1}, RingId{4}, RingId{8}});
  const std::vector<double> few = ring_weights(whole(subset), northern);
  EXPECT_DOUBLE_EQ(few[0], 2 * pixel);
  EXPECT_DOUBLE_EQ(few[1], 5 * pixel);
  EXPECT_DOUBLE_EQ(few[2], 3 * pixel);
}

TEST(RingWeights, GridsWithoutWeightsAndWrongTablesAreRefused) {
  EXPECT_THROW(ring_weights(whole(RingGrid::from_rings({{1, 0, 4, 0}, {2, 0, 4, 0}}))), UsageError);
  EXPECT_NO_THROW(ring_weights(whole(RingGrid::from_rings({{1, 0, 4, 0}, {2, 0, 4, 0.5}}))));
  const std::vector<double> northern(6, 1.0);
  EXPECT_THROW(ring_weights(whole(RingGrid::healpix(4)), northern), UsageError);
  EXPECT_THROW(ring_weights(whole(RingGrid::gauss_legendre(12)), northern), UsageError);
}

}  // namespace
}  // namespace ringweave::detail
