// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <complex>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>

#include "base/checked_cast.hpp"
#include "io/fits/fields.hpp"
#include "io/fits/table.hpp"
#include "io/fits_fixture.hpp"

namespace ringweave::detail {
namespace {

using test::error_of;
using test::healpix;
using test::map_header;
using test::view;
using testing::AnyOf;

constexpr std::int64_t fits_block = 2880;

/// Damaged files: every rank must return the same kind of result, and never crash, hang or use much
/// memory.
class DamagedFits : public test::FitsFiles {
 protected:
  std::string write_map(SkyCoverage coverage) const {
    const auto grid = healpix(16);
    MapHeader header = map_header(grid, 2);
    header.coverage = coverage;
    const LocalRings rings = my_rings(grid);
    const std::vector<double> map = test::test_map<double>(rings, 2);
    write_fits_map<double>(comm(), path("map.fits"), header, Provenance{}, rings, view(map, 2));
    return path("map.fits");
  }
  std::string write_alm() const {
    const AlmLayout layout(40, 40, comm().is_root() ? orders_to(40) : std::vector<int>{});
    const std::vector<std::complex<double>> alm(to_size(2 * layout.size()), {1.0, 2.0});
    AlmHeader header;
    header.lmax = header.mmax = 40;
    header.components = {"E", "B"};
    write_fits_alm<double>(comm(), path("alm.fits"), header, Provenance{}, layout,
                           AlmView<const double>(alm.data(), 2, layout.size()));
    return path("alm.fits");
  }
  static std::vector<int> orders_to(int mmax) {
    std::vector<int> orders(to_size(mmax + 1));
    std::iota(orders.begin(), orders.end(), 0);
    return orders;
  }

  void read_map(const std::string& file) const {
    const auto reader = open_fits_map(comm(), file);
    reader->observed_rings();
    // A damaged header may describe a large but valid grid; reading the first column is enough.
    if (reader->header().grid->nside() > 64) return;
    const LocalRings rings = my_rings(reader->header().grid);
    std::vector<double> map(to_size(rings.n_pixels()));
    reader->read(std::vector{0}, rings, view(map, 1));
  }
  void read_alm(const std::string& file) const {
    const auto reader = open_fits_alm(comm(), file);
    const AlmLayout layout(40, 40, comm().is_root() ? orders_to(40) : std::vector<int>{});
    std::vector<std::complex<double>> alm(to_size(layout.size()));
    for (int c = 0; c < static_cast<int>(reader->header().components.size()); ++c) {
      reader->read(std::vector{c}, layout, AlmView<double>(alm.data(), 1, layout.size()));
    }
  }
  void read_table(const std::string& file) const { read_fits_table(file); }

  std::string bytes_of(const std::string& file) const {
    comm().barrier();
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::string put(const std::string& bytes) const {
    comm().barrier();
    if (comm().is_root()) std::ofstream(path("damaged.fits"), std::ios::binary) << bytes;
    comm().barrier();
    return path("damaged.fits");
  }

  /// Every length that ends inside the headers or the data of the first `promised` bytes must be
  /// refused.
  template <class Read>
  void expect_refused_when_cut(const std::string& whole, Read&& read) const {
    for (std::int64_t end = 0; end < ssize64(whole); end += fits_block) {
      for (const std::int64_t length : {end - 1, end, end + 1, end + 1500}) {
        if (length < 0 || length > ssize64(whole) - fits_block) continue;
        const CaughtError error = error_of([&] { read(put(whole.substr(0, to_size(length)))); });
        EXPECT_EQ(error.kind, ErrorKind::data) << length << " bytes: " << error.message;
      }
    }
  }
  /// Flips one bit of the headers at a time, `trials` times.
  template <class Read>
  void survive_flipped_bits(const std::string& whole, std::int64_t header_bytes, int trials,
                            Read&& read) const {
    std::mt19937 random(2718);
    for (int trial = 0; trial < trials; ++trial) {
      std::string damaged = whole;
      char& byte = damaged[random() % to_size(header_bytes)];
      byte = static_cast<char>(static_cast<unsigned char>(byte) ^ (1U << (random() % 8)));
      const CaughtError error = error_of([&] { read(put(damaged)); });
      EXPECT_THAT(error.kind, AnyOf(ErrorKind::none, ErrorKind::data, ErrorKind::resource))
          << error.message;
    }
  }
};

TEST_F(DamagedFits, MapCutShortIsRefused) {
  for (const SkyCoverage coverage : {SkyCoverage::full, SkyCoverage::partial}) {
    expect_refused_when_cut(bytes_of(write_map(coverage)),
                            [&](const std::string& file) { read_map(file); });
  }
}

TEST_F(DamagedFits, TableCutShortIsRefused) {
  expect_refused_when_cut(bytes_of(write_map(SkyCoverage::full)),
                          [&](const std::string& file) { read_table(file); });
}

TEST_F(DamagedFits, AlmCutShortIsRefused) {
  const std::string whole = bytes_of(write_alm());
  for (std::int64_t end = 0; end < ssize64(whole) - fits_block; end += fits_block) {
    for (const std::int64_t length : {end + 1, end + 1500, end + fits_block}) {
      const std::string file = put(whole.substr(0, to_size(length)));
      const CaughtError error = error_of([&] { read_alm(file); });
      EXPECT_EQ(error.kind, ErrorKind::data) << length << " bytes: " << error.message;
    }
  }
}

TEST_F(DamagedFits, FlippedBitsInTheHeaderNeverCrash) {
  survive_flipped_bits(bytes_of(write_map(SkyCoverage::full)), 3 * fits_block, 300,
                       [&](const std::string& file) { read_map(file); });
  survive_flipped_bits(bytes_of(write_map(SkyCoverage::partial)), 3 * fits_block, 300,
                       [&](const std::string& file) { read_map(file); });
  survive_flipped_bits(bytes_of(write_alm()), 2 * fits_block, 300,
                       [&](const std::string& file) { read_alm(file); });
  survive_flipped_bits(bytes_of(write_map(SkyCoverage::full)), 3 * fits_block, 300,
                       [&](const std::string& file) { read_table(file); });
}

TEST_F(DamagedFits, NamesThatAreNoFitsFilesAreRefused) {
  if (comm().is_root()) {
    std::ofstream(path("empty.fits"));
    std::ofstream(path("text.fits")) << "# l C_l\n0 1\n";
    std::ofstream(path("short.fits")) << "SIMPLE";
    std::ofstream(path("bad.fits.gz")) << "\x1f\x8b nonsense";
    std::filesystem::create_directory(path("folder.fits"));
  }
  comm().barrier();
  for (const char* name : {"missing.fits", "empty.fits", "text.fits", "short.fits", "bad.fits.gz",
                           "folder.fits", "missing.fits[1]", "http://example.org/map.fits"}) {
    for (const auto& open :
         {+[](const Communicator&comm, const std::string&file) { open_fits_map(comm, file); },
          +[](const Communicator&comm, const std::string&file) { open_fits_alm(comm, file); }}) {
      const CaughtError error = error_of([&] { open(comm(), path(name)); });
      EXPECT_EQ(error.kind, ErrorKind::data) << name << ": " << error.message;
      EXPECT_THAT(error.message, testing::HasSubstr(name));
    }
  }
}

TEST_F(DamagedFits, HeadersThatPromiseTooMuchAreRefused) {
  for (const char* rows : {"4", "1000000000", "4611686018427387904", "9223372036854775807", "-3"}) {
    std::string bytes = bytes_of(write_map(SkyCoverage::full));
    const auto card = bytes.find("NAXIS2  = ");
    ASSERT_NE(card, std::string::npos);
    bytes.replace(card + 10, 20, std::string(20 - std::string(rows).size(), ' ') + rows);
    const CaughtError error = error_of([&] { read_map(put(bytes)); });
    EXPECT_EQ(error.kind, ErrorKind::data) << rows << ": " << error.message;
  }
}

TEST_F(DamagedFits, FilesThatChangeWhileTheyAreReadAreErrors) {
  const auto append = [&](const std::string& file) {
    if (comm().is_root()) std::ofstream(file, std::ios::app) << std::string(fits_block, ' ');
    comm().barrier();
  };
  const std::string map_file = write_map(SkyCoverage::partial);
  const auto map_reader = open_fits_map(comm(), map_file);
  const LocalRings rings = my_rings(map_reader->header().grid);
  std::vector<double> map(to_size(rings.n_pixels()));
  const auto read_map_again = [&] { map_reader->read(std::vector<int>{0}, rings, view(map, 1)); };
  EXPECT_EQ(error_of(read_map_again).kind, ErrorKind::none);
  append(map_file);
  EXPECT_EQ(error_of(read_map_again).kind, ErrorKind::data);
  EXPECT_THAT(error_of(read_map_again).message,
              testing::HasSubstr("was changed while it was read"));

  const std::string alm_file = write_alm();
  const auto alm_reader = open_fits_alm(comm(), alm_file);
  append(alm_file);
  const AlmLayout layout(40, 40, comm().is_root() ? orders_to(40) : std::vector<int>{});
  std::vector<std::complex<double>> alm(to_size(layout.size()));
  EXPECT_THAT(error_of([&] {
                alm_reader->read(std::vector<int>{0}, layout,
                                 AlmView<double>(alm.data(), 1, layout.size()));
              }).message,
              testing::HasSubstr("was changed while it was read"));
}

}  // namespace
}  // namespace ringweave::detail
