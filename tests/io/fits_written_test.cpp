// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/fits/checksum.hpp"
#include "io/fits/header.hpp"
#include "io/fits/table.hpp"
#include "io/fits_fixture.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail {
namespace {

using test::error_of;
using testing::HasSubstr;
using testing::Not;

constexpr std::int64_t fits_block = 2880;

class WrittenFits : public test::FitsFiles {
 protected:
  std::string name(const char* file) const { return path(std::to_string(comm().rank()) + file); }

  static std::string content_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& file, const std::string& content) {
    std::ofstream(file, std::ios::binary) << content;
  }

  /// Returns the HDUs of a sound file, with the sums that they state.
  static std::vector<WrittenHdu> stated_hdus(const std::string& path) {
    FitsFile file = FitsFile::open(path);
    std::vector<WrittenHdu> hdus;
    for (int hdu = 1; file.go_to(hdu); ++hdu) {
      LONGLONG begin = 0;
      LONGLONG data_begin = 0;
      LONGLONG end = 0;
      int status = 0;
      fits_get_hduaddrll(file.handle(), &begin, &data_begin, &end, &status);
      EXPECT_EQ(status, 0);
      hdus.push_back(
          {begin, data_begin, end, static_cast<std::uint32_t>(*file.integer("DATASUM"))});
    }
    return hdus;
  }

  static Spectra some_spectra(int lmax) {
    Spectra spectra(lmax);
    for (int l = 0; l <= lmax; ++l) spectra.values(Spectra::TT)[to_size(l)] = 1.0 / (l + 3);
    return spectra;
  }
};

TEST_F(WrittenFits, AgreesWithItsChecksums) {
  write_fits_spectra(name("cl.fits"), some_spectra(999), Provenance{}, "K^2");
  const std::vector<WrittenHdu> hdus = stated_hdus(name("cl.fits"));
  ASSERT_EQ(hdus.size(), 2U);
  EXPECT_NO_THROW(verify_checksums(name("cl.fits"), hdus));
}

TEST_F(WrittenFits, ThatChangesBeforeItIsReadAgainIsAnError) {
  write_fits_spectra(name("cl.fits"), some_spectra(999), Provenance{}, "K^2");
  const std::vector<WrittenHdu> hdus = stated_hdus(name("cl.fits"));
  const std::string whole = content_of(name("cl.fits"));
  const auto refused = [&](const std::string& content, const char* words) {
    put(name("damaged.fits"), content);
    const CaughtError error = error_of([&] { verify_checksums(name("damaged.fits"), hdus); });
    EXPECT_EQ(error.kind, ErrorKind::resource) << words;
    EXPECT_THAT(error.message, HasSubstr("what was written is not what is on disk"));
    EXPECT_THAT(error.message, HasSubstr(words));
  };
  for (std::size_t i = 0; i < hdus.size(); ++i) {
    std::vector<std::int64_t> places{hdus[i].begin, hdus[i].data_begin - 1};
    if (hdus[i].data_begin < hdus[i].end) {
      places.push_back(hdus[i].data_begin);
      places.push_back(hdus[i].end - 1);
    }
    for (const std::int64_t place : places) {
      std::string damaged = whole;
      damaged[to_size(place)] = static_cast<char>(damaged[to_size(place)] ^ 4);
      refused(damaged, i == 0 ? "(HDU 1)" : "(HDU 2)");
    }
  }
  std::string zeros = whole;
  std::fill(zeros.begin() + hdus[1].begin, zeros.end(), '\0');
  refused(zeros, "(HDU 2)");
  zeros = whole;
  std::fill(zeros.begin() + hdus[1].data_begin, zeros.end(), '\0');
  refused(zeros, "(HDU 2)");
  refused(whole.substr(0, whole.size() - fits_block), "it ends at byte");
  refused(whole + std::string(fits_block, ' '), "instead of");
  refused("", "it ends at byte 0");
}

/// cfitsio drops the errors of some writes: blocks that were handed over do not reach the disk.
TEST_F(WrittenFits, IsComparedWhenItIsClosed) {
  constexpr std::int64_t rows = 200'000;
  constexpr std::int64_t damaged_byte = 400'000;  // beyond the buffers of cfitsio
  const std::vector<double> values(to_size(rows), 1.5);
  const auto write = [&](bool damage) {
    FitsFile file = FitsFile::create(name("map.fits"));
    append_table(file, "MAP", rows, {{"T", "1D", "K"}});
    file.write(1, 1, 0, std::span<const double>(values));
    if (damage) {
      std::fstream disk(name("map.fits"), std::ios::binary | std::ios::in | std::ios::out);
      disk.seekp(damaged_byte);
      disk.put('\0');
    }
    file.close();
  };
  EXPECT_NO_THROW(write(false));
  const CaughtError error = error_of([&] { write(true); });
  EXPECT_EQ(error.kind, ErrorKind::resource);
  EXPECT_THAT(error.message,
              HasSubstr("map.fits: what was written is not what is on disk (HDU 2)"));
}

TEST_F(WrittenFits, ThatIsRefusedIsCalledByItsOwnName) {
  const auto grid = test::healpix(4);
  const LocalRings rings = my_rings(grid);
  const std::vector<double> map(to_size(rings.n_pixels()), 1e300);
  MapHeader header = test::map_header(grid, 1);
  header.precision = Precision::single_;
  for (const char* file : {"sky.fits", "sky.fits.gz"}) {
    const CaughtError error = error_of([&] {
      write_map(comm(), path(file), IfExists::fail, header, Provenance{}, rings,
                test::view(map, 1));
    });
    EXPECT_EQ(error.kind, ErrorKind::data);
    EXPECT_THAT(error.message, HasSubstr(path(file) + ", HDU 2: the value"));
    EXPECT_THAT(error.message, Not(HasSubstr(".tmp.")));
    comm().barrier();
    EXPECT_FALSE(std::filesystem::exists(path(file)));
  }
}

}  // namespace
}  // namespace ringweave::detail
