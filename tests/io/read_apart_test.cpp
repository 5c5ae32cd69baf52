// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/read_apart.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <functional>
#include <limits>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "base/child_process.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/lat_lon.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/hdf5/plane.hpp"
#include "io/hdf5/points.hpp"
#include "io/hdf5/read_driver.hpp"
#include "io/written_file.hpp"
#include "io_support.hpp"
#include "ringweave/files.hpp"
#include "support/libhdf5_suppressions.hpp"

namespace ringweave::detail::test {
namespace {

/// A sanitizer ends the process that reads where it finds the library's errors, and names the
/// library.
bool is_of_library(const Thrown& thrown) {
  return thrown.kind == ErrorKind::internal && thrown.message.find("libhdf5") != std::string::npos;
}

class ReadApart : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};
  std::string path_ = folder_ / "map.h5";

  void put(const std::string& bytes) {
    comm_.barrier();  // until no rank reads the file before it
    on_root(comm_, [&] { write_text(path_, bytes); });
  }
};

TEST_F(ReadApart, GivesWhatWasReadAndItsErrors) {
  put("not read here");
  const std::vector<double> numbers{1.0 / 3, std::numeric_limits<double>::infinity(), -0.0};
  EXPECT_EQ(read_apart(path_, [&] { return numbers; }), numbers);
  EXPECT_TRUE(std::isnan(read_apart(path_, [] { return std::nan(""); })));
  const std::string bytes("\xff\x00text", 6);
  EXPECT_EQ(read_apart(path_, [&] { return bytes; }), bytes);
  expect_error(ErrorKind::usage, "name one of them",
               [&] { read_apart(path_, []() -> int { throw UsageError("name one of them"); }); });
  expect_error(ErrorKind::data, "No such file",
               [&] { read_apart(folder_ / "none.h5", [] { return 1; }); });
}

TEST_F(ReadApart, RefusesAFileThatItsReaderDoesNotSurviveUntilItChanges) {
  put("first");
  const std::string words = path_ +
                            ": is damaged so that the HDF5 library does not survive it (it "
                            "crashed); copy the file again";
  expect_error(ErrorKind::data, words,
               [&] { read_apart(path_, [] { return std::raise(SIGSEGV); }); });
  expect_error(ErrorKind::data, words, [&] { read_apart(path_, [] { return 1; }); });
  put("another one");
  EXPECT_EQ(read_apart(path_, [] { return 1; }), 1);
  expect_error(ErrorKind::data, "needed more than 512 MiB of memory",
               [&] { read_apart(path_, []() -> int { throw std::bad_alloc(); }); });
}

/// Writes a file in the newest format, whose many groups and attributes lie in trees and heaps.
void write_dense_file(const std::string& path) {
  const Hdf5Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  H5Pset_libver_bounds(access.id(), H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const Hdf5Handle creation(H5Pcreate(H5P_FILE_CREATE), H5Pclose);
  H5Pset_obj_track_times(creation.id(), false);
  const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, creation.id(), access.id()),
                        H5Fclose);
  const std::vector<double> values(std::size_t{192}, 0.5);
  const Hdf5Handle map =
      write_small_dataset(file, path, "map", H5T_NATIVE_DOUBLE, {1, 192}, values.data());
  const Hdf5AttributeWriter attributes(map, path);
  attributes.integer("NSIDE", 4);
  attributes.text("ORDERING", "RING");
  for (int i = 0; i < 40; ++i) {
    attributes.real(("NUMBER" + std::to_string(i)).c_str(), i);
    attributes.text(("TEXT" + std::to_string(i)).c_str(), "some text");
    const std::string name = "part" + std::to_string(i);
    if (i % 2 == 0) {
      create_hdf5_group(file, path, name.c_str());
    } else {
      write_small_dataset(file, path, name.c_str(), H5T_NATIVE_DOUBLE, {8}, values.data());
    }
  }
}

TEST_F(ReadApart, IsHowOutputsThatAreThereAreInspected) {
  on_root(comm_, [&] { write_dense_file(path_); });
  EXPECT_EQ(inspect_written_file(path_).state, WrittenFile::State::foreign);
  expect_error(ErrorKind::data, "crashed",
               [&] { read_apart(path_, [] { return std::raise(SIGSEGV); }); });
  const WrittenFile refused = inspect_written_file(path_);
  EXPECT_EQ(refused.state, WrittenFile::State::broken);
  EXPECT_NE(refused.reason.find("does not survive it"), std::string::npos) << refused.reason;
}

/// Makes every later read of an open file fail, as that of a folder does.
void break_disk(const Hdf5Handle& file, const std::string& folder) {
  void* handle = nullptr;
  ASSERT_GE(H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &handle), 0);
  const int opened = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY);
  ASSERT_GE(opened, 0);
  ::dup2(opened, *static_cast<int*>(handle));
  ::close(opened);
}

TEST_F(ReadApart, ADiskThatFailsIsTheErrorWhateverTheLibraryMakesOfIt) {
  on_root(comm_, [&] { write_dense_file(path_); });
  const auto open_and_break = [&] {
    Hdf5Handle file = open_hdf5(path_);
    break_disk(file, folder_.path());
    return file;
  };
  const std::vector<std::function<void()>> readers{
      [&] { EXPECT_FALSE(has_hdf5_object(open_and_break(), "map")); },
      [&] { hdf5_groups(open_and_break(), path_, "/"); },
      [&] { inspect_hdf5_dataset(open_and_break(), path_, "map"); },
      [&] {
        const Hdf5Handle file = open_hdf5(path_);
        const Hdf5Handle map(H5Dopen2(file.id(), "map", H5P_DEFAULT), H5Dclose);
        break_disk(file, folder_.path());
        Hdf5AttributeReader(map, path_).keywords();
      }};
  const std::string words = path_ + ": cannot be read at byte ";
  for (const std::function<void()>& reader : readers) {
    expect_error(ErrorKind::resource, words, [&] { report_failed_reads(path_, reader); });
    expect_error(ErrorKind::resource, "Is a directory; is the disk failing?", [&] {
      read_apart(path_, [&] {
        reader();
        return 1;
      });
    });
  }
  EXPECT_NO_THROW(report_failed_reads(path_, [&] { open_hdf5(path_); }));
}

TEST_F(ReadApart, AFileThatIsBeingWrittenIsAnErrorThatSaysSo) {
  on_root(comm_, [&] {
    write_dense_file(path_);
    const int writer = ::open(path_.c_str(), O_RDWR);
    ASSERT_EQ(::flock(writer, LOCK_EX), 0);
    expect_error(ErrorKind::data, path_ + ": is being written by another program",
                 [&] { read_apart(path_, [&] { return open_hdf5(path_).valid(); }); });
    ::close(writer);
    EXPECT_TRUE(read_apart(path_, [&] { return open_hdf5(path_).valid(); }));
  });
}

/// Changes three bytes, mostly such that are not zero.
std::string damaged(std::string bytes, unsigned seed) {
  std::mt19937 random(seed);
  for (int i = 0; i < 3; ++i) {
    std::size_t at = random() % bytes.size();
    while (bytes[at] == '\0' && random() % 4 != 0) at = random() % bytes.size();
    const auto bit = static_cast<unsigned char>(1u << (random() % 8));
    const std::array<unsigned char, 3> choices{
        static_cast<unsigned char>(static_cast<unsigned char>(bytes[at]) ^ bit),
        static_cast<unsigned char>(random() % 256), 255};
    bytes[at] = static_cast<char>(choices[random() % choices.size()]);
  }
  return bytes;
}

/// Reads a file as everything that it may be, in this process.
void read_as_anything(const std::string& path) {
  thrown_by([&] { find_in_hdf5(path); });
  thrown_by([&] { find_hdf5_lat_lon(path, ""); });
  thrown_by([&] { read_hdf5_map_info(path); });
  thrown_by([&] { find_hdf5_plane(path, ""); });
}

TEST_F(ReadApart, DamagedFilesOnWhichTheLibraryCrashesAreRefused) {
  std::string whole;
  on_root(comm_, [&] {
    H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    write_dense_file(path_);
    whole = bytes_of(path_);
  });
  whole = comm_.broadcast(whole, 0);
  int crashed = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    put(damaged(whole, seed));
    if (comm_.is_root()) {
      const ChildEnd end = run_in_child([&] {
        read_as_anything(path_);
        return std::string();
      });
      crashed += end.how == ChildEnd::How::done ? 0 : 1;
    }
    const std::vector<std::function<void()>> readers{
        [&] { find_plane_content(comm_, path_); }, [&] { open_map(comm_, path_); },
        [&] { open_alm(comm_, path_); },           [&] { read_spectra(comm_, path_); },
        [&] { read_points(comm_, path_); },        [&] { PlaneFileReader(comm_, path_); }};
    for (const std::function<void()>& reader : readers) {
      const Thrown thrown = thrown_by(reader);
      EXPECT_TRUE(thrown.kind == ErrorKind::none || thrown.kind == ErrorKind::data ||
                  thrown.kind == ErrorKind::usage || is_of_library(thrown))
          << thrown.message;
    }
  }
  unsigned major = 0, minor = 0, release = 0;
  H5get_libversion(&major, &minor, &release);
  // Otherwise the files show nothing.
  if (comm_.is_root() && major == 1 && minor == 10) {
    EXPECT_GT(crashed, 0);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
