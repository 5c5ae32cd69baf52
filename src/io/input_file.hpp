// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave::detail::inline io {

/// Returns the size of an input file in bytes. Not collective.
/// Error  DataError when it is missing, empty, unreadable or not a regular file (reading a pipe
/// would block forever).
std::int64_t check_input_file(const std::string& path);

/// Returns the text of an input file. Not collective.
/// Error  DataError as check_input_file(), when it has more than `most_bytes`, and when it cannot
///        be read to its end.
std::string read_input_text(const std::string& path, std::int64_t most_bytes);

/// Opens an input file for a moment on a rank other than 0, which has checked it, and returns its
/// size in bytes. Not collective. Error  as RawFile::open_to_read(), to be agreed upon.
std::int64_t check_input_of_other_rank(const std::string& path);
/// Throws a DataError where a rank sees another size of a file than rank 0. Not collective.
void require_size_of_root(const std::string& path, std::int64_t size, std::int64_t of_root);

/// The state of an input file, by which a change shows: taken before its header is read, and
/// compared when all its numbers have been read.
class InputStamp {
 public:
  /// Takes the state. Not collective. Error  as check_input_file().
  explicit InputStamp(const std::string& path);
  std::int64_t size() const { return state_.size; }  ///< in bytes
  /// Returns the time of the last change, in nanoseconds since 1970.
  std::int64_t modified() const;
  /// Throws a DataError unless the file had this size and time when the state was taken.
  void require_state(std::int64_t size, std::int64_t modified) const;
  /// Throws a DataError where the file is another, shorter, longer or newer one than it was. Not
  /// collective.
  void require_same() const;
  friend bool operator==(const InputStamp&, const InputStamp&) = default;

 private:
  struct State {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t seconds = 0;  ///< of the last change
    std::int64_t nanoseconds = 0;
    friend bool operator==(const State&, const State&) = default;
  };
  static State state_of(const std::string& path);
  [[noreturn]] void refuse() const;

  std::string path_;
  State state_;
};

}  // namespace ringweave::detail::inline io
