// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/file_kind.hpp"

#include <gtest/gtest.h>

#include "io/unit_name.hpp"
#include "io_support.hpp"

namespace ringweave::detail {
namespace {

TEST(FileKind, GoesByTheExtension) {
  EXPECT_EQ(file_kind("map.fits"), FileKind::fits);
  EXPECT_EQ(file_kind("a.b/map.fit"), FileKind::fits);
  EXPECT_EQ(file_kind("map.fits.gz"), FileKind::fits);
  EXPECT_EQ(file_kind("map.h5"), FileKind::hdf5);
  EXPECT_EQ(file_kind("map.hdf5"), FileKind::hdf5);
  EXPECT_EQ(file_kind("map.nc"), FileKind::netcdf);
  EXPECT_EQ(file_kind("map.nc4"), FileKind::netcdf);
  EXPECT_EQ(file_kind("alm.gfc"), FileKind::coefficients);
  EXPECT_EQ(file_kind("cl.txt"), FileKind::text);
  EXPECT_EQ(file_kind("cl.dat"), FileKind::text);
  EXPECT_EQ(file_kind("cl.tsv"), FileKind::text);
  EXPECT_EQ(file_kind("map.png"), FileKind::picture);
}

TEST(FileKind, OtherNamesAreUsageErrorsThatListTheKinds) {
  for (const char* name : {"map", "map.gz", "map.jpg", "h5", ".h5", "map.h5/", ""}) {
    test::expect_error(ErrorKind::usage, ".fits.gz (FITS)", [&] { file_kind(name); });
  }
}

TEST(FileKind, NamesOfHdf5AreThoseOfBothKinds) {
  for (const char* name : {"a.h5", "a.hdf5", "a.nc", "a.nc4"}) EXPECT_TRUE(is_hdf5_name(name));
  for (const char* name : {"a.txt", "a", "", ".h5", "a.h5:w"}) EXPECT_FALSE(is_hdf5_name(name));
}

TEST(UnitName, IsWhatAstropyParses) {
  EXPECT_EQ(astropy_unit("K_CMB"), "K");
  EXPECT_EQ(astropy_unit("uK_RJ"), "uK");
  EXPECT_EQ(astropy_unit("microK"), "uK");
  EXPECT_EQ(astropy_unit("uK_CMB^2"), "uK^2");
  EXPECT_EQ(astropy_unit("MJy/sr"), "MJy/sr");
  EXPECT_EQ(astropy_unit("mK"), "mK");
}

TEST(UnitName, IsEmptyForWordsAstropyMayNotKnow) {
  EXPECT_EQ(astropy_unit(""), "");
  EXPECT_EQ(astropy_unit("unknown"), "");
  EXPECT_EQ(astropy_unit("K, thermodynamic"), "");
  EXPECT_EQ(astropy_unit("counts"), "");
}

TEST(UnitName, TellsTheTemperatureScale) {
  EXPECT_EQ(temperature_scale("K_CMB"), "CMB thermodynamic");
  EXPECT_EQ(temperature_scale("uK_RJ"), "Rayleigh-Jeans");
  EXPECT_EQ(temperature_scale("K"), "");
}

}  // namespace
}  // namespace ringweave::detail
