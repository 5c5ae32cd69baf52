// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <filesystem>
#include <functional>
#include <optional>
#include <random>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/rows.hpp"
#include "io_support.hpp"
#include "ringweave/files.hpp"
#include "support/file_size_limit.hpp"
#include "support/libhdf5_suppressions.hpp"

// Every error must be the same on all ranks and leave none waiting: a hang ends the test at its
// time limit.
namespace ringweave::detail {
namespace {

using test::deal_rings;
using test::expect_error;
using test::ScratchFolder;

class Hdf5FromStrangers : public testing::Test {
 protected:
  /// Writes a file with a map whose numbers are still missing.
  void create_map(const Hdf5Shape& shape) const {
    test::on_root(comm_, [&] {
      Hdf5Handle file = create_hdf5(path_);
      create_hdf5_dataset(file, path_, "map", shape);
      close_hdf5(std::move(file), path_);
    });
  }

  /// Returns this rank's part of a row.
  RowRun own_part(std::int64_t length) const {
    const std::int64_t count = length / comm_.size();
    return {count * comm_.rank(), count};
  }

  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};
  std::string path_ = folder_ / "map.h5";
  LocalRings rings_ = deal_rings(std::make_shared<const RingGrid>(RingGrid::healpix(4)), comm_);

  void write_good_map(SkyCoverage coverage = SkyCoverage::full) {
    MapHeader header;
    header.grid = rings_.shared_grid();
    header.coverage = coverage;
    header.columns = {{"TEMPERATURE", "K"}};
    const std::vector<double> map = test::pixel_values<double>(rings_, 1);
    write_map(comm_, path_, IfExists::overwrite, header, test::sample_provenance(), rings_,
              MapView<const double>(map.data(), 1, rings_.n_pixels()));
  }
  /// Writes it and returns its bytes on all ranks.
  std::string good_map() {
    write_good_map();
    std::string bytes;
    test::on_root(comm_, [&] { bytes = test::bytes_of(path_); });
    return comm_.broadcast(bytes, 0);
  }
  void read() {
    const auto reader = open_map(comm_, path_);
    const LocalRings rings = deal_rings(reader->header().grid, comm_);
    std::vector<double> map(to_size(rings.n_pixels()));
    reader->observed_rings();
    reader->read(std::vector<int>{0}, rings, MapView<double>(map.data(), 1, rings.n_pixels()));
  }
  /// Lets rank 0 modify the good file.
  void change(const std::function<void(const Hdf5Handle& file)>& work) {
    test::on_root(comm_, [&] {
      const Hdf5Handle file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      ASSERT_TRUE(file.valid());
      work(file);
    });
  }
  /// Replaces an attribute of /map.
  void change_attribute(const char* name,
                        const std::function<void(const Hdf5AttributeWriter&)>& write) {
    change([&](const Hdf5Handle& file) {
      const Hdf5Handle map(H5Dopen2(file.id(), "map", H5P_DEFAULT), H5Dclose);
      H5Adelete(map.id(), name);
      write(Hdf5AttributeWriter(map, path_));
    });
  }
  void expect_data_error(const std::string& words) {
    expect_error(ErrorKind::data, words, [&] { read(); });
    expect_error(ErrorKind::data, path_, [&] { read(); });
  }
};

TEST_F(Hdf5FromStrangers, MissingFilesAndThingsThatAreNotFiles) {
  expect_data_error("No such file");
  test::on_root(comm_, [&] { std::filesystem::create_directory(path_); });
  expect_data_error("is a folder");
  test::on_root(comm_, [&] {
    std::filesystem::remove(path_);
    ::mkfifo(path_.c_str(), 0600);
  });
  expect_data_error("not a regular file");
  test::on_root(comm_, [&] {
    std::filesystem::remove(path_);
    test::write_text(path_, "");
  });
  expect_data_error("is empty");
  test::on_root(comm_, [&] { test::write_text(path_, std::string(5000, 'x')); });
  expect_data_error("not an HDF5 file");
}

TEST_F(Hdf5FromStrangers, FilesCutShortAnywhereAreErrors) {
  const std::string whole = good_map();
  const std::size_t n_cuts = 24;
  for (std::size_t cut = 0; cut < n_cuts; ++cut) {
    const std::size_t length = cut + 1 == n_cuts ? whole.size() - 1 : whole.size() * cut / n_cuts;
    test::on_root(comm_, [&] { test::write_text(path_, whole.substr(0, length)); });
    expect_data_error("");
  }
}

TEST_F(Hdf5FromStrangers, FlippedBytesNeitherHangNorCrash) {
  const std::string whole = good_map();
  std::mt19937 random(20260101);
  for (int i = 0; i < 60; ++i) {
    std::string broken = whole;
    // The metadata of such a small file are before its 1536 bytes of pixels and in the attribute
    // heaps after them.
    broken[random() % broken.size()] ^= static_cast<char>(1u << (random() % 8));
    test::on_root(comm_, [&] { test::write_text(path_, broken); });
    const test::Thrown thrown = test::thrown_by([&] { read(); });
    EXPECT_TRUE(thrown.kind == ErrorKind::none || thrown.kind == ErrorKind::data) << thrown.message;
  }
}

/// Returns `number` as the bytes of a file.
std::string eight_bytes(std::uint64_t number) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<char>(number >> (8 * i) & 0xff));
  return bytes;
}

TEST_F(Hdf5FromStrangers, TextsInADamagedHeapAreRefused) {
  const std::string whole = good_map();
  const std::size_t heap = whole.find("GCOL");
  const std::size_t to_heap = whole.find(eight_bytes(heap), whole.find("ORDERING"));
  ASSERT_NE(heap, std::string::npos);
  ASSERT_NE(to_heap, std::string::npos);
  constexpr std::size_t head = 16;  // of the collection, and of its objects
  const std::string huge = eight_bytes(std::uint64_t{1} << 40);
  const std::vector<std::pair<std::size_t, std::string>> damages{
      {heap, "X"},                                     // no heap
      {heap + 8, huge},                                // its size
      {heap + 8, eight_bytes(0)},                      //
      {heap + head + 8, huge},                         // the length of the object
      {heap + head, eight_bytes(0)},                   // free space without end
      {to_heap - 4, std::string("\xff\xff\xff\x7f")},  // the length of a text
      {to_heap, huge},                                 // where its collection begins
      {to_heap, eight_bytes(~std::uint64_t{0})},       //
      {to_heap + 8, std::string("\xff\xff\xff\xff")},  // which object of it
  };
  for (const auto& [at, bytes] : damages) {
    SCOPED_TRACE(at);
    std::string broken = whole;
    broken.replace(at, bytes.size(), bytes);
    test::on_root(comm_, [&] { test::write_text(path_, broken); });
    expect_data_error("is broken; copy the file again");
  }
}

TEST_F(Hdf5FromStrangers, GroupsWithoutAddressesAreRefused) {
  write_good_map();
  test::on_root(comm_, [&] {
    std::string broken = test::bytes_of(path_);
    // The first node of the root group's tree.
    broken.replace(broken.find("TREE") + 32, 8, std::string(8, '\xff'));
    test::write_text(path_, broken);
  });
  expect_data_error("its group / is broken");
}

TEST_F(Hdf5FromStrangers, DamagedSampleFilesNeitherHangNorCrash) {
  const std::filesystem::path folder = std::filesystem::path(RINGWEAVE_TEST_DATA) / "hostile";
  if (!std::filesystem::is_directory(folder)) GTEST_SKIP() << "no damaged sample files";
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".h5" || entry.path().extension() == ".fits")
      files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  for (const std::filesystem::path& file : files) {
    SCOPED_TRACE(file.filename());
    path_ = file.string();
    const auto begin = std::chrono::steady_clock::now();
    const auto read_alm = [&] {
      const auto reader = open_alm(comm_, path_);
      const AlmHeader& header = reader->header();
      std::vector<int> orders;
      for (int m = comm_.rank(); m <= header.mmax; m += comm_.size()) orders.push_back(m);
      const AlmLayout layout(header.lmax, header.mmax, orders);
      std::vector<std::complex<double>> alm(to_size(layout.size()));
      reader->read(std::vector<int>{0}, layout, AlmView<double>(alm.data(), 1, layout.size()));
    };
    for (const std::function<void()>& work :
         {std::function<void()>([&] { read(); }), std::function<void()>(read_alm),
          std::function<void()>([&] { read_spectra(comm_, path_); })}) {
      const test::Thrown thrown = test::thrown_by(work);
      EXPECT_TRUE(thrown.kind == ErrorKind::none || thrown.kind == ErrorKind::data)
          << thrown.message;
    }
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  }
}

TEST_F(Hdf5FromStrangers, NsideMustMatchTheLength) {
  write_good_map();
  change_attribute("NSIDE", [](const auto& to) { to.integer("NSIDE", 8); });
  expect_data_error("192 pixels but NSIDE = 8 means 768");
  change_attribute("NSIDE", [](const auto& to) { to.integer("NSIDE", std::int64_t{1} << 40); });
  expect_data_error("expected 1 to 131072");
  change_attribute("NSIDE", [](const auto& to) { to.text("NSIDE", "many"); });
  expect_data_error("not a number");
  change_attribute("NSIDE", [](const auto& to) { to.text("NSIDE", "4"); });
  EXPECT_NO_THROW(read());
}

TEST_F(Hdf5FromStrangers, OrderingMustBeKnown) {
  write_good_map();
  change_attribute("ORDERING", [](const auto& to) { to.text("ORDERING", "SPIRAL"); });
  expect_data_error("expected RING or NESTED");
  change_attribute("ORDERING", [](const auto& to) { to.integer("ORDERING", 1); });
  expect_data_error("is not text");
}

TEST_F(Hdf5FromStrangers, DatasetsOfOtherKindsAreRefused) {
  write_good_map();
  const auto replace_map = [&](hid_t type, const std::vector<hsize_t>& dims) {
    change([&](const Hdf5Handle& file) {
      H5Ldelete(file.id(), "map", H5P_DEFAULT);
      const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                             H5Sclose);
      const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
      H5Pset_alloc_time(creation.id(), H5D_ALLOC_TIME_EARLY);
      const Hdf5Handle map(
          H5Dcreate2(file.id(), "map", type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
          H5Dclose);
    });
  };
  replace_map(H5T_C_S1, {1, 192});
  expect_data_error("does not hold numbers");
  replace_map(H5T_NATIVE_DOUBLE, {2, 2, 48});
  expect_data_error("has 3 dimensions");
  replace_map(H5T_NATIVE_DOUBLE, {192, 1});
  expect_data_error("pixels");
  replace_map(H5T_NATIVE_DOUBLE, {1, 191});
  expect_data_error("191 pixels");
  replace_map(H5T_NATIVE_LDOUBLE, {1, 192});
  expect_data_error("numbers of 16 bytes");
}

TEST_F(Hdf5FromStrangers, DatasetsThatWereNeverWrittenAreRefused) {
  write_good_map();
  change([&](const Hdf5Handle& file) {
    H5Ldelete(file.id(), "map", H5P_DEFAULT);
    const hsize_t dims[2] = {1, hsize_t{12} << 30};
    const Hdf5Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    const Hdf5Handle map(H5Dcreate2(file.id(), "map", H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT,
                                    H5P_DEFAULT, H5P_DEFAULT),
                         H5Dclose);
  });
  expect_data_error("does not hold them");
}

TEST_F(Hdf5FromStrangers, LinksAreNotFollowed) {
  write_good_map();
  change([&](const Hdf5Handle& file) {
    H5Lmove(file.id(), "map", file.id(), "real", H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_soft("/real", file.id(), "map", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_data_error("holds no map");
  change([&](const Hdf5Handle& file) {
    H5Ldelete(file.id(), "map", H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/map", file.id(), "map", H5P_DEFAULT, H5P_DEFAULT);
  });
  expect_data_error("holds no map");
}

TEST_F(Hdf5FromStrangers, PixelListsMustAscendOnTheSky) {
  const auto set_pixel = [&](std::size_t at, std::int64_t value) {
    write_good_map(SkyCoverage::partial);
    change([&](const Hdf5Handle& file) {
      const Hdf5Handle pixel(H5Dopen2(file.id(), "partial/pixel", H5P_DEFAULT), H5Dclose);
      std::vector<std::int64_t> list(192);
      H5Dread(pixel.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data());
      list[at] = value;
      H5Dwrite(pixel.id(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, list.data());
    });
  };
  set_pixel(7, 6);
  expect_data_error("pixel[7] = 6 after 6");
  set_pixel(150, 100);
  expect_data_error("ascend strictly");
  set_pixel(191, 192);
  expect_data_error("expected 0 to 191");
  set_pixel(0, -1);
  expect_data_error("expected 0 to 191");
}

TEST_F(Hdf5FromStrangers, ScalesAndOffsetsMustBeFinite) {
  path_ = folder_ / "map.nc";
  rings_ = deal_rings(std::make_shared<const RingGrid>(RingGrid::from_name("fejer:8")), comm_);
  for (const char* name : {"scale_factor", "add_offset"}) {
    write_good_map();
    EXPECT_NO_THROW(read());
    change([&](const Hdf5Handle& file) {
      const Hdf5Handle map(H5Dopen2(file.id(), "TEMPERATURE", H5P_DEFAULT), H5Dclose);
      Hdf5AttributeWriter(map, path_).real(name, std::nan(""));
    });
    expect_data_error("/TEMPERATURE has scale_factor");
  }
}

TEST_F(Hdf5FromStrangers, GridsMustAgreeWithTheirName) {
  rings_ = deal_rings(std::make_shared<const RingGrid>(RingGrid::gauss_legendre(6)), comm_);
  write_good_map();
  EXPECT_NO_THROW(read());
  const auto rename = [&](const std::string& name) {
    change([&](const Hdf5Handle& file) {
      const Hdf5Handle grid(H5Gopen2(file.id(), "grid", H5P_DEFAULT), H5Gclose);
      H5Adelete(grid.id(), "name");
      Hdf5AttributeWriter(grid, path_).text("name", name);
    });
  };
  rename("gauss:2000000000");
  EXPECT_NO_THROW(read());  // the arrays form no known grid, so the name is a mere description
  rename("fejer:6");
  expect_data_error("its rings are others");
  rename("gauss:9");
  expect_data_error("its rings are others");
  rename("my own");
  EXPECT_NO_THROW(read());
}

TEST_F(Hdf5FromStrangers, MapsAlmAndSpectraAreNotTakenForEachOther) {
  write_good_map();
  expect_error(ErrorKind::data, "holds a sky map", [&] { open_alm(comm_, path_); });
  expect_error(ErrorKind::data, "holds a sky map", [&] { read_spectra(comm_, path_); });
}

TEST_F(Hdf5FromStrangers, AFullDiskIsAResourceErrorAndLeavesTheOldFile) {
  const std::string before = good_map();
  rings_ = deal_rings(std::make_shared<const RingGrid>(RingGrid::healpix(64)), comm_);
  const test::Thrown thrown = test::thrown_by([&] {
    const test::FileSizeLimit small(20000);
    write_good_map();
  });
  EXPECT_EQ(thrown.kind, ErrorKind::resource) << thrown.message;
  test::on_root(comm_, [&] {
    EXPECT_TRUE(test::bytes_of(path_) == before);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
  });
}

TEST_F(Hdf5FromStrangers, AWriteThatFailsOnOneRankFailsOnAll) {
  const std::int64_t length = 300000;
  const Hdf5Shape shape{{1, length}, Hdf5Shape::Number::real, 8, Hdf5Shape::Layout::contiguous};
  create_map(shape);
  const RowRun run = own_part(length);
  const std::vector<double> values(to_size(run.count), 1.0);
  const test::Thrown thrown = test::thrown_by([&] {
    Hdf5TransferFile file(comm_, path_, Hdf5Access::write);
    const Hdf5Rows rows(file, "map", shape);
    std::optional<test::FileSizeLimit> small;
    if (comm_.rank() == comm_.size() - 1) small.emplace(100000);
    agree(comm_, [&] { rows.write(0, std::span(&run, 1), std::span<const double>(values)); });
  });
  EXPECT_EQ(thrown.kind, ErrorKind::resource);
  EXPECT_NE(thrown.message.find("writing failed"), std::string::npos) << thrown.message;
}

TEST_F(Hdf5FromStrangers, WhatTheDiskLostIsNoticedBeforeTheFileIsUsed) {
  const std::int64_t length = 3000;
  const Hdf5Shape shape{{2, length}, Hdf5Shape::Number::real, 8, Hdf5Shape::Layout::contiguous};
  create_map(shape);
  const RowRun run = own_part(length);
  const std::vector<double> values(to_size(run.count), 1.0);
  const test::Thrown thrown = test::thrown_by([&] {
    Hdf5TransferFile file(comm_, path_, Hdf5Access::write);
    const Hdf5Rows rows(file, "map", shape);
    for (const std::int64_t row : {0, 1})
      rows.write(row, std::span(&run, 1), std::span<const double>(values));
    comm_.barrier();
    test::on_root(comm_, [&] {
      const RawFile damaged = RawFile::open_to_write(path_);
      damaged.write(static_cast<std::int64_t>(std::filesystem::file_size(path_)) - 1,
                    std::vector<std::byte>(1));
    });
    file.close();
  });
  EXPECT_EQ(thrown.kind, ErrorKind::resource);
  EXPECT_NE(thrown.message.find("what was written is not what is on disk at byte"),
            std::string::npos)
      << thrown.message;
}

TEST_F(Hdf5FromStrangers, AFileThatIsCutWhileItIsReadIsNoticed) {
  const std::int64_t length = 3000;
  const Hdf5Shape shape{{1, length}, Hdf5Shape::Number::real, 8, Hdf5Shape::Layout::contiguous};
  Hdf5Shape stored;
  create_map(shape);
  stored = inspect_hdf5_dataset(open_hdf5(path_), path_, "map");
  Hdf5TransferFile file(comm_, path_, Hdf5Access::read);
  const Hdf5Rows rows(file, "map", stored);
  test::on_root(comm_, [&] { std::filesystem::resize_file(path_, 10000); });
  comm_.barrier();
  std::vector<double> values(to_size(length));
  const RowRun run{0, length};
  const test::Thrown thrown =
      test::thrown_by([&] { rows.read(0, std::span(&run, 1), std::span(values)); });
  EXPECT_EQ(thrown.kind, ErrorKind::data);
  EXPECT_NE(thrown.message.find("was it cut while it was read"), std::string::npos)
      << thrown.message;
}

TEST_F(Hdf5FromStrangers, AFileThatChangesAfterItsHeaderWasReadIsAnError) {
  write_good_map();
  const auto reader = open_map(comm_, path_);
  std::vector<double> map(to_size(rings_.n_pixels()));
  const auto read_again = [&] {
    reader->read(std::vector<int>{0}, rings_, MapView<double>(map.data(), 1, rings_.n_pixels()));
  };
  EXPECT_NO_THROW(read_again());
  test::on_root(
      comm_, [&] { std::filesystem::resize_file(path_, std::filesystem::file_size(path_) + 1); });
  expect_error(ErrorKind::data, path_ + ": was changed while it was read", read_again);
}

}  // namespace
}  // namespace ringweave::detail
