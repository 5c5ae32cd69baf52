// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <algorithm>
#include <complex>

#include "base/checked_cast.hpp"
#include "io/fits/fields.hpp"
#include "io/fits_fixture.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail {
namespace {

using test::error_of;
using testing::ElementsAre;
using testing::HasSubstr;

/// Differs for every coefficient and is exact in float.
std::complex<double> coefficient(std::int64_t component, int l, int m) {
  return {1000.0 * l + m + 0.25 * static_cast<double>(component),
          m == 0 ? 0.0 : -1000.0 * m - l - 0.5};
}

class FitsAlm : public test::FitsFiles {
 protected:
  /// Orders dealt round robin, a full layout on one rank.
  AlmLayout my_orders(int lmax, int mmax) const {
    std::vector<int> orders;
    for (int m = comm().rank(); m <= mmax; m += comm().size()) orders.push_back(m);
    return {lmax, mmax, orders};
  }
  template <class T>
  static std::vector<std::complex<T>> test_alm(const AlmLayout& layout, int n_components,
                                               int file_lmax, int file_mmax) {
    std::vector<std::complex<T>> alm;
    for (int c = 0; c < n_components; ++c) {
      for (const int m : layout.orders()) {
        for (int l = m; l <= layout.lmax(); ++l) {
          alm.emplace_back(l <= file_lmax && m <= file_mmax ? coefficient(c, l, m)
                                                            : std::complex<double>());
        }
      }
    }
    return alm;
  }
  template <class T = double>
  std::string write(int lmax, int mmax, std::vector<std::string> components,
                    Precision precision = Precision::double_) const {
    const AlmLayout layout = my_orders(lmax, mmax);
    AlmHeader header;
    header.lmax = lmax;
    header.mmax = mmax;
    header.components = std::move(components);
    header.precision = precision;
    header.unit = "K_CMB";
    const int n_components = static_cast<int>(header.components.size());
    const auto alm = test_alm<T>(layout, n_components, lmax, mmax);
    write_fits_alm<T>(comm(), path("alm.fits"), header, Provenance{}, layout,
                      AlmView<const T>(alm.data(), n_components, layout.size()));
    return path("alm.fits");
  }
  template <class T = double>
  static std::vector<std::complex<T>> read(AlmReader& reader, const AlmLayout& layout,
                                           const std::vector<int>& columns) {
    std::vector<std::complex<T>> alm(to_size(ssize64(columns) * layout.size()),
                                     std::complex<T>(-1, -1));
    reader.read(columns, layout, AlmView<T>(alm.data(), ssize64(columns), layout.size()));
    return alm;
  }
  /// Returns the byte at which an HDU begins. Collective.
  std::int64_t hdu_begin(const std::string& file, int hdu) const {
    LONGLONG begin = 0;
    edit_hdu(file, hdu, [&](fitsfile* handle, int* status) {
      fits_get_hduaddrll(handle, &begin, nullptr, nullptr, status);
    });
    return begin;
  }
  /// Removes the number of tables, as older versions did not write it.
  void forget_number(const std::string& file, int n_tables) const {
    for (int hdu = 2; hdu < n_tables + 2; ++hdu) {
      edit_hdu(file, hdu,
               [](fitsfile* handle, int* status) { fits_delete_key(handle, "ALM_HDUS", status); });
    }
  }
  void cut(const std::string& file, std::int64_t length) const {
    if (comm().is_root()) std::filesystem::resize_file(file, static_cast<std::uint64_t>(length));
    comm().barrier();
  }
  void expect_data_error(const std::string& file, const std::string& words) const {
    const CaughtError error =
        error_of([&] { read(*open_fits_alm(comm(), file), my_orders(4, 4), {0}); });
    EXPECT_EQ(error.kind, ErrorKind::data) << error.message;
    EXPECT_THAT(error.message, HasSubstr(words));
  }
};

TEST_F(FitsAlm, ComesBackAsWritten) {
  for (const auto& [lmax, mmax] : {std::pair{0, 0}, {1, 1}, {5, 0}, {31, 31}, {40, 7}}) {
    for (const Precision precision : {Precision::single_, Precision::double_}) {
      const auto reader = open_fits_alm(comm(), write(lmax, mmax, {"T", "E", "B"}, precision));
      EXPECT_EQ(reader->header().lmax, lmax);
      EXPECT_EQ(reader->header().mmax, mmax);
      EXPECT_EQ(reader->header().precision, precision);
      EXPECT_EQ(reader->header().unit, "K_CMB");
      EXPECT_THAT(reader->header().components, ElementsAre("T", "E", "B"));
      EXPECT_THAT(reader->header().warnings, testing::IsEmpty());
      const AlmLayout layout = my_orders(lmax, mmax);
      EXPECT_EQ(read(*reader, layout, {0, 1, 2}), test_alm<double>(layout, 3, lmax, mmax));
    }
  }
}

TEST_F(FitsAlm, LargerThanABlockComesBackAsWritten) {
  const auto reader = open_fits_alm(comm(), write<float>(1100, 1100, {"T"}, Precision::single_));
  const AlmLayout layout = my_orders(1100, 1100);
  EXPECT_EQ(read<float>(*reader, layout, {0}), test_alm<float>(layout, 1, 1100, 1100));
}

TEST_F(FitsAlm, IsCutOrFilledWithZerosToTheDegreesAskedFor) {
  const auto reader = open_fits_alm(comm(), write(12, 9, {"E", "B"}));
  EXPECT_THAT(reader->header().components, ElementsAre("E", "B"));
  for (const auto& [lmax, mmax] : {std::pair{6, 6}, {6, 2}, {20, 20}, {20, 5}}) {
    const AlmLayout layout = my_orders(lmax, mmax);
    EXPECT_EQ(read(*reader, layout, {0, 1}), test_alm<double>(layout, 2, 12, 9))
        << lmax << ' ' << mmax;
  }
}

TEST_F(FitsAlm, WithoutMaxLpolIsScanned) {
  const std::string file = write(12, 9, {"T"});
  delete_keyword(file, "MAX-LPOL");
  const auto reader = open_fits_alm(comm(), file);
  EXPECT_EQ(reader->header().lmax, 12);
  EXPECT_EQ(reader->header().mmax, 9);
}

TEST_F(FitsAlm, WithBadIndicesIsRefused) {
  const std::string file = write(4, 4, {"T"});
  const auto set_index = [&](long row, int value) {
    edit(file, [&](fitsfile* handle, int* status) {
      fits_write_col_int(handle, 1, row, 1, 1, &value, status);
    });
  };
  set_index(3, 0);
  expect_data_error(file, "row 3 has index 0");
  set_index(3, 2);
  expect_data_error(file, "row 3 has index 2");
  set_index(3, 31);
  expect_data_error(file, "row 3 has index 31; expected l^2 + l + m + 1 with l <= 4");
  set_index(3, 3);
  expect_data_error(file, "l = 1, m = 0 more than once");
  delete_keyword(file, "MAX-LPOL");
  set_index(3, 5);
  expect_data_error(file, "row 3 has index 5");
}

TEST_F(FitsAlm, OfOthersWithFewerRowsThanDegreesIsReadWithAWarning) {
  const std::string file = write(4, 4, {"T"});
  edit(file, [](fitsfile* handle, int* status) { fits_delete_rows(handle, 3, 1, status); });
  expect_data_error(file, "14 rows, lmax = 4 and mmax = 4 make 15; Ringweave wrote all of them");
  set_keyword(file, "CREATOR", "healpy");
  const auto reader = open_fits_alm(comm(), file);
  ASSERT_EQ(reader->header().warnings.size(), 1U);
  EXPECT_THAT(reader->header().warnings[0], HasSubstr("14 rows, lmax = 4 and mmax = 4 make 15"));
  const AlmLayout layout = my_orders(4, 4);
  std::vector<std::complex<double>> expected = test_alm<double>(layout, 1, 4, 4);
  std::replace(expected.begin(), expected.end(), coefficient(0, 1, 1), std::complex<double>());
  EXPECT_EQ(read(*reader, layout, {0}), expected);
}

TEST_F(FitsAlm, WithAMaxLpolThatLiesIsRefusedOrWarnedAbout) {
  const std::string file = write(4, 4, {"T"});
  edit(file, [&](fitsfile* handle, int* status) {
    fits_update_key_lng(handle, "MAX-LPOL", 7, nullptr, status);
  });
  expect_data_error(file, "15 rows, lmax = 7 and mmax = 4 make 30");
  delete_keyword(file, "CREATOR");
  EXPECT_EQ(open_fits_alm(comm(), file)->header().warnings.size(), 1U);
}

TEST_F(FitsAlm, StatesHowManyTablesItHas) {
  const std::string file = write(4, 4, {"T", "E", "B"});
  const std::int64_t last_table = hdu_begin(file, 4);
  comm().barrier();
  cut(file, last_table);
  expect_data_error(file, "HDU 2 says ALM_HDUS = 3, the file has 2 table(s) of a_lm");
  cut(file, hdu_begin(file, 3));
  expect_data_error(file, "the file has 1 table(s) of a_lm");
}

TEST_F(FitsAlm, OfOlderVersionsHasTheComponentsThatItsTablesName) {
  const std::string file = write(4, 4, {"T", "E", "B"});
  forget_number(file, 3);
  EXPECT_THAT(open_fits_alm(comm(), file)->header().components, ElementsAre("T", "E", "B"));
  const std::int64_t last_table = hdu_begin(file, 4);
  comm().barrier();
  cut(file, last_table);
  const auto reader = open_fits_alm(comm(), file);
  EXPECT_THAT(reader->header().components, ElementsAre("T", "E"));
  const AlmLayout layout = my_orders(4, 4);
  EXPECT_EQ(read(*reader, layout, {0, 1}), test_alm<double>(layout, 2, 4, 4));
}

TEST_F(FitsAlm, IsPutIntoTheOrderOfItsNames) {
  const auto names = [&](const std::vector<const char*>& extensions) {
    const std::string file = write(4, 4, std::vector<std::string>(extensions.size(), "T"));
    forget_number(file, static_cast<int>(extensions.size()));
    for (std::size_t i = 0; i < extensions.size(); ++i) {
      edit_hdu(file, static_cast<int>(i) + 2, [&](fitsfile* handle, int* status) {
        fits_update_key_str(handle, "EXTNAME", extensions[i], nullptr, status);
      });
    }
    return file;
  };
  const auto components = [&](const std::vector<const char*>& extensions) {
    return open_fits_alm(comm(), names(extensions))->header().components;
  };
  EXPECT_THAT(components({"A_LM E"}), ElementsAre("E"));
  EXPECT_THAT(components({"A_LM B", "A_LM E"}), ElementsAre("E", "B"));
  EXPECT_THAT(
      components({"SIMULATED a_lms (TEMPERATURE)", "SIMULATED a_lms (GRAD / ELECTRIC component)",
                  "SIMULATED a_lms (CURL / MAGNETIC component)"}),
      ElementsAre("T", "E", "B"));
  EXPECT_THAT(components({"ALM_T", "ALM_E"}), ElementsAre("T", "E"));
  EXPECT_THAT(components({"xtension", "xtension", "xtension"}), ElementsAre("T", "E", "B"));
  EXPECT_THAT(components({"A_LM DUST", "A_LM CO"}), ElementsAre("DUST", "CO"));
  EXPECT_THAT(components({"xtension", "alm", "A_LM B"}), ElementsAre("T", "E", "B"));
  {
    const AlmLayout layout = my_orders(4, 4);
    const auto reader = open_fits_alm(comm(), names({"A_LM B", "A_LM E"}));
    const auto written = test_alm<double>(layout, 2, 4, 4);
    const std::vector<std::complex<double>> second(written.begin() + layout.size(), written.end());
    EXPECT_EQ(read(*reader, layout, {0}), second);
  }
  expect_data_error(names({"ALM_T", "alm"}), "HDU 2 says that it holds T");
  const auto two = open_fits_alm(comm(), names({"xtension", "xtension"}));
  EXPECT_THAT(two->header().components, ElementsAre("E", "B"));
  ASSERT_EQ(two->header().warnings.size(), 1U);
  EXPECT_THAT(two->header().warnings[0], HasSubstr("taken as E and B"));
}

TEST_F(FitsAlm, WithWrongDegreesInTheHeaderIsRefused) {
  const std::string file = write(4, 4, {"T"});
  const auto set_lmax = [&](int value) {
    edit(file, [&](fitsfile* handle, int* status) {
      fits_update_key_lng(handle, "MAX-LPOL", value, nullptr, status);
    });
  };
  set_lmax(-1);
  expect_data_error(file, "MAX-LPOL = -1");
  set_lmax(2000000000);
  expect_data_error(file, "MAX-LPOL = 2000000000");
}

TEST_F(FitsAlm, AsksForShapesThatFit) {
  const auto reader = open_fits_alm(comm(), write(4, 4, {"T"}));
  EXPECT_THROW(read(*reader, my_orders(4, 4), {1}), UsageError);
  std::vector<std::complex<double>> alm(100);
  EXPECT_THROW(reader->read(std::vector{0}, my_orders(4, 4), AlmView<double>(alm.data(), 2, 15)),
               UsageError);
}

}  // namespace
}  // namespace ringweave::detail
