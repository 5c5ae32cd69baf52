// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>

#include "base/checked_cast.hpp"
#include "io/fits_fixture.hpp"
#include "ringweave/files.hpp"
#include "support/file_size_limit.hpp"

namespace ringweave::detail {
namespace {

using test::error_of;
using test::healpix;
using test::map_header;
using test::test_map;
using test::test_value;
using test::view;
using testing::HasSubstr;

class FitsMap : public test::FitsFiles {
 protected:
  /// Writes the test map; returns the name of the file.
  template <class T>
  std::string write(const std::string& name, const MapHeader& header,
                    const LocalRings& rings) const {
    const auto n_columns = ssize64(header.columns);
    const std::vector<T> map = test_map<T>(rings, n_columns);
    write_fits_map<T>(comm(), path(name), header, Provenance{}, rings, view(map, n_columns));
    return path(name);
  }
  std::string write_iqu(std::int64_t nside) const {
    const auto grid = healpix(nside);
    return write<double>("iqu.fits", map_header(grid, 3), my_rings(grid));
  }
  std::string write_partial(const std::vector<RingId>& kept) const {
    const auto grid = healpix(8);
    MapHeader header = map_header(grid, 2);
    header.coverage = SkyCoverage::partial;
    return write<double>("partial.fits", header,
                         my_rings(std::make_shared<const RingGrid>(grid->subset(kept))));
  }
  /// Reads all columns of this rank's pixels of the full grid.
  std::vector<double> read_all(MapReader& reader) const {
    const auto n_columns = ssize64(reader.header().columns);
    const LocalRings rings = my_rings(reader.header().grid);
    std::vector<double> map(to_size(rings.n_pixels() * n_columns), -1.0);
    std::vector<int> columns(to_size(n_columns));
    std::iota(columns.begin(), columns.end(), 0);
    reader.read(columns, rings, view(map, n_columns));
    return map;
  }
  CaughtError opening_error(const std::string& file) const {
    return error_of([&] { read_all(*open_fits_map(comm(), file)); });
  }
  void expect_data_error(const std::string& file, const std::string& words) const {
    const CaughtError error = opening_error(file);
    EXPECT_EQ(error.kind, ErrorKind::data) << error.message;
    EXPECT_THAT(error.message, HasSubstr(words));
  }
};

template <class T>
class FitsMapOf : public FitsMap {};
using Storages = testing::Types<float, double>;
TYPED_TEST_SUITE(FitsMapOf, Storages);

TYPED_TEST(FitsMapOf, ComesBackAsWrittenInEitherOrderAndPrecision) {
  for (const std::int64_t nside : {1, 2, 8, 16}) {
    for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
      for (const Precision precision : {Precision::single_, Precision::double_}) {
        const auto grid = healpix(nside);
        const LocalRings rings = this->my_rings(grid);
        MapHeader header = map_header(grid, 3);
        header.ordering = ordering;
        header.precision = precision;
        header.coordsys = "G";
        header.columns[0].unit = "K_CMB";
        const auto reader =
            open_fits_map(this->comm(), this->template write<TypeParam>("map.fits", header, rings));
        EXPECT_EQ(reader->header().grid->nside(), nside);
        EXPECT_EQ(reader->header().ordering, ordering);
        EXPECT_EQ(reader->header().precision, precision);
        EXPECT_EQ(reader->header().coverage, SkyCoverage::full);
        EXPECT_EQ(reader->header().coordsys, "G");
        EXPECT_EQ(reader->header().columns[0].unit, "K_CMB");
        EXPECT_EQ(reader->header().columns[2].name, "U_POLARISATION");
        EXPECT_THAT(reader->header().warnings, testing::IsEmpty());
        EXPECT_EQ(this->read_all(*reader), test_map<double>(rings, 3));
      }
    }
  }
}

TYPED_TEST(FitsMapOf, SelectsColumnsInTheOrderAskedFor) {
  const auto grid = healpix(4);
  const LocalRings rings = this->my_rings(grid);
  const auto reader = open_fits_map(
      this->comm(), this->template write<TypeParam>("map.fits", map_header(grid, 3), rings));
  std::vector<TypeParam> map(to_size(2 * rings.n_pixels()));
  reader->read(std::vector{2, 0}, rings, view(map, 2));
  test::for_each_pixel(rings, [&](std::int64_t local, std::int64_t pixel) {
    ASSERT_EQ(static_cast<double>(map[to_size(local)]), test_value(pixel, 2));
    ASSERT_EQ(static_cast<double>(map[to_size(rings.n_pixels() + local)]), test_value(pixel, 0));
  });
}

TEST_F(FitsMap, TakesAnyNside) {
  for (const std::int64_t nside : {3, 12, 20}) {
    const auto grid = healpix(nside);
    const auto reader =
        open_fits_map(comm(), write<double>("map.fits", map_header(grid, 1), my_rings(grid)));
    EXPECT_EQ(read_all(*reader), test_map<double>(my_rings(grid), 1)) << nside;
  }
}

TEST_F(FitsMap, LargerThanABlockComesBackAsWritten) {
  const auto grid = healpix(320);
  for (const SkyCoverage coverage : {SkyCoverage::full, SkyCoverage::partial}) {
    MapHeader header = map_header(grid, 1);
    header.coverage = coverage;
    header.precision = Precision::single_;
    const auto reader = open_fits_map(comm(), write<float>("map.fits", header, my_rings(grid)));
    EXPECT_EQ(reader->header().coverage, coverage);
    EXPECT_EQ(read_all(*reader), test_map<double>(my_rings(grid), 1));
  }
}

TEST_F(FitsMap, OfRingsInAPartialFileListsTheirPixelsAndNoOthers) {
  const std::vector<RingId> kept{RingId{2}, RingId{3}, RingId{17}, RingId{30}};
  const auto reader = open_fits_map(comm(), write_partial(kept));
  EXPECT_EQ(reader->header().coverage, SkyCoverage::partial);
  EXPECT_EQ(reader->header().listed_pixels, 12 + 16 + 32 + 4);
  EXPECT_EQ(reader->observed_rings(), kept);
  const std::vector<double> map = read_all(*reader);
  const LocalRings rings = my_rings(reader->header().grid);
  for (std::int64_t c = 0; c < 2; ++c) {
    test::for_each_pixel(rings, [&](std::int64_t local, std::int64_t pixel) {
      const bool listed =
          std::find(kept.begin(), kept.end(), rings.grid().ring_of_pixel(pixel)) != kept.end();
      ASSERT_EQ(map[to_size(c * rings.n_pixels() + local)], listed ? test_value(pixel, c) : unseen);
    });
  }
}

TEST_F(FitsMap, OfAPartialFileIsReadToASubsetOfRings) {
  const auto reader = open_fits_map(comm(), write_partial({RingId{2}, RingId{3}, RingId{17}}));
  const std::vector<RingId> observed = reader->observed_rings();
  const auto cut = std::make_shared<const RingGrid>(reader->header().grid->subset(observed));
  const LocalRings rings = my_rings(cut);
  std::vector<double> map(to_size(2 * rings.n_pixels()));
  reader->read(std::vector{0, 1}, rings, view(map, 2));
  EXPECT_EQ(map, test_map<double>(rings, 2));
}

TEST_F(FitsMap, WithPixelNumbersBeyond32BitsComesBackAsWritten) {
  const auto grid = healpix(16384);
  const std::vector<RingId> kept{RingId{60000}, RingId{grid->n_rings() - 1}};
  const auto south = std::make_shared<const RingGrid>(grid->subset(kept));
  MapHeader header = map_header(grid, 1);
  header.coverage = SkyCoverage::partial;
  const auto reader = open_fits_map(comm(), write<double>("map.fits", header, my_rings(south)));
  EXPECT_EQ(reader->header().listed_pixels, south->n_pixels());
  EXPECT_EQ(reader->observed_rings(), kept);
  const LocalRings rings = my_rings(south);
  std::vector<double> map(to_size(rings.n_pixels()));
  reader->read(std::vector{0}, rings, view(map, 1));
  EXPECT_EQ(map, test_map<double>(rings, 1));
}

TEST_F(FitsMap, OfASubsetInAFullFileIsUnseenElsewhere) {
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    const auto grid = healpix(8);
    const std::vector<RingId> kept{RingId{0}, RingId{15}};
    MapHeader header = map_header(grid, 1);
    header.ordering = ordering;
    const auto cut = std::make_shared<const RingGrid>(grid->subset(kept));
    const auto reader = open_fits_map(comm(), write<double>("map.fits", header, my_rings(cut)));
    const LocalRings rings = my_rings(grid);
    const std::vector<double> map = read_all(*reader);
    test::for_each_pixel(rings, [&](std::int64_t local, std::int64_t pixel) {
      const std::int64_t ring = index(grid->ring_of_pixel(pixel));
      ASSERT_EQ(map[to_size(local)], ring == 0 || ring == 15 ? test_value(pixel, 0) : unseen);
    });
  }
}

TEST_F(FitsMap, LeavesPixelsUnseenInEveryColumnOutOfAPartialFile) {
  const auto grid = healpix(4);
  const LocalRings rings = my_rings(grid);
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    MapHeader header = map_header(grid, 2);
    header.coverage = SkyCoverage::partial;
    header.ordering = ordering;
    std::vector<double> map = test_map<double>(rings, 2);
    test::for_each_pixel(rings, [&](std::int64_t local, std::int64_t pixel) {
      if (pixel % 3 == 0) map[to_size(local)] = unseen;
      if (pixel % 6 == 0) map[to_size(rings.n_pixels() + local)] = unseen;
    });
    write_fits_map<double>(comm(), path("map.fits"), header, Provenance{}, rings,
                           view(std::as_const(map), 2));
    const auto reader = open_fits_map(comm(), path("map.fits"));
    EXPECT_EQ(reader->header().listed_pixels, 192 - 32);
    EXPECT_EQ(read_all(*reader), map);
  }
}

TEST_F(FitsMap, IsTheSameFileOnAnyNumberOfRanks) {
  const auto grid = healpix(16);
  MapHeader header = map_header(grid, 2);
  header.ordering = Ordering::nested;
  const std::string together = write<double>("together.fits", header, my_rings(grid));
  if (comm().is_root()) {
    const LocalRings whole(grid);
    write_fits_map<double>(
        Communicator::self(), path("alone.fits"), header, Provenance{}, whole,
        view(std::as_const(*std::make_unique<std::vector<double>>(test_map<double>(whole, 2))), 2));
    const auto bytes = [](const std::string& name) {
      std::ifstream in(name, std::ios::binary);
      return std::string(std::istreambuf_iterator<char>(in), {});
    };
    EXPECT_EQ(bytes(together), bytes(path("alone.fits")));
  }
}

TEST_F(FitsMap, IsReadFromGzip) {
  const auto grid = healpix(8);
  const std::vector<double> map = test_map<double>(my_rings(grid), 1);
  write_fits_map<double>(comm(), path("map.fits.gz"), map_header(grid, 1), Provenance{},
                         my_rings(grid), view(map, 1));
  EXPECT_EQ(read_all(*open_fits_map(comm(), path("map.fits.gz"))), map);
  if (comm().is_root()) {
    EXPECT_FALSE(std::filesystem::exists(path("map.fits.gz.gz")));
    std::filesystem::resize_file(path("map.fits.gz"),
                                 std::filesystem::file_size(path("map.fits.gz")) - 20);
  }
  comm().barrier();
  expect_data_error(path("map.fits.gz"), "gzip");
}

TEST_F(FitsMap, InTheIauConventionChangesTheSignOfUButNotOfUnseen) {
  const auto grid = healpix(4);
  const LocalRings rings = my_rings(grid);
  std::vector<double> map = test_map<double>(rings, 3);
  for (std::int64_t i = 0; i < ssize64(map); i += 5) map[to_size(i)] = unseen;
  write_fits_map<double>(comm(), path("map.fits"), map_header(grid, 3), Provenance{}, rings,
                         view(std::as_const(map), 3));
  set_keyword(path("map.fits"), "POLCCONV", "IAU");
  const auto reader = open_fits_map(comm(), path("map.fits"));
  EXPECT_TRUE(reader->header().polarisation_was_iau);
  for (std::int64_t i = 2 * rings.n_pixels(); i < 3 * rings.n_pixels(); ++i) {
    if (map[to_size(i)] != unseen) map[to_size(i)] *= -1;
  }
  EXPECT_EQ(read_all(*reader), map);
}

TEST_F(FitsMap, WithBadDataHasThoseValuesUnseen) {
  const std::string file = write_iqu(2);
  edit(file, [](fitsfile* handle, int* status) {
    fits_update_key_dbl(handle, "BAD_DATA", 7.25, 6, nullptr, status);
  });
  const LocalRings rings = my_rings(healpix(2));
  std::vector<double> expected = test_map<double>(rings, 3);
  std::replace(expected.begin(), expected.end(), 7.25, unseen);
  EXPECT_EQ(read_all(*open_fits_map(comm(), file)), expected);
}

TEST_F(FitsMap, KeepsNan) {
  const auto grid = healpix(2);
  const LocalRings rings = my_rings(grid);
  std::vector<double> map(to_size(rings.n_pixels()), std::numeric_limits<double>::quiet_NaN());
  write_fits_map<double>(comm(), path("map.fits"), map_header(grid, 1), Provenance{}, rings,
                         view(std::as_const(map), 1));
  for (const double value : read_all(*open_fits_map(comm(), path("map.fits"))))
    EXPECT_TRUE(std::isnan(value));
}

TEST_F(FitsMap, WithoutItsKeywordsIsReadWithWarnings) {
  const std::string file = write_iqu(4);
  for (const char* keyword :
       {"NSIDE", "ORDERING", "PIXTYPE", "INDXSCHM", "OBJECT", "POLCCONV", "BAD_DATA"}) {
    delete_keyword(file, keyword);
  }
  const auto reader = open_fits_map(comm(), file);
  EXPECT_EQ(reader->header().grid->nside(), 4);
  EXPECT_EQ(reader->header().warnings.size(), 3U);
  EXPECT_EQ(read_all(*reader), test_map<double>(my_rings(reader->header().grid), 3));
}

TEST_F(FitsMap, WithNsideAsTextOrOrderingInSmallLettersIsRead) {
  const std::string file = write_iqu(4);
  set_keyword(file, "NSIDE", "4");
  set_keyword(file, "ORDERING", "nest");
  const auto reader = open_fits_map(comm(), file);
  EXPECT_EQ(reader->header().grid->nside(), 4);
  EXPECT_EQ(reader->header().ordering, Ordering::nested);
  EXPECT_EQ(reader->header().warnings.size(), 1U);
}

TEST_F(FitsMap, WithAWrongHeaderIsRefused) {
  const std::string file = write_iqu(4);
  set_keyword(file, "NSIDE", "8");
  expect_data_error(file, "NSIDE = 8 needs 768 pixels, column 1 (TEMPERATURE) has 192");
  set_keyword(file, "NSIDE", "many");
  expect_data_error(file, "NSIDE = 'many' is not a number");
  set_keyword(file, "NSIDE", "1000000000");
  expect_data_error(file, "outside 1..131072");
  set_keyword(file, "NSIDE", "4");
  set_keyword(file, "ORDERING", "SPIRAL");
  expect_data_error(file, "expected RING or NESTED");
}

TEST_F(FitsMap, WithPixelsOutOfRangeOrTwiceIsRefused) {
  const std::string file = write_partial({RingId{2}, RingId{3}});
  const auto set_pixel = [&](long row, int pixel) {
    edit(file, [&](fitsfile* handle, int* status) {
      fits_write_col_int(handle, 1, row, 1, 1, &pixel, status);
    });
  };
  set_pixel(5, 768);
  expect_data_error(file, "row 5 lists pixel 768, NSIDE = 8 has pixels 0..767");
  set_pixel(5, -1);
  expect_data_error(file, "lists pixel -1");
  set_pixel(5, 20);
  expect_data_error(file, "lists pixel 20 more than once");
}

TEST_F(FitsMap, OnAnotherGridOrShapeIsAUsageError) {
  const auto gauss = std::make_shared<const RingGrid>(RingGrid::gauss_legendre(8));
  const CaughtError error =
      error_of([&] { write<double>("map.fits", map_header(gauss, 1), my_rings(gauss)); });
  EXPECT_EQ(error.kind, ErrorKind::usage);
  EXPECT_THAT(error.message, HasSubstr("write HDF5"));

  const auto reader = open_fits_map(comm(), write_iqu(4));
  const LocalRings rings = my_rings(reader->header().grid);
  std::vector<double> map(to_size(rings.n_pixels()));
  EXPECT_THROW(reader->read(std::vector{3}, rings, view(map, 1)), UsageError);
  EXPECT_THROW(reader->read(std::vector{-1}, rings, view(map, 1)), UsageError);
  EXPECT_THROW(reader->read(std::vector{0}, my_rings(healpix(8)), view(map, 1)), UsageError);
}

TEST_F(FitsMap, WithAValueBeyondSinglePrecisionIsRefusedAsSingle) {
  const auto grid = healpix(2);
  const LocalRings rings = my_rings(grid);
  MapHeader header = map_header(grid, 1);
  header.precision = Precision::single_;
  const std::vector<double> map(to_size(rings.n_pixels()), 1e300);
  const CaughtError error = error_of([&] {
    write_fits_map<double>(comm(), path("map.fits"), header, Provenance{}, rings, view(map, 1));
  });
  EXPECT_EQ(error.kind, ErrorKind::data) << error.message;
}

TEST_F(FitsMap, OnAFullDiskIsAResourceErrorOnEveryRank) {
  for (const std::int64_t nside : {16, 128}) {
    const auto grid = healpix(nside);
    const CaughtError error = error_of([&] {
      const test::FileSizeLimit small(20000);
      write<double>("map.fits", map_header(grid, 1), my_rings(grid));
    });
    EXPECT_EQ(error.kind, ErrorKind::resource) << error.message;
  }
}

}  // namespace
}  // namespace ringweave::detail
