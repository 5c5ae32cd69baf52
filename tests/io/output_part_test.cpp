// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/output_part.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>

#include "io/fits/gzip.hpp"
#include "support/expect_error.hpp"
#include "support/file_size_limit.hpp"

namespace ringweave::detail {
namespace {

namespace fs = std::filesystem;
using test::expect_error;

constexpr const char* lost = "what was written is not what is on disk";

class Outputs : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }
  std::size_t n_files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static std::string content_of(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  static void put(const std::string& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }
  static void flip(const std::string& path, std::size_t at) {
    std::string content = content_of(path);
    content[at] = static_cast<char>(content[at] ^ 1);
    put(path, content);
  }

 private:
  fs::path folder_ = fs::path(testing::TempDir()) /
                     (std::string("ringweave_outputs_") +
                      testing::UnitTest::GetInstance()->current_test_info()->name());
};

/// More than a block that is read at once, and not compressible.
std::string noise(std::size_t length) {
  std::mt19937 random(7);
  std::string bytes(length, ' ');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST_F(Outputs, AreWrittenWhole) {
  for (const std::string& content : {std::string(), std::string("text\n"), noise(5'000'001)}) {
    write_whole_file(file("a.txt"), content);
    EXPECT_TRUE(content_of(file("a.txt")) == content) << content.size();
  }
}

TEST_F(Outputs, ThatCannotBeWrittenAreErrorsOfTheDisk) {
  expect_error(ErrorKind::resource, "No space left",
               [] { write_whole_file("/dev/full", "something"); });
  expect_error(ErrorKind::resource, "no_folder/a.txt: cannot be created",
               [&] { write_whole_file(file("no_folder/a.txt"), ""); });
  put(file("other.txt"), "kept");
  fs::create_symlink(file("other.txt"), file("link.txt"));
  expect_error(ErrorKind::resource, "link.txt", [&] { write_whole_file(file("link.txt"), "new"); });
  EXPECT_EQ(content_of(file("other.txt")), "kept");
}

TEST_F(Outputs, ThatChangeBeforeTheyAreReadAgainAreErrors) {
  const std::string content = noise(3'000'000);
  const auto written = [&] {
    OutputPart part = OutputPart::of_new_file(file("a"));
    part.write(std::string_view(content).substr(0, 1000));
    part.write(std::string_view(content).substr(1000));
    part.close();
    EXPECT_EQ(part.end(), 3'000'000);
    return part;
  };
  EXPECT_NO_THROW(written().verify());
  for (const std::size_t at : {std::size_t{0}, std::size_t{1'500'000}, content.size() - 1}) {
    const OutputPart part = written();
    flip(file("a"), at);
    expect_error(ErrorKind::resource, lost, [&] { part.verify(); });
  }
  const OutputPart part = written();
  fs::resize_file(file("a"), 2'999'999);
  expect_error(ErrorKind::resource, "ends at byte 2999999 of 3000000", [&] { part.verify(); });
  expect_error(ErrorKind::resource, "2999999 bytes instead of 3000000",
               [&] { require_length(file("a"), 3'000'000); });
}

TEST_F(Outputs, MayBeSharedByRanks) {
  write_whole_file(file("a"), "head ");
  OutputPart second = OutputPart::of_shared_file(file("a"), 8);
  OutputPart first = OutputPart::of_shared_file(file("a"), 5);
  second.write("two");
  first.write("one");
  first.close();
  second.close();
  EXPECT_EQ(content_of(file("a")), "head onetwo");
  flip(file("a"), 6);
  EXPECT_NO_THROW(second.verify());
  expect_error(ErrorKind::resource, lost, [&] { first.verify(); });
  expect_error(ErrorKind::resource, "cannot be opened to write",
               [&] { OutputPart::of_shared_file(file("none"), 3); });
}

TEST_F(Outputs, ArePackedInPlace) {
  for (const std::string& content : {std::string(3'000'000, 'a'), noise(3'000'000)}) {
    put(file("a.gz"), content);
    gzip_file(file("a.gz"));
    EXPECT_EQ(gunzipped_bytes(file("a.gz"), 10'000'000), 3'000'000);
    EXPECT_EQ(n_files(), 1U);
  }
}

TEST_F(Outputs, ThatUnpackToSomethingElseAreErrors) {
  const std::string content = noise(1'000'000);
  const auto packed = [&] {
    put(file("a.gz"), content);
    return pack_in_place(file("a.gz"));
  };
  EXPECT_NO_THROW(verify_packed(file("a.gz"), packed()));
  const std::size_t length = content_of(file("a.gz")).size();
  for (const std::size_t at : {std::size_t{0}, length / 2, length - 8, length - 1}) {
    const PlainSum sum = packed();
    flip(file("a.gz"), at);
    expect_error(ErrorKind::resource, lost, [&] { verify_packed(file("a.gz"), sum); });
  }
  for (const std::size_t shorter : {std::size_t{0}, std::size_t{5}, length / 2, length - 1}) {
    const PlainSum sum = packed();
    fs::resize_file(file("a.gz"), shorter);
    expect_error(ErrorKind::resource, lost, [&] { verify_packed(file("a.gz"), sum); });
  }
  // Another file in its place, packed and plain.
  const PlainSum sum = packed();
  put(file("a.gz"), std::string(1'000'000, 'b'));
  gzip_file(file("a.gz"));
  expect_error(ErrorKind::resource, lost, [&] { verify_packed(file("a.gz"), sum); });
  put(file("a.gz"), content);
  expect_error(ErrorKind::resource, lost, [&] { verify_packed(file("a.gz"), sum); });
}

TEST_F(Outputs, ThatDoNotFitWhenPackedAreErrorsThatLeaveNoOtherFile) {
  for (const rlim_t limit : {rlim_t{0}, rlim_t{1000}, rlim_t{2'500'000}}) {
    put(file("a.gz"), noise(5'000'000));
    const test::Thrown thrown = test::thrown_by([&] {
      const test::FileSizeLimit small(limit);
      gzip_file(file("a.gz"));
    });
    EXPECT_EQ(thrown.kind, ErrorKind::resource) << limit;
    EXPECT_NE(thrown.message.find("a.gz: cannot be gzipped: File too large"), std::string::npos)
        << thrown.message;
    EXPECT_EQ(n_files(), 1U);
  }
  expect_error(ErrorKind::resource, "none.gz: cannot be opened: No such file",
               [&] { gzip_file(file("none.gz")); });
}

}  // namespace
}  // namespace ringweave::detail
