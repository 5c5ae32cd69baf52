// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>

#include "io/hdf5/points.hpp"
#include "io/point_files.hpp"
#include "io/point_text.hpp"
#include "point_support.hpp"
#include "support/file_size_limit.hpp"

namespace ringweave::detail {
namespace {

using test::expect_error;
using test::make_hdf5;
using test::part_of;
using test::put_dataset;
using test::ScratchFolder;

/// Needs all 17 digits.
double value_at(std::int64_t component, std::int64_t point) {
  return std::exp(static_cast<double>(point % 300) - 150.0) * (component == 1 ? -1.0 / 3 : 1.0 / 7);
}

template <class T>
std::vector<T> values_from(std::int64_t first, std::int64_t count, std::int64_t n_components) {
  std::vector<T> values;
  for (std::int64_t c = 0; c < n_components; ++c) {
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(static_cast<T>(value_at(c, first + i)));
  }
  return values;
}

ValuesHeader header_of(std::int64_t n_components, Precision precision = Precision::double_) {
  ValuesHeader header;
  for (std::int64_t c = 0; c < n_components; ++c)
    header.components.push_back(fmt::format("F{}", c));
  header.unit = "uK_CMB";
  header.precision = precision;
  return header;
}

class ValuesFiles : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};
  std::string h5_ = folder_ / "values.h5";
  std::string text_ = folder_ / "values.txt";

  /// The last rank has the first part of no points, the others unequal ones.
  std::vector<std::int64_t> cuts(std::int64_t n) const {
    std::vector<std::int64_t> cuts{0};
    for (std::int64_t rank = 1; rank < comm_.size(); ++rank) cuts.push_back(rank == 1 ? n / 4 : n);
    cuts.push_back(n);
    return cuts;
  }
  template <class T>
  void write(const std::string& path, std::int64_t n, std::int64_t n_components,
             const ValuesHeader& header) {
    const std::int64_t first = cuts(n)[to_size(comm_.rank())];
    const std::int64_t count = cuts(n)[to_size(comm_.rank() + 1)] - first;
    const std::vector<T> values = values_from<T>(first, count, n_components);
    write_values(comm_, path, IfExists::overwrite, header, test::sample_provenance(),
                 MapView<const T>(values.data(), n_components, count));
  }
  template <class T>
  void expect_values(const ValuesFile& file, std::int64_t n, std::int64_t n_components) {
    ASSERT_EQ(file.values.n_components(), n_components);
    EXPECT_EQ(file.total, n);
    EXPECT_EQ(file.first, part_of(n, comm_.rank(), comm_));
    ASSERT_EQ(file.values.size(), part_of(n, comm_.rank() + 1, comm_) - file.first);
    for (std::int64_t c = 0; c < n_components; ++c) {
      for (std::int64_t i = 0; i < file.values.size(); ++i) {
        EXPECT_EQ(file.values.view().component(c)[i],
                  static_cast<double>(static_cast<T>(value_at(c, file.first + i))));
      }
    }
  }
  void write_file(const std::string& path, const std::string& content) {
    test::on_root(comm_, [&] { test::write_text(path, content); });
  }
  void expect_bad(const std::string& words, const std::string& path,
                  std::optional<std::int64_t> n_points = {}) {
    expect_error(ErrorKind::data, words, [&] { read_values(comm_, path, n_points); });
    expect_error(ErrorKind::data, path, [&] { read_values(comm_, path, n_points); });
  }
  std::string content(const std::string& path) {
    return comm_.broadcast(comm_.is_root() ? test::bytes_of(path) : "", 0);
  }
};

TEST_F(ValuesFiles, ValuesComeBackInEqualParts) {
  for (const std::string& path : {h5_, text_}) {
    for (const std::int64_t n : {0, 1, 2, 50}) {
      for (const std::int64_t n_components : {1, 3}) {
        write<double>(path, n, n_components, header_of(n_components));
        expect_values<double>(read_values(comm_, path, n), n, n_components);
        write<float>(path, n, n_components, header_of(n_components, Precision::single_));
        expect_values<float>(read_values(comm_, path), n, n_components);
      }
    }
  }
}

TEST_F(ValuesFiles, SmallCallsMoveTheSameValues) {
  const std::int64_t n = 37;
  const std::int64_t first = part_of(n, comm_.rank(), comm_);
  const std::int64_t count = part_of(n, comm_.rank() + 1, comm_) - first;
  const std::vector<double> values = values_from<double>(first, count, 2);
  for (const std::int64_t numbers : {1, 5}) {
    write_hdf5_values(comm_, h5_, header_of(2), test::sample_provenance(),
                      MapView<const double>(values.data(), 2, count), {numbers, 64});
    expect_values<double>(read_hdf5_values(comm_, h5_, n, {numbers, 64}), n, 2);
  }
  write<double>(text_, n, 2, header_of(2));
  expect_values<double>(read_text_values(comm_, text_, n, {10}), n, 2);
}

TEST_F(ValuesFiles, BytesDoNotDependOnTheRanks) {
  const std::int64_t n = 20011;  // more than a block of text
  for (const std::string& path : {h5_, text_}) {
    write<double>(path, n, 4, header_of(4));
    const std::string together = content(path);
    test::on_root(comm_, [&] {
      const std::vector<double> values = values_from<double>(0, n, 4);
      write_values(Communicator::self(), path, IfExists::overwrite, header_of(4),
                   test::sample_provenance(), MapView<const double>(values.data(), 4, n));
    });
    EXPECT_TRUE(content(path) == together);
    EXPECT_EQ(read_values(Communicator::self(), path).total, n);
  }
}

TEST_F(ValuesFiles, TheHeaderComesBack) {
  for (const std::string& path : {h5_, text_}) {
    write<double>(path, 3, 2, header_of(2, Precision::single_));
    const ValuesFile file = read_values(comm_, path);
    EXPECT_EQ(file.header.components, (std::vector<std::string>{"F0", "F1"}));
    EXPECT_EQ(file.header.unit, "uK_CMB");
    EXPECT_EQ(file.header.precision, path == h5_ ? Precision::single_ : Precision::double_);
    ASSERT_EQ(file.origin.history.size(), 1u);
    EXPECT_NE(file.origin.history[0].find("ringweave smooth in.h5"), std::string::npos);
    EXPECT_TRUE(file.warnings.empty());
    EXPECT_TRUE(find_point_content(comm_, path).values);
    EXPECT_FALSE(find_point_content(comm_, path).points);
  }
}

TEST_F(ValuesFiles, AUnitOfTwoLinesBreaksNoText) {
  ValuesHeader header = header_of(2);
  header.unit = "uK\n1 2";
  write<double>(text_, 5, 2, header);
  const ValuesFile file = read_values(comm_, text_, 5);
  expect_values<double>(file, 5, 2);
  EXPECT_EQ(file.header.unit, "uK 1 2");
}

TEST_F(ValuesFiles, FilesOfOthersHaveNoNames) {
  make_hdf5(comm_, h5_, [](const Hdf5Handle& file) {
    put_dataset(file, "values", H5T_IEEE_F32BE, {2, 4}, {1, 2, 3, 4, 5, 6, 7, 8},
                test::Storage::chunked);
  });
  const ValuesFile file = read_values(comm_, h5_, 4);
  EXPECT_EQ(file.header.components, (std::vector<std::string>{"Q", "U"}));
  EXPECT_EQ(file.warnings.size(), 1u);
  for (std::int64_t i = 0; i < file.values.size(); ++i)
    EXPECT_EQ(file.values.view().component(1)[i], static_cast<double>(5 + file.first + i));
  make_hdf5(comm_, h5_, [](const Hdf5Handle& of) {
    put_dataset(of, "values", H5T_IEEE_F64LE, {5}, {1, 2, 3, 4, 5});
  });
  EXPECT_EQ(read_values(comm_, h5_).header.components, std::vector<std::string>{"T"});
  write_file(text_, "1 2 3 4\n");
  EXPECT_EQ(read_values(comm_, text_).header.components.back(), "VALUE_4");
}

TEST_F(ValuesFiles, TheNumberOfPointsMustFit) {
  for (const std::string& path : {h5_, text_}) {
    write<double>(path, 7, 2, header_of(2));
    expect_bad("has values at 7 points, but there are 9 points", path, 9);
  }
}

TEST_F(ValuesFiles, ValuesMustBeFinite) {
  write_file(text_, "1 2\n3 inf\n4 -inf\n5 nan\n");
  expect_bad("U of point 1 (from 0) is inf; U is not finite at 3 of the points", text_);
  make_hdf5(comm_, h5_, [](const Hdf5Handle& file) {
    put_dataset(file, "values", H5T_IEEE_F64LE, {3}, {1, 2, std::nan("")});
  });
  expect_bad("T of point 2 (from 0) is nan; T is not finite at 1 of the points", h5_);
}

TEST_F(ValuesFiles, DatasetsOfOtherKindsAreErrors) {
  make_hdf5(comm_, h5_,
            [](const Hdf5Handle& file) { put_dataset(file, "numbers", H5T_IEEE_F64LE, {1}, {1}); });
  expect_bad("needs a dataset values in the root; its datasets there: numbers", h5_);
  make_hdf5(comm_, h5_, [](const Hdf5Handle& file) {
    put_dataset(file, "values", H5T_IEEE_F64LE, {1, 1, 1}, {1});
  });
  expect_bad("has 3 dimensions", h5_);
  make_hdf5(comm_, h5_, [](const Hdf5Handle& file) {
    put_dataset(file, "values", H5T_IEEE_F32LE, {10001, 1}, std::vector<double>(10001));
  });
  expect_bad("has 10001 components; expected at most 10000", h5_);
  expect_bad("No such file", folder_ / "missing.h5");
  write_file(text_, "1 2\n3 4 5\n");
  expect_bad("line 2: has 3 columns, the first row (line 1) 2", text_);
}

TEST_F(ValuesFiles, OutputsMustBeOfAKnownKindAndNew) {
  const auto write_to = [&](const std::string& path, IfExists if_exists, std::int64_t n_names) {
    const double value = 1;
    write_values(comm_, path, if_exists, header_of(n_names), test::sample_provenance(),
                 MapView<const double>(&value, 1, 1));
  };
  expect_error(ErrorKind::usage, "values are written as text (.txt .dat .tsv) or HDF5",
               [&] { write_to(folder_ / "values.fits", IfExists::fail, 1); });
  expect_error(ErrorKind::usage, "goes by its extension",
               [&] { write_to(folder_ / "values.csv", IfExists::fail, 1); });
  expect_error(ErrorKind::usage, "values of 1 components do not fill 2",
               [&] { write_to(text_, IfExists::fail, 2); });
  write_to(text_, IfExists::fail, 1);
  expect_error(ErrorKind::usage, "pass --overwrite", [&] { write_to(text_, IfExists::fail, 1); });
  comm_.barrier();
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(ValuesFiles, AFullDiskIsAResourceErrorAndLeavesTheOldFile) {
  for (const std::string& path : {h5_, text_}) {
    write<double>(path, 2, 1, header_of(1));
    const std::string before = content(path);
    const test::Thrown thrown = test::thrown_by([&] {
      const test::FileSizeLimit small(20000);
      write<double>(path, 20000, 1, header_of(1));
    });
    EXPECT_EQ(thrown.kind, ErrorKind::resource) << thrown.message;
    EXPECT_TRUE(content(path) == before);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 2);
}

}  // namespace
}  // namespace ringweave::detail
