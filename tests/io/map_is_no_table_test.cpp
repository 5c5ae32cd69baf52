// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <hdf5.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/fits/fields.hpp"
#include "io/fits_fixture.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail {
namespace {

using test::error_of;
using test::healpix;
using testing::HasSubstr;

constexpr std::int64_t nside = 8;

/// A map whose header is wrong must not pass for spectra, a beam, a window, weights or a_lm.
class MapIsNoTable : public test::FitsFiles {
 protected:
  std::string write(SkyCoverage coverage, std::size_t n_columns) const {
    const auto grid = healpix(nside);
    const LocalRings rings = my_rings(grid);
    MapHeader header = test::map_header(grid, n_columns);
    header.coverage = coverage;
    const auto n = static_cast<std::int64_t>(n_columns);
    const std::vector<double> map = test::test_map<double>(rings, n);
    write_map(comm(), path("map.fits"), IfExists::overwrite, header, Provenance{}, rings,
              test::view(map, n));
    return path("map.fits");
  }

  void expect_refused(const std::string& file, const std::string& words) const {
    const std::vector<std::pair<const char*, std::function<void()>>> readers{
        {"spectra", [&] { read_spectra(comm(), file); }},
        {"a beam", [&] { read_beam(comm(), file); }},
        {"a window", [&] { read_pixel_window(comm(), file, nside); }},
        {"ring weights", [&] { read_ring_weights(comm(), file, nside); }},
        {"pixel weights", [&] { read_pixel_weights(comm(), file, nside); }},
        {"a_lm", [&] { open_alm(comm(), file); }}};
    for (const auto& [what, read] : readers) {
      const CaughtError error = error_of(read);
      EXPECT_EQ(error.kind, ErrorKind::data) << what << ": " << error.message;
      EXPECT_THAT(error.message, HasSubstr(words)) << what;
    }
  }
};

TEST_F(MapIsNoTable, WhateverItsNsideIs) {
  for (const SkyCoverage coverage : {SkyCoverage::full, SkyCoverage::partial}) {
    for (const long value : {1L, 4L, 8192L}) {
      const std::string file = write(coverage, 2);
      edit(file, [&](fitsfile* handle, int* status) {
        fits_update_key_lng(handle, "NSIDE", value, nullptr, status);
      });
      if (coverage == SkyCoverage::full) {
        EXPECT_EQ(error_of([&] { open_map(comm(), file); }).kind, ErrorKind::data);
      }
      expect_refused(file, "sky map");
    }
  }
}

TEST_F(MapIsNoTable, WithoutMostOfItsKeywords) {
  const std::string file = write(SkyCoverage::full, 1);
  for (const char* keyword : {"PIXTYPE", "INDXSCHM", "ORDERING"}) {
    delete_keyword(file, keyword);
    expect_refused(file, "sky map");
  }
}

TEST_F(MapIsNoTable, InHdf5) {
  const auto grid = healpix(nside);
  const LocalRings rings = my_rings(grid);
  const std::vector<double> map = test::test_map<double>(rings, 1);
  write_map(comm(), path("map.h5"), IfExists::fail, test::map_header(grid, 1), Provenance{}, rings,
            test::view(map, 1));
  Spectra spectra(3);
  spectra.values(Spectra::TT)[2] = 1;
  write_spectra(comm(), path("cl.h5"), IfExists::fail, Provenance{}, spectra, "K^2");
  if (comm().is_root()) {
    const hid_t to = H5Fopen(path("map.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t from = H5Fopen(path("cl.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_GE(H5Ocopy(from, "cl", to, "cl", H5P_DEFAULT, H5P_DEFAULT), 0);
    H5Fclose(from);
    H5Fclose(to);
  }
  comm().barrier();
  EXPECT_NO_THROW(read_spectra(comm(), path("cl.h5")));
  const CaughtError error = error_of([&] { read_spectra(comm(), path("map.h5")); });
  EXPECT_EQ(error.kind, ErrorKind::data);
  EXPECT_THAT(error.message, HasSubstr("holds a sky map (/map); expected spectra"));
}

}  // namespace
}  // namespace ringweave::detail
