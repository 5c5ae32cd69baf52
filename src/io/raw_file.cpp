// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/raw_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr mode_t mode_of_new_files = 0666;

}  // namespace

void refuse_to_open(const std::string& path, int reason) {
  const bool is_of_file =
      reason == ENOENT || reason == ENOTDIR || reason == EACCES || reason == EPERM;
  const std::string words = fmt::format("cannot be opened: {}", std::strerror(reason));
  if (is_of_file) throw DataError(path, words);
  throw ResourceError(fmt::format("{}: {}", path, words));
}

void refuse_to_read(const std::string& path, std::int64_t offset, int reason) {
  throw ResourceError(fmt::format("{}: cannot be read at byte {}: {}; is the disk failing?", path,
                                  offset, std::strerror(reason)));
}

RawFile RawFile::open_to_read(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) refuse_to_open(path, errno);
  return {path, file};
}

RawFile RawFile::open_to_write(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) {
    throw ResourceError(fmt::format(
        "{}: cannot be opened to write: {}; is its folder on a file system that every node sees?",
        path, std::strerror(errno)));
  }
  return {path, file};
}

RawFile RawFile::create(const std::string& path) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
                          mode_of_new_files);
  if (file < 0)
    throw ResourceError(fmt::format("{}: cannot be created: {}", path, std::strerror(errno)));
  return {path, file};
}

RawFile::~RawFile() {
  if (file_ >= 0) ::close(file_);
}

std::int64_t RawFile::size() const {
  struct stat status {};
  if (::fstat(file_, &status) != 0)
    throw ResourceError(fmt::format("{}: cannot be read: {}", path_, std::strerror(errno)));
  return status.st_size;
}

void RawFile::read(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pread(file_, bytes.data(), std::min(bytes.size(), most_bytes_per_call), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse_to_read(path_, offset, errno);
    if (count == 0) {
      throw DataError(path_, fmt::format("ends at byte {}, {} bytes before its data do; was it cut "
                                         "while it was read? Copy it again",
                                         offset, bytes.size()));
    }
    offset += count;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void RawFile::fail_to_write(const std::string& doing, int reason) const {
  throw ResourceError(fmt::format("{}: {} failed: {}; free space or choose another folder", path_,
                                  doing, std::strerror(reason)));
}

void RawFile::write(std::int64_t offset, std::span<const std::byte> bytes) const {
  while (!bytes.empty()) {
    const ssize_t count =
        ::pwrite(file_, bytes.data(), std::min(bytes.size(), most_bytes_per_call), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail_to_write("writing", count < 0 ? errno : ENOSPC);
    offset += count;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void RawFile::reserve(std::int64_t size) const {
  if (::fallocate(file_, 0, 0, size) == 0) return;
  const bool is_refused = errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO;
  if (!is_refused && ::ftruncate(file_, size) == 0) return;
  fail_to_write(fmt::format("making room for its {} bytes", size), errno);
}

void RawFile::close() {
  if (::close(std::exchange(file_, -1)) != 0 && errno != EINTR) fail_to_write("closing", errno);
}

}  // namespace ringweave::detail::inline io
