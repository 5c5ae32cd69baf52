// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/fits/file.hpp"
#include "io/fits/header.hpp"
#include "io/fits/table.hpp"
#include "io/fits_fixture.hpp"
#include "io/spectra_table.hpp"
#include "support/expect_error.hpp"

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
  /// Writes a table whose column c has the numbers 10 c, 10 c + 1 and 10 c + 2, in unit `uc`, and
  /// reads it as spectra; a first column ELL counts from 2.
  SpectraFile read_columns(const std::vector<std::string>& names) const {
    const std::string path = name("columns.fits");
    std::vector<FitsColumnSpec> specs;
    for (std::size_t c = 0; c < names.size(); ++c)
      specs.push_back({names[c], "1D", "u" + std::to_string(c)});
    FitsFile file = FitsFile::create(path);
    append_table(file, "SOME", 3, specs);
    for (int c = 0; c < static_cast<int>(names.size()); ++c) {
      const double first = c == 0 && names[0] == "ELL" ? 2 : 10 * c;
      file.write(c + 1, 1, 0, std::vector<double>{first, first + 1, first + 2});
    }
    file.close();
    return read_fits_spectra(path, SpectrumKind::c_l);
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

TEST_F(FitsTableFile, OfSpectraIsReadByTheNamesOfItsColumns) {
  struct Case {
    std::vector<std::string> columns;
    std::vector<std::pair<Spectra::Name, int>> read;  ///< a spectrum and its column
    std::vector<std::string> left_out{};
  };
  using enum Spectra::Name;
  for (const Case& of : {
           Case{{"ELL", "TT", "TE"}, {{TT, 1}, {TE, 2}}},
           Case{{"te", "tt", "ERROR"}, {{TE, 0}, {TT, 1}}, {"ERROR"}},
           Case{{"G-T", "CURL", "TEMPERATURE", "GRADIENT"}, {{TE, 0}, {BB, 1}, {TT, 2}, {EE, 3}}},
           Case{{"TEMPERATURE", "GC", "CG"}, {{TT, 0}, {EB, 1}, {BE, 2}}},
           Case{{"TEMPERATURE", "E-mode C_l", "B-mode C_l", "E-T cross corr."},
                {{TT, 0}, {EE, 1}, {BB, 2}, {TE, 3}}},
           Case{{"P-P", "TEMPERATURE"}, {{PP, 0}, {TT, 1}}},
           Case{{"ELL", "D_ELL", "ERR"}, {{TT, 1}}, {"ERR"}},
           Case{{"A", "B", "C", "D", "E"}, {{TT, 0}, {EE, 1}, {BB, 2}, {TE, 3}, {TB, 4}}},
       }) {
    SCOPED_TRACE(of.columns.front() + " ... " + of.columns.back());
    const SpectraFile file = read_columns(of.columns);
    int n_read = 0;
    for (const Spectra::Name name : {TT, EE, BB, TE, EB, TB, ET, BE, BT, PP, TP, EP})
      n_read += file.spectra.has(name) ? 1 : 0;
    EXPECT_EQ(n_read, static_cast<int>(of.read.size()));
    for (const auto& [name, column] : of.read)
      EXPECT_EQ(file.spectra(name, file.spectra.lmax()), 10 * column + 2);
    EXPECT_EQ(file.ignored_columns, of.left_out);
    const auto of_sky = std::find_if(of.read.begin(), of.read.end(),
                                     [](const auto& read) { return read.first != PP; });
    EXPECT_EQ(file.unit, "u" + std::to_string(of_sky->second));
  }
}

TEST_F(FitsTableFile, OfTwoColumnsForOneSpectrumIsRefused) {
  test::expect_error(ErrorKind::data, "its columns TEMPERATURE and TT are both TT", [&] {
    read_columns({"TEMPERATURE", "EE", "TT"});
  });
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
