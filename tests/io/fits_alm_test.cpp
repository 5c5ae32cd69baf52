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

TEST_F(FitsAlm, WithFewerRowsThanDegreesIsReadWithAWarning) {
  const std::string file = write(4, 4, {"T"});
  edit(file, [](fitsfile* handle, int* status) { fits_delete_rows(handle, 3, 1, status); });
  const auto reader = open_fits_alm(comm(), file);
  ASSERT_EQ(reader->header().warnings.size(), 1U);
  EXPECT_THAT(reader->header().warnings[0], HasSubstr("14 rows, lmax = 4 and mmax = 4 make 15"));
  const AlmLayout layout = my_orders(4, 4);
  std::vector<std::complex<double>> expected = test_alm<double>(layout, 1, 4, 4);
  std::replace(expected.begin(), expected.end(), coefficient(0, 1, 1), std::complex<double>());
  EXPECT_EQ(read(*reader, layout, {0}), expected);
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
