// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

namespace ringweave::detail::inline io {

/// Throws that a file cannot be opened to read, for a reason of errno: a DataError where the file
/// is missing or may not be read, else a ResourceError.
[[noreturn]] void refuse_to_open(const std::string& path, int reason);
/// Throws that the disk fails: a ResourceError.
[[noreturn]] void refuse_to_read(const std::string& path, std::int64_t offset, int reason);

/// The bytes of a regular file on this rank. Each call moves all of its bytes or throws. Not
/// collective.
class RawFile {
 public:
  /// Linux moves less than 2 GiB in one call.
  static constexpr std::size_t most_bytes_per_call = std::size_t{1} << 30;

  RawFile() = default;
  /// Opens for reading. Error  as refuse_to_open().
  static RawFile open_to_read(const std::string& path);
  /// Opens an existing file for writing, not for reading: network file systems then send the bytes
  /// that were written and no neighbours of them. Follows no link. Error  ResourceError.
  static RawFile open_to_write(const std::string& path);
  /// Opens an empty file for writing, which may have to be made. Follows no link. Error
  /// ResourceError.
  static RawFile create(const std::string& path);
  RawFile(RawFile&& other) noexcept { swap(other); }
  RawFile& operator=(RawFile&& other) noexcept {
    swap(other);
    return *this;
  }
  ~RawFile();

  bool is_open() const { return file_ >= 0; }
  const std::string& path() const { return path_; }
  std::int64_t size() const;
  /// Reads the bytes from `offset` on. Error  DataError when the file ends before, ResourceError
  /// when the disk fails.
  void read(std::int64_t offset, std::span<std::byte> bytes) const;
  /// Writes the bytes from `offset` on. Error  ResourceError.
  void write(std::int64_t offset, std::span<const std::byte> bytes) const;
  /// Gives the file this size and, where the file system can, blocks on disk for all of it. Error
  /// ResourceError.
  void reserve(std::int64_t size) const;
  /// Closes the file. Error  ResourceError.
  void close();

 private:
  RawFile(std::string path, int file) : path_(std::move(path)), file_(file) {}
  void swap(RawFile& other) noexcept {
    std::swap(path_, other.path_);
    std::swap(file_, other.file_);
  }
  [[noreturn]] void fail_to_write(const std::string& doing, int reason) const;

  std::string path_;
  int file_ = -1;
};

}  // namespace ringweave::detail::inline io
