// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/point_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <numbers>

#include "io/equal_parts.hpp"
#include "io/hdf5/points.hpp"
#include "io/point_text.hpp"
#include "io/text_share.hpp"
#include "point_support.hpp"
#include "support/address_space_limit.hpp"
#include "support/sanitizer.hpp"

namespace ringweave::detail {
namespace {

using test::expect_error;
using test::make_hdf5;
using test::part_of;
using test::put_dataset;
using test::ScratchFolder;
using test::Storage;

constexpr double pi = std::numbers::pi;

/// Angle `column` of point i.
double angle(std::int64_t column, std::int64_t i) {
  const auto x = static_cast<double>(i);
  return column == 0 ? std::fmod(0.7 * x + 0.1, 3.0) : 1.5 * x - static_cast<double>(column);
}

std::vector<double> angles(std::int64_t column, std::int64_t n) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < n; ++i) values.push_back(angle(column, i));
  return values;
}

class PointFiles : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};
  std::string h5_ = folder_ / "points.h5";

  std::string text(const std::string& content) {
    const std::string path = folder_ / "points.txt";
    test::on_root(comm_, [&] { test::write_text(path, content); });
    return path;
  }
  /// Lines of unequal lengths between comments and blank lines; the last has no end.
  std::string text_of(std::int64_t n, std::int64_t n_columns) {
    std::string content = "# theta phi\n";
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t c = 0; c < n_columns; ++c)
        content += fmt::format("{:{}.17g}\t,", angle(c, i), i % 3 == 0 ? 30 : 1);
      if (i % 5 == 1) content += "  # a comment";
      if (i % 7 == 2) content += "\r\n\n#another\n   ";
      if (i + 1 < n) content += '\n';
    }
    return text(content);
  }
  void expect_points(const PointFile& points, std::int64_t n, std::int64_t n_columns,
                     double tolerance = 0) {
    ASSERT_EQ(points.angles.n_components(), n_columns);
    EXPECT_EQ(points.has_psi(), n_columns == 3);
    EXPECT_EQ(points.total, n);
    EXPECT_EQ(points.first, part_of(n, comm_.rank(), comm_));
    ASSERT_EQ(points.theta().size(), part_of(n, comm_.rank() + 1, comm_) - points.first);
    for (std::int64_t c = 0; c < n_columns; ++c) {
      for (std::int64_t i = 0; i < points.theta().size(); ++i) {
        const double expected = angle(c, points.first + i);
        EXPECT_NEAR(points.angles.view().component(c)[i], expected, tolerance * std::abs(expected));
      }
    }
  }
  void expect_bad(const std::string& words, const std::string& path) {
    expect_error(ErrorKind::data, words, [&] { read_points(comm_, path); });
    expect_error(ErrorKind::data, path, [&] { read_points(comm_, path); });
  }
  void make_points(const std::vector<double>& theta, const std::vector<double>& phi,
                   hid_t type = H5T_NATIVE_DOUBLE) {
    make_hdf5(comm_, h5_, [&](const Hdf5Handle& file) {
      put_dataset(file, "theta", type, {theta.size()}, theta);
      put_dataset(file, "phi", type, {phi.size()}, phi);
    });
  }
};

TEST(EqualParts, HoldForAnyNumbers) {
  for (const std::int64_t n : {0, 1, 7, 100}) {
    for (const std::int64_t parts : {1, 2, 3, 8}) {
      for (std::int64_t part = 0; part <= parts; ++part)
        EXPECT_EQ(part_begin(n, part, parts), n * part / parts);
    }
  }
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(part_begin(most, 16384, 16384), most);
  EXPECT_EQ(part_begin(most, 8192, 16384), most / 2);
}

TEST_F(PointFiles, EveryRankReadsItsPartOfAText) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 23}) {
    for (const std::int64_t n_columns : {2, 3}) {
      const std::string path = text_of(n, n_columns);
      expect_points(read_points(comm_, path), n, n == 0 ? 2 : n_columns);
      for (const std::int64_t bytes : {1, 40, 300})
        expect_points(read_text_points(comm_, path, {bytes}), n, n == 0 ? 2 : n_columns);
    }
  }
}

TEST_F(PointFiles, ATextThatChangesWhileItIsReadIsAnError) {
  const std::string path = text_of(50, 2);
  const auto change = [&](const TextExtent&) {
    test::on_root(comm_, [&] { std::ofstream(path, std::ios::app) << "\n0.5 0.5\n"; });
  };
  expect_error(ErrorKind::data, "was changed while it was read",
               [&] { read_text_share(comm_, path, change); });
}

TEST_F(PointFiles, EveryRankReadsItsPartOfHdf5) {
  for (const std::int64_t n : {0, 1, 2, 3, 4, 23}) {
    for (const hid_t type : {H5T_IEEE_F64LE, H5T_IEEE_F32BE}) {
      for (const Storage storage : {Storage::contiguous, Storage::chunked}) {
        const hsize_t length = to_size(n);
        make_hdf5(comm_, h5_, [&](const Hdf5Handle& file) {
          put_dataset(file, "theta", type, {length}, angles(0, n), storage);
          put_dataset(file, "phi", H5T_IEEE_F64LE, {length}, angles(1, n));
        });
        const double tolerance = type == H5T_IEEE_F64LE ? 0 : 1e-7;
        expect_points(read_points(comm_, h5_), n, 2, tolerance);
        for (const std::int64_t numbers : {1, 4})
          expect_points(read_hdf5_points(comm_, h5_, {numbers, 64}), n, 2, tolerance);
      }
    }
  }
}

TEST_F(PointFiles, OrientationsAreReadFromAGroupToo) {
  make_hdf5(comm_, h5_, [&](const Hdf5Handle& file) {
    const Hdf5Handle group = create_hdf5_group(file, h5_, "points");
    put_dataset(file, "theta", H5T_IEEE_F64LE, {1}, {1});  // without phi in the root
    put_dataset(group, "theta", H5T_IEEE_F64LE, {11}, angles(0, 11));
    put_dataset(group, "phi", H5T_IEEE_F64LE, {11}, angles(1, 11));
    put_dataset(group, "psi", H5T_IEEE_F64LE, {11}, angles(2, 11));
  });
  expect_points(read_points(comm_, h5_), 11, 3);
}

TEST_F(PointFiles, ManyLinesComeBackInOrder) {
  std::string content;
  for (int i = 0; i < 3000; ++i) content += fmt::format("{} {:.{}f}\n", i / 1000.0, i / 8.0, i % 9);
  const std::string path = text(content);
  for (const std::int64_t bytes : {1000, 1 << 20}) {
    const PointFile points = read_text_points(comm_, path, {bytes});
    EXPECT_EQ(points.total, 3000);
    for (std::int64_t i = 0; i < points.theta().size(); ++i)
      EXPECT_EQ(points.theta()[i], static_cast<double>(points.first + i) / 1000.0);
  }
}

TEST_F(PointFiles, FilesWithoutPointsHaveNone) {
  for (const char* content : {"# theta phi\n", "# none", "\n\n  \n"}) {
    const PointFile points = read_points(comm_, text(content));
    EXPECT_EQ(points.total, 0);
    EXPECT_EQ(points.theta().size(), 0);
  }
  expect_bad("is empty", text(""));
}

TEST_F(PointFiles, TextHasTwoOrThreeColumnsOfNumbers) {
  expect_bad("line 2: has 1 columns; expected theta and phi", text("# a\n1\n2\n"));
  expect_bad("line 1: has 4 columns", text("1 2 3 4\n"));
  expect_bad("line 5: has 3 columns, the first row (line 2) 2", text("#\n1 2\n\n2 3\n1 2 3\n"));
  expect_bad("line 4: has 1 columns", text("1 2\n1 2\n# b\n1\n"));
  expect_bad("line 3: 'x2' is not a number", text("1 2\n1 3\n1 x2\n"));
  expect_bad("byte 4 has characters that no text has", text(std::string("1 2\n1\0002\n", 8)));
  expect_bad("is not text", text("1 2\n# " + std::string(1100000, 'a') + "\n2 3\n"));
}

TEST_F(PointFiles, DatasetsMustBeThereAndFit) {
  make_hdf5(comm_, h5_, [&](const Hdf5Handle& file) {
    put_dataset(file, "theta", H5T_IEEE_F64LE, {1}, {1});
    put_dataset(file, "lon", H5T_IEEE_F64LE, {1}, {1});
  });
  expect_bad("its datasets there: lon, theta", h5_);
  make_points({1, 2, 3}, {1, 2});
  expect_bad("/theta has 3 numbers, but /phi has 2", h5_);
  make_hdf5(comm_, h5_, [&](const Hdf5Handle& file) {
    put_dataset(file, "theta", H5T_IEEE_F64LE, {2, 1}, {1, 2});
    put_dataset(file, "phi", H5T_IEEE_F64LE, {2}, {1, 2});
  });
  expect_bad("/theta has 2 dimensions", h5_);
}

TEST_F(PointFiles, FilesMustBeThereAndOfAKnownKind) {
  expect_bad("No such file", folder_ / "missing.txt");
  expect_bad("No such file", folder_ / "missing.h5");
  test::on_root(comm_, [&] { test::write_text(h5_, "1 2\n"); });
  expect_bad("is not an HDF5 file", h5_);
  expect_error(ErrorKind::usage, "points are read from text",
               [&] { read_points(comm_, folder_ / "points.fits"); });
}

TEST_F(PointFiles, AnglesMustBeFinite) {
  const double inf = std::numeric_limits<double>::infinity();
  make_points({1, 2, inf, 3, std::nan("")}, {1, 1, 1, 1, 1});
  expect_bad("theta of point 2 (from 0) is inf; theta is not finite at 2 of the points", h5_);
  make_points({1, 2, 3}, {1, 1, std::nan("")});
  expect_bad("phi of point 2 (from 0) is nan", h5_);
  expect_bad("psi of point 1 (from 0) is nan; psi is not finite at 1",
             text("1 1 1\n1 1 nan\n1 1 2\n"));
}

TEST_F(PointFiles, TextOfMorePointsThanMemoryHoldsIsRefusedWithTheRanksThatWouldDo) {
  if (test::is_sanitized()) GTEST_SKIP() << "sanitizers need more address space than any limit";
  // A line takes 4 bytes, its angles 16: 32 MB on each rank.
  const std::int64_t n = 2'000'000 * std::int64_t{comm_.size()};
  std::string lines;
  if (comm_.is_root()) {
    for (std::int64_t i = 0; i < n; ++i) lines += "1 1\n";
  }
  const std::string path = text(lines);
  const test::AddressSpaceLimit limit(20'000'000);
  for (const bool are_values : {false, true}) {
    const test::Thrown thrown = test::thrown_by([&] {
      if (are_values) read_values(comm_, path, n);
      read_points(comm_, path);
    });
    EXPECT_EQ(thrown.kind, ErrorKind::resource) << thrown.message;
    const std::string what = fmt::format("{} of {} need up to 0.032 GB on a rank",
                                         are_values ? "values" : "points", path);
    for (const std::string& words : {what, std::string("ranks with as much memory each")})
      EXPECT_NE(thrown.message.find(words), std::string::npos) << thrown.message;
  }
}

TEST_F(PointFiles, ThetaIsAColatitudeInRadians) {
  const auto expect_bad_theta = [&](const std::vector<double>& theta, const std::string& words) {
    make_points(theta, std::vector<double>(theta.size(), 1.0));
    expect_bad(words, h5_);
  };
  expect_bad_theta({1, 3.2, 2, 3.5},
                   "theta of point 1 (from 0) is 3.2; 2 of 4 points are outside 0 to pi: expected "
                   "the colatitude in radians; are theta and phi in this order?");
  expect_bad_theta({1, 90, 120}, "are these degrees?");
  expect_bad_theta({1, -0.5}, "latitudes are pi/2 - theta");
  EXPECT_EQ(test::thrown_by([&] { read_points(comm_, h5_); }).message.find("degrees"),
            std::string::npos);
}

TEST_F(PointFiles, BothPolesArePoints) {
  make_points({0, pi, pi}, {0, 0, 0}, H5T_IEEE_F32LE);  // there pi is rounded upwards
  const PointFile points = read_points(comm_, h5_);
  for (std::int64_t i = 0; i < points.theta().size(); ++i)
    EXPECT_EQ(points.theta()[i], points.first + i == 0 ? 0 : pi);
  EXPECT_TRUE(points.warnings.empty());
}

TEST_F(PointFiles, LongitudesInDegreesAreWarnedAbout) {
  const PointFile points = read_points(comm_, text("0.5 10\n0.6 350\n"));
  ASSERT_EQ(points.warnings.size(), 1u);
  EXPECT_NE(points.warnings[0].find("are these degrees?"), std::string::npos);
}

TEST_F(PointFiles, PointsAreToldFromOtherTables) {
  const auto is_points = [&](const std::string& content) {
    const PointContent found = find_point_content(comm_, text(content));
    EXPECT_FALSE(found.values);
    return found.points;
  };
  EXPECT_TRUE(is_points("0.5 1\n1.5 2\n"));
  EXPECT_TRUE(is_points("# theta phi\n0 1\n1 2\n"));
  EXPECT_TRUE(is_points("# theta phi psi\n"));
  EXPECT_FALSE(is_points("# l TT\n0 1\n1 2\n"));
  EXPECT_FALSE(is_points("# theta K\n0 1\n0.1 2\n"));
  EXPECT_FALSE(is_points("0.5 1 2 3\n"));
  make_points({1}, {1});
  EXPECT_TRUE(find_point_content(comm_, h5_).points);
  make_hdf5(comm_, h5_, [&](const Hdf5Handle& file) {
    put_dataset(file, "map", H5T_IEEE_F64LE, {12}, std::vector<double>(12));
  });
  EXPECT_FALSE(find_point_content(comm_, h5_).points);
}

}  // namespace
}  // namespace ringweave::detail
