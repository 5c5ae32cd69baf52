// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/checked_cast.hpp"
#include "io/fits/file.hpp"
#include "io/fits/table.hpp"
#include "io/fits_fixture.hpp"

namespace ringweave::detail {
namespace {

using testing::ElementsAre;

class FitsTableFile : public test::FitsFiles {
 protected:
  static Spectra some_spectra(const std::vector<Spectra::Name>& names, int lmax) {
    Spectra spectra(lmax);
    for (const Spectra::Name name : names) {
      for (int l = 0; l <= lmax; ++l)
        spectra.values(name)[to_size(l)] = l + 0.125 * static_cast<int>(name);
    }
    return spectra;
  }
  std::string name(const char* file) const { return path(std::to_string(comm().rank()) + file); }
};

TEST_F(FitsTableFile, OfTemperatureAloneHasOneColumn) {
  const Spectra spectra = some_spectra({Spectra::TT}, 9);
  write_fits_spectra(name("cl.fits"), spectra, Provenance{}, "K^2");
  const FitsTable table = read_fits_table(name("cl.fits"));
  EXPECT_THAT(table.column_names, ElementsAre("TEMPERATURE"));
  EXPECT_THAT(table.columns[0], testing::ElementsAreArray(spectra.values(Spectra::TT)));
}

TEST_F(FitsTableFile, OfSpectraHasThemInHealpixOrder) {
  const Spectra four = some_spectra({Spectra::TT, Spectra::EE, Spectra::TE}, 3);
  write_fits_spectra(name("cl.fits.gz"), four, Provenance{}, "");
  const FitsTable table = read_fits_table(name("cl.fits.gz"));
  EXPECT_THAT(table.column_names, ElementsAre("TEMPERATURE", "GRADIENT", "CURL", "G-T"));
  EXPECT_THAT(table.columns[2], ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(table.columns[3], testing::ElementsAreArray(four.values(Spectra::TE)));

  const Spectra six = some_spectra(
      {Spectra::TT, Spectra::EE, Spectra::BB, Spectra::TE, Spectra::EB, Spectra::TB}, 0);
  write_fits_spectra(name("cl.fits"), six, Provenance{}, "");
  EXPECT_THAT(read_fits_table(name("cl.fits")).column_names,
              ElementsAre("TEMPERATURE", "GRADIENT", "CURL", "G-T", "C-T", "C-G"));
  EXPECT_EQ(read_fits_table(name("cl.fits")).columns[4][0], 0.125 * static_cast<int>(Spectra::TB));
}

TEST_F(FitsTableFile, CarriesItsProvenanceInKeywords) {
  Provenance provenance;
  provenance.version = "1.2.3";
  provenance.fwhm_degrees = 0.5;
  provenance.beam = std::string(100, 'b');
  provenance.command_line = "ringweave smooth 'a file with \xc3\xa9 and a\nline break'";
  write_fits_spectra(name("cl.fits"), some_spectra({Spectra::TT}, 1), provenance, "");
  FitsFile file = FitsFile::open(name("cl.fits"));
  file.go_to(2);
  EXPECT_EQ(file.text("CREATOR"), "ringweave");
  EXPECT_EQ(file.text("VERSION"), "1.2.3");
  EXPECT_EQ(file.text("FWHM"), "0.5");
}

TEST_F(FitsTableFile, OfDegreesBeginsWhereItsColumnOfDegreesDoes) {
  FitsTable table;
  table.column_names = {"L", "TT"};
  table.units = {"", "uK^2"};
  table.columns = {{2, 3, 4}, {7, 8, 9}};
  const FitsMultipoles multipoles = multipoles_of(table, "cl.fits");
  EXPECT_EQ(multipoles.first, 2);
  EXPECT_THAT(multipoles.column_names, ElementsAre("TT"));
  EXPECT_THAT(multipoles.units, ElementsAre("uK^2"));
  table.column_names[0] = "INDEX";  // of rows
  EXPECT_EQ(multipoles_of(table, "cl.fits").first, 0);
  table.column_names[0] = "ELL";
  table.columns[0][1] = 4;
  EXPECT_THROW(multipoles_of(table, "cl.fits"), DataError);
}

TEST_F(FitsTableFile, WithoutATableIsRefused) {
  fitsfile* handle = nullptr;
  int status = 0;
  fits_create_diskfile(&handle, name("none.fits").c_str(), &status);
  fits_create_img(handle, BYTE_IMG, 0, nullptr, &status);
  fits_close_file(handle, &status);
  ASSERT_EQ(status, 0);
  EXPECT_THROW(read_fits_table(name("none.fits")), DataError);
}

}  // namespace
}  // namespace ringweave::detail
