// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "io/byte_digest.hpp"
#include "io/raw_file.hpp"

namespace ringweave::detail::inline io {

// Outputs are written, closed, and read again before they get their name. None of these functions
// is collective. Error  ResourceError where the disk fails.

/// Opens a file that was just written. Error  ResourceError, not DataError.
RawFile open_again(const std::string& path);

/// Passes bytes [begin, end) of such a file to `take`, in blocks of a mebibyte but for the last
/// one. Error  ResourceError also for a file that ends before.
void read_again(const RawFile& file, std::int64_t begin, std::int64_t end,
                const std::function<void(std::span<const std::byte>)>& take);

/// Throws a ResourceError unless the file has so many bytes on disk.
void require_length(const std::string& path, std::int64_t bytes);

/// Throws the ResourceError that a file on disk is not what was written. `place` completes the
/// sentence: " (HDU 2)"; it may be empty.
[[noreturn]] void refuse_as_lost(const std::string& path, const std::string& place);

/// Bytes of an output, from some byte on, which this rank writes one after the other and then
/// compares with those on disk. Follows no link.
class OutputPart {
 public:
  /// Begins a file; one that is there is emptied.
  static OutputPart of_new_file(const std::string& path);
  /// Begins at a byte of a file that is there, of which other ranks write other bytes.
  static OutputPart of_shared_file(const std::string& path, std::int64_t begin);

  /// Writes all of the bytes.
  void write(std::string_view bytes);
  std::int64_t end() const { return end_; }  ///< the byte after the last one written
  /// Closes the file. Required, because the destructor cannot report errors.
  void close() { file_.close(); }
  /// Reads the closed file again. Error  ResourceError where it differs from what was written.
  void verify() const;

 private:
  OutputPart(RawFile file, std::int64_t begin);

  RawFile file_;
  std::int64_t begin_;
  std::int64_t end_;
  ByteDigest written_;
};

/// Writes a file at once and compares it with what is on disk.
void write_whole_file(const std::string& path, std::string_view content);

}  // namespace ringweave::detail::inline io
