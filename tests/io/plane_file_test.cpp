// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <numeric>
#include <random>
#include <tuple>
#include <variant>

#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/plane.hpp"
#include "point_support.hpp"
#include "support/libhdf5_suppressions.hpp"

namespace ringweave::detail {
namespace {

using test::expect_error;
using test::make_hdf5;
using test::part_of;
using test::put_dataset;
using test::ScratchFolder;

/// Exact in single precision.
double value_at(std::int64_t field, std::int64_t y, std::int64_t x) {
  return static_cast<double>(10000 * field + 100 * y + x) + 0.5;
}

std::vector<double> numbers(std::int64_t count, double first = 0) {
  std::vector<double> values(to_size(count));
  std::iota(values.begin(), values.end(), first);
  return values;
}

PlaneHeader sample_header(Precision precision = Precision::double_) {
  PlaneHeader header;
  header.name = "average";
  header.unit = "V";
  header.long_name = "electric potential";
  header.axes = {{"rho", 2, {0.25, 0.5}, "m", "radius"}, {"species", 3}};
  header.y = {"y", 7, numbers(7, -1), "m", "height"};
  header.x = {"x", 5, numbers(5, 0.1), "m", ""};
  header.x.attributes = {{"standard_name", std::string("projection_x_coordinate"), ""}};
  header.precision = precision;
  header.attributes = {{"edge", std::string("zero"), "of y"}, {"steps", std::int64_t{4}, ""}};
  return header;
}

class PlaneFiles : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};
  std::string path_ = folder_ / "plane.h5";

  /// All fields, and equal parts of the rows; of few rows some ranks have none.
  PlaneFilePart rows_of(const PlaneHeader& header) const {
    PlaneFilePart part{{},
                       part_of(header.y.size, comm_.rank(), comm_),
                       part_of(header.y.size, comm_.rank() + 1, comm_)};
    part.fields.resize(to_size(header.n_fields()));
    std::iota(part.fields.rbegin(), part.fields.rend(), 0);  // the last first
    return part;
  }
  /// All rows of every n-th field.
  PlaneFilePart fields_of(const PlaneHeader& header) const {
    PlaneFilePart part{{}, 0, header.y.size};
    for (std::int64_t f = comm_.rank(); f < header.n_fields(); f += comm_.size())
      part.fields.push_back(f);
    return part;
  }
  template <class T>
  std::vector<T> values_of(const PlaneHeader& header, const PlaneFilePart& part) const {
    std::vector<T> values;
    for (const std::int64_t field : part.fields) {
      for (std::int64_t y = part.row_begin; y < part.row_end; ++y) {
        for (std::int64_t x = 0; x < header.x.size; ++x)
          values.push_back(static_cast<T>(value_at(field, y, x)));
      }
    }
    return values;
  }
  template <class T>
  MapView<T> view_of(std::vector<T>& values, const PlaneHeader& header,
                     const PlaneFilePart& part) const {
    return {values.data(), ssize64(part.fields), (part.row_end - part.row_begin) * header.x.size};
  }
  template <class T>
  void write(const PlaneHeader& header, const PlaneFilePart& part) {
    PlaneFileWriter writer(comm_, path_, IfExists::overwrite, header, test::sample_provenance());
    std::vector<T> values = values_of<T>(header, part);
    writer.write(part, MapView<const T>(view_of(values, header, part)));
    writer.commit();
  }
  template <class T>
  void expect_values(const PlaneFilePart& part, const std::string& field = "") {
    const PlaneFileReader reader(comm_, path_, field);
    std::vector<T> values = values_of<T>(reader.header(), part);
    const std::vector<T> expected = values;
    std::fill(values.begin(), values.end(), T(-1));
    reader.read(part, view_of(values, reader.header(), part));
    EXPECT_EQ(values, expected);
  }
  void read_all(const std::string& field = "") {
    const PlaneFileReader reader(comm_, path_, field);
    const PlaneFilePart part = rows_of(reader.header());
    std::vector<double> values = values_of<double>(reader.header(), part);
    reader.read(part, view_of(values, reader.header(), part));
  }
  void expect_bad(const std::string& words, const std::string& field = "") {
    expect_error(ErrorKind::data, words, [&] { read_all(field); });
    expect_error(ErrorKind::data, path_, [&] { read_all(field); });
  }
  /// Makes a file with the data set f(y, x), 3 x 4, and what `add` adds to it.
  void make_plain(const std::function<void(const Hdf5Handle& file, const Hdf5Handle& f)>& add) {
    make_hdf5(comm_, path_, [&](const Hdf5Handle& file) {
      put_dataset(file, "f", H5T_IEEE_F64LE, {3, 4}, numbers(12));
      Hdf5Handle f(H5Dopen2(file.id(), "f", H5P_DEFAULT), H5Dclose);
      add(file, f);
    });
  }
  std::string content() { return comm_.broadcast(comm_.is_root() ? test::bytes_of(path_) : "", 0); }
};

/// Writes a dimension scale as a program other than ours would.
Hdf5Handle put_scale(const Hdf5Handle& file, const char* name, const std::vector<double>& values) {
  put_dataset(file, name, H5T_IEEE_F64LE, {values.size()}, values);
  Hdf5Handle scale(H5Dopen2(file.id(), name, H5P_DEFAULT), H5Dclose);
  make_hdf5_scale(scale, "", name);
  return scale;
}

TEST_F(PlaneFiles, FieldsComeBackInOtherParts) {
  for (const Precision precision : {Precision::double_, Precision::single_}) {
    const PlaneHeader header = sample_header(precision);
    write<double>(header, rows_of(header));
    expect_values<double>(fields_of(header));
    expect_values<float>(rows_of(header));
    write<float>(header, fields_of(header));
    expect_values<double>(rows_of(header));
  }
}

TEST_F(PlaneFiles, RanksMayHaveNoRowsAndNoFields) {
  PlaneHeader header = sample_header();
  header.axes.clear();
  header.y = {"y", 2};
  write<double>(header, rows_of(header));
  expect_values<double>(fields_of(header));
  expect_values<double>({});
}

TEST_F(PlaneFiles, PartsMayBeWrittenOneAfterAnother) {
  const PlaneHeader header = sample_header();
  const PlaneFilePart all = fields_of(header);
  PlaneFileWriter writer(comm_, path_, IfExists::fail, header, test::sample_provenance());
  for (const auto& [begin, end] : {std::pair{4, 7}, std::pair{0, 4}}) {
    const PlaneFilePart part{all.fields, begin, end};
    std::vector<double> values = values_of<double>(header, part);
    writer.write(part, MapView<const double>(view_of(values, header, part)));
  }
  writer.commit();
  expect_values<double>(all);
}

TEST_F(PlaneFiles, SmallCallsMoveTheSameValues) {
  const PlaneHeader header = sample_header();
  const PlaneFilePart part = rows_of(header);
  write<double>(header, part);
  const std::string whole = content();
  std::vector<double> values = values_of<double>(header, part);
  const std::vector<double> expected = values;
  for (const std::int64_t most : {1, 12}) {
    const Hdf5Limits limits{most, 64};
    std::fill(values.begin(), values.end(), 0);
    read_hdf5_plane(comm_, path_, header, part, view_of(values, header, part), limits);
    EXPECT_EQ(values, expected);
    write_hdf5_plane(comm_, path_, header, part,
                     MapView<const double>(view_of(values, header, part)), limits);
    EXPECT_TRUE(content() == whole);
  }
}

TEST_F(PlaneFiles, BytesDoNotDependOnTheRanks) {
  const PlaneHeader header = sample_header();
  write<double>(header, rows_of(header));
  const std::string together = content();
  const Communicator world = comm_;
  test::on_root(world, [&] {
    comm_ = Communicator::self();
    write<double>(header, rows_of(header));
  });
  comm_ = world;
  EXPECT_TRUE(content() == together);
}

TEST_F(PlaneFiles, TheHeaderComesBack) {
  const PlaneHeader header = sample_header(Precision::single_);
  write<double>(header, rows_of(header));
  const PlaneFileReader reader(comm_, path_);
  const PlaneHeader& read = reader.header();
  EXPECT_EQ(read.name, header.name);
  EXPECT_EQ(read.unit, header.unit);
  EXPECT_EQ(read.long_name, header.long_name);
  EXPECT_EQ(read.precision, header.precision);
  ASSERT_EQ(read.axes.size(), 2u);
  for (std::int64_t i = 0; i < 4; ++i) {
    const PlaneFileAxis& a = plane_axis_at(read, i);
    const PlaneFileAxis& b = plane_axis_at(header, i);
    EXPECT_EQ(std::tie(a.name, a.size, a.coordinates, a.unit, a.long_name),
              std::tie(b.name, b.size, b.coordinates, b.unit, b.long_name));
    ASSERT_EQ(a.attributes.size(), b.attributes.size());
    for (std::size_t k = 0; k < a.attributes.size(); ++k) {
      EXPECT_EQ(a.attributes[k].name, b.attributes[k].name);
      EXPECT_EQ(a.attributes[k].value, b.attributes[k].value);
    }
  }
  const auto attribute = [&](const std::string& name) {
    for (const Keyword& keyword : read.attributes)
      if (keyword.name == name) return keyword;
    return Keyword{};
  };
  EXPECT_EQ(std::get<std::string>(attribute("edge").value), "zero");
  EXPECT_EQ(attribute("edge").comment, "of y");
  EXPECT_EQ(std::get<std::int64_t>(attribute("steps").value), 4);
  ASSERT_EQ(reader.origin().history.size(), 1u);
  EXPECT_TRUE(reader.warnings().empty());
  const PlaneContent found = find_plane_content(comm_, path_);
  EXPECT_TRUE(found.is_stated);
  EXPECT_EQ(found.fields, std::vector<std::string>{"average"});
}

TEST_F(PlaneFiles, AttributesMayBeAddedUntilTheEnd) {
  const PlaneHeader header = sample_header();
  const PlaneFilePart part = rows_of(header);
  std::vector<double> values = values_of<double>(header, part);
  PlaneFileWriter writer(comm_, path_, IfExists::fail, header, test::sample_provenance());
  writer.write(part, MapView<const double>(view_of(values, header, part)));
  writer.add({"indicator", 0.125, ""});
  writer.add({"steps", std::int64_t{5}, ""});
  expect_error(ErrorKind::usage, "'units' is no attribute to add", [&] {
    writer.add({"units", std::string("m"), ""});
  });
  writer.commit();
  const PlaneFileReader reader(comm_, path_);
  int n_steps = 0;
  for (const Keyword& keyword : reader.header().attributes) {
    if (keyword.name == "indicator") {
      EXPECT_EQ(std::get<double>(keyword.value), 0.125);
    } else if (keyword.name == "steps") {
      ++n_steps;
      EXPECT_EQ(std::get<std::int64_t>(keyword.value), 5);
    }
  }
  EXPECT_EQ(n_steps, 1);
  expect_values<double>(part);
}

TEST_F(PlaneFiles, DataSetsMayLieInGroups) {
  PlaneHeader header = sample_header();
  header.name = "run/1/average";
  write<double>(header, rows_of(header));
  expect_values<double>(fields_of(header));
  expect_values<double>(fields_of(header), "/run/1/average");
  EXPECT_EQ(PlaneFileReader(comm_, path_).header().y.coordinates, header.y.coordinates);
}

TEST_F(PlaneFiles, WhatIsNotCommittedLeavesNothing) {
  const PlaneHeader header = sample_header();
  { const PlaneFileWriter writer(comm_, path_, IfExists::fail, header, {}); }
  comm_.barrier();
  EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
  comm_.barrier();
  write<double>(header, rows_of(header));
  expect_error(ErrorKind::usage, "exists",
               [&] { PlaneFileWriter(comm_, path_, IfExists::fail, header, {}); });
  expect_values<double>(rows_of(header));
}

TEST_F(PlaneFiles, HeadersThatNoFileCanHaveAreRefused) {
  const auto expect_refused = [&](const std::string& words,
                                  const std::function<void(PlaneHeader&)>& change) {
    PlaneHeader header = sample_header();
    change(header);
    expect_error(ErrorKind::usage, words,
                 [&] { PlaneFileWriter(comm_, path_, IfExists::fail, header, {}); });
  };
  expect_refused("'' is no name of a data set", [](PlaneHeader& h) { h.name = ""; });
  expect_refused("x is the name of two things", [](PlaneHeader& h) { h.name = "x/f"; });
  expect_refused("y is the name of two things", [](PlaneHeader& h) { h.axes[1].name = "y"; });
  expect_refused("'a/b' is no name of an axis", [](PlaneHeader& h) { h.x.name = "a/b"; });
  expect_refused("axis species has the size 0", [](PlaneHeader& h) { h.axes[1].size = 0; });
  expect_refused("axis x has 4 coordinates; expected 5",
                 [](PlaneHeader& h) { h.x.coordinates.pop_back(); });
  expect_error(ErrorKind::usage, "are written as HDF5", [&] {
    PlaneFileWriter(comm_, folder_ / "plane.fits", IfExists::fail, sample_header(), {});
  });
}

TEST_F(PlaneFiles, PartsMustLieInTheFile) {
  const PlaneHeader header = sample_header();
  write<double>(header, rows_of(header));
  const PlaneFileReader reader(comm_, path_);
  std::vector<double> values(1000);
  for (const PlaneFilePart& part :
       {PlaneFilePart{{6}, 0, 1}, PlaneFilePart{{-1}, 0, 1}, PlaneFilePart{{0}, 0, 8},
        PlaneFilePart{{0}, 3, 2}, PlaneFilePart{{0}, -1, 2}}) {
    expect_error(ErrorKind::usage, "are not all in /average, which has 6 fields of 7 rows", [&] {
      reader.read(part, MapView<double>(values.data(), ssize64(part.fields), 5));
    });
  }
  expect_error(ErrorKind::usage, "are not 1 fields of 2 x 5", [&] {
    reader.read({{0}, 0, 2}, MapView<double>(values.data(), 1, 9));
  });
}

TEST_F(PlaneFiles, CoordinatesMayLieBesideTheDataSet) {
  make_hdf5(comm_, path_, [](const Hdf5Handle& file) {
    const Hdf5Handle group = create_hdf5_group(file, "", "run");
    put_dataset(file, "x", H5T_IEEE_F32BE, {4}, {1, 2, 3, 5});
    put_dataset(group, "y", H5T_IEEE_F64LE, {3}, {-1, 0, 2});
    put_dataset(group, "f", H5T_IEEE_F32BE, {2, 3, 4}, numbers(24), test::Storage::chunked);
  });
  const PlaneFileReader reader(comm_, path_);
  EXPECT_EQ(reader.header().name, "run/f");
  EXPECT_EQ(reader.header().precision, Precision::single_);
  EXPECT_EQ(reader.header().x.coordinates, (std::vector<double>{1, 2, 3, 5}));
  EXPECT_EQ(reader.header().y.coordinates, (std::vector<double>{-1, 0, 2}));
  EXPECT_EQ(reader.header().x.precision, Precision::single_);
  EXPECT_EQ(reader.header().y.precision, Precision::double_);
  EXPECT_EQ(reader.header().axes[0].name, "axis0");
  EXPECT_TRUE(reader.header().axes[0].coordinates.empty());
  const PlaneFilePart part = rows_of(reader.header());
  std::vector<double> values(to_size(8 * (part.row_end - part.row_begin)));
  reader.read(part, view_of(values, reader.header(), part));
  for (std::int64_t i = 0; i < ssize64(values) / 2; ++i)
    EXPECT_EQ(values[to_size(i)], static_cast<double>(12 + 4 * part.row_begin + i));
}

TEST_F(PlaneFiles, MeshesAreNoCoordinates) {
  make_plain([](const Hdf5Handle& file, const Hdf5Handle&) {
    put_dataset(file, "x", H5T_IEEE_F64LE, {3, 4}, numbers(12));
  });
  const PlaneFileReader reader(comm_, path_, "f");
  EXPECT_TRUE(reader.header().x.coordinates.empty());
  ASSERT_EQ(reader.warnings().size(), 1U);
  EXPECT_TRUE(reader.warnings()[0].starts_with("/x has 2 dimensions")) << reader.warnings()[0];
}

TEST_F(PlaneFiles, ADataSetOfSeveralNamesIsOneField) {
  make_plain([](const Hdf5Handle& file, const Hdf5Handle& f) {
    const Hdf5Handle group = create_hdf5_group(file, "", "group");
    H5Olink(f.id(), group.id(), "same", H5P_DEFAULT, H5P_DEFAULT);
    H5Olink(f.id(), file.id(), "again", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_EQ(PlaneFileReader(comm_, path_).header().name, "again");
}

TEST_F(PlaneFiles, ScalesNameTheAxes) {
  make_plain([](const Hdf5Handle& file, const Hdf5Handle& f) {
    const Hdf5Handle height = put_scale(file, "Z", {1, 2, 4});
    const Hdf5Handle width = create_hdf5_dimension(file, "", "R", 4);
    Hdf5AttributeWriter(height, "").text("units", "m");
    attach_hdf5_scales(f, "", {&height, &width});
    // Not those of f.
    put_dataset(file, "x", H5T_IEEE_F64LE, {2}, {1, 2});
  });
  const PlaneFileReader reader(comm_, path_);
  EXPECT_EQ(reader.header().y.name, "Z");
  EXPECT_EQ(reader.header().y.unit, "m");
  EXPECT_EQ(reader.header().y.coordinates, (std::vector<double>{1, 2, 4}));
  EXPECT_EQ(reader.header().x.name, "R");
  EXPECT_TRUE(reader.header().x.coordinates.empty());
}

TEST_F(PlaneFiles, TheOnlyFieldNeedsNoName) {
  make_hdf5(comm_, path_, [](const Hdf5Handle& file) {
    put_dataset(file, "count", H5T_STD_I32LE, {3, 4}, numbers(12));
    put_dataset(file, "f", H5T_IEEE_F64LE, {3, 4}, numbers(12));
    put_dataset(file, "line", H5T_IEEE_F64LE, {3}, numbers(3));
    put_dataset(file, "x_bounds", H5T_IEEE_F64LE, {4, 2}, numbers(8));
    put_dataset(file, "x", H5T_IEEE_F64LE, {4}, numbers(4));
    const Hdf5Handle x(H5Dopen2(file.id(), "x", H5P_DEFAULT), H5Dclose);
    Hdf5AttributeWriter(x, "").text("bounds", "x_bounds");
  });
  EXPECT_EQ(PlaneFileReader(comm_, path_).header().name, "f");
  const PlaneFileReader integers(comm_, path_, "count");
  EXPECT_EQ(integers.header().precision, Precision::double_);
  EXPECT_EQ(integers.warnings(),
            std::vector<std::string>{"/count holds integers; read as doubles"});
  expect_error(ErrorKind::usage, "has no data set g; there is count (3 x 4, integers), f (3 x 4)",
               [&] { PlaneFileReader(comm_, path_, "g"); });
  expect_bad("/line has one dimension; expected two or more", "line");
  make_hdf5(comm_, path_, [](const Hdf5Handle& file) {
    for (const char* name : {"a", "b"}) put_dataset(file, name, H5T_IEEE_F64LE, {1, 1}, {1});
  });
  expect_error(ErrorKind::usage, "has several fields; name one of them: a (1 x 1), b (1 x 1)",
               [&] { read_all(); });
  make_hdf5(comm_, path_, [](const Hdf5Handle& file) {
    put_dataset(file, "a", H5T_IEEE_F64LE, {2}, {1, 2});
  });
  expect_bad(
      "has no field in the plane: expected a data set of floating-point numbers with two or "
      "more dimensions, the last two y and x; its data sets: a (2)");
}

TEST_F(PlaneFiles, WhatIsNoPlaneOfRealNumbersIsRefused) {
  make_hdf5(comm_, path_, [](const Hdf5Handle& file) {
    write_hdf5_labels(file, "", "words", {"a", "b"});
    const Hdf5Shape complex{{2, 2}, Hdf5Shape::Number::complex, 8, {}};
    create_hdf5_dataset(file, "", "complex", complex);
    const Hdf5Handle pair(H5Tcreate(H5T_COMPOUND, 16), H5Tclose);
    H5Tinsert(pair.id(), "a", 0, H5T_IEEE_F64LE);
    H5Tinsert(pair.id(), "b", 8, H5T_IEEE_F64LE);
    const std::vector<double> zeros(8, 0.0);
    write_small_dataset(file, "", "pairs", pair.id(), {2, 2}, zeros.data());
    put_dataset(file, "wide", H5T_NATIVE_LDOUBLE, {2, 2}, zeros);
    put_dataset(file, "flat", H5T_IEEE_F64LE, {2, 0}, {});
    put_dataset(file, "none", H5T_IEEE_F64LE, {0, 2, 2}, {});
    create_hdf5_group(file, "", "group");
  });
  expect_bad("/words does not hold numbers", "words");
  expect_bad("/pairs does not hold numbers", "pairs");
  expect_bad("/complex holds complex numbers", "complex");
  expect_bad("/wide holds numbers of 16 bytes", "wide");
  expect_bad("/flat is empty: its dimensions are 2 x 0", "flat");
  expect_bad("/none is empty: its dimensions are 0 x 2 x 2", "none");
  expect_error(ErrorKind::usage, "has no data set group", [&] { read_all("group"); });
}

TEST_F(PlaneFiles, CoordinatesMustFitAndAscend) {
  using Values = std::vector<double>;
  for (const auto& [values, words] :
       {std::pair{Values{1, 2}, "/x has 2 coordinates, but this axis of /f has 4 indices"},
        std::pair{Values{1, 3, 2, 4}, "/x does not ascend: it is 3 at index 1 and 2 at the next"},
        std::pair{Values{4, 3, 2, 1}, "/x does not ascend"},
        std::pair{Values{1, 1, 2, 3}, "/x does not ascend"},
        std::pair{Values{1, 2, NAN, 3}, "/x is nan at index 2"}}) {
    make_plain([&, values = values](const Hdf5Handle& file, const Hdf5Handle&) {
      put_dataset(file, "x", H5T_IEEE_F64LE, {values.size()}, values);
    });
    expect_bad(words);
  }
  make_plain([](const Hdf5Handle& file, const Hdf5Handle&) {
    write_hdf5_labels(file, "", "x", {"a", "b", "c", "d"});
  });
  expect_bad("/x does not hold numbers");
}

TEST_F(PlaneFiles, AxesInAnotherOrderAreRefused) {
  make_plain([](const Hdf5Handle& file, const Hdf5Handle& f) {
    const Hdf5Handle x = put_scale(file, "x", {1, 2, 3});
    const Hdf5Handle y = put_scale(file, "y", {1, 2, 3, 4});
    attach_hdf5_scales(f, "", {&x, &y});
  });
  expect_bad("/f has its axes in the order x, y; expected y and x last: transpose it");
}

TEST_F(PlaneFiles, PackedNumbersAreRefused) {
  make_plain([](const Hdf5Handle&, const Hdf5Handle& f) {
    Hdf5AttributeWriter(f, "").real("scale_factor", 0.5);
  });
  expect_bad("/f is packed (scale_factor 0.5, add_offset 0); unpack it");
}

TEST_F(PlaneFiles, ValuesThatAreNoneAreCountedOnce) {
  std::vector<double> values = numbers(60);
  for (const int at : {27, 28, 59}) values[to_size(at)] = NAN;
  make_hdf5(comm_, path_, [&](const Hdf5Handle& file) {
    put_dataset(file, "f", H5T_IEEE_F64LE, {5, 3, 4}, values);
  });
  const std::string words =
      "/f is nan at axis0 2, y 0, x 3 (from 0), and is not finite or missing at 3 places of the "
      "fields read with it";
  expect_bad(words);
  const PlaneFileReader reader(comm_, path_);
  const PlaneFilePart all{{0, 1, 2, 3, 4}, 0, 3};  // on every rank
  expect_error(ErrorKind::data, words,
               [&] { reader.read(all, MapView<double>(values.data(), 5, 12)); });
  make_plain([](const Hdf5Handle&, const Hdf5Handle& f) {
    Hdf5AttributeWriter(f, "").real("_FillValue", 5);
  });
  expect_bad("/f is missing (5) at y 1, x 1 (from 0)");
}

TEST_F(PlaneFiles, ClassicNetCdfIsNamed) {
  for (const char version : {'\x01', '\x02', '\x05'}) {
    test::on_root(comm_, [&] {
      test::write_text(path_, std::string("CDF") + version + std::string(1000, '\0'));
    });
    expect_bad("nccopy -k nc4 IN OUT");
  }
}

TEST_F(PlaneFiles, DamagedFilesNeitherHangNorCrash) {
  const PlaneHeader header = sample_header();
  write<double>(header, rows_of(header));
  const std::string whole = content();
  for (std::size_t cut = 0; cut < 12; ++cut) {
    const std::size_t length = cut == 0 ? whole.size() - 1 : whole.size() * cut / 12;
    test::on_root(comm_, [&] { test::write_text(path_, whole.substr(0, length)); });
    expect_bad("");
  }
  std::mt19937 random(20260102);
  for (int i = 0; i < 40; ++i) {
    std::string broken = whole;
    broken[random() % broken.size()] ^= static_cast<char>(1u << (random() % 8));
    test::on_root(comm_, [&] { test::write_text(path_, broken); });
    const test::Thrown thrown = test::thrown_by([&] { read_all(); });
    EXPECT_TRUE(thrown.kind == ErrorKind::none || thrown.kind == ErrorKind::data ||
                thrown.kind == ErrorKind::usage)
        << thrown.message;
  }
}

}  // namespace
}  // namespace ringweave::detail
