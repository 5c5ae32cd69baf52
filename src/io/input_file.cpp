// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/input_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/checked_cast.hpp"
#include "io/raw_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

std::int64_t check_input_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    throw DataError(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  }
  if (S_ISDIR(status.st_mode)) throw DataError(path, "is a folder; give the name of a file");
  if (!S_ISREG(status.st_mode)) throw DataError(path, "is not a regular file; copy it to one");
  if (::access(path.c_str(), R_OK) != 0)
    throw DataError(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (status.st_size == 0) throw DataError(path, "is empty");
  return status.st_size;
}

std::string read_input_text(const std::string& path, std::int64_t most_bytes) {
  const std::int64_t bytes = check_input_file(path);
  if (bytes > most_bytes) {
    throw DataError(
        path, fmt::format("has {} bytes; a text of at most {} was expected", bytes, most_bytes));
  }
  std::string text(to_size(bytes), '\0');
  std::ifstream file(path, std::ios::binary);
  if (!file.read(text.data(), bytes)) throw DataError(path, "cannot be read to its end");
  return text;
}

std::int64_t check_input_of_other_rank(const std::string& path) {
  constexpr const char* advice =
      "; rank 0 can open it: is its folder on a file system that every node sees?";
  try {
    return RawFile::open_to_read(path).size();
  } catch (const Error& error) {
    throw_error(error.kind(), error.what() + std::string(advice));
  }
}

void require_size_of_root(const std::string& path, std::int64_t size, std::int64_t of_root) {
  if (size == of_root) return;
  throw DataError(path, fmt::format("has {} bytes on this rank and {} on rank 0; give every node "
                                    "the same file, and wait until it is written",
                                    size, of_root));
}

InputStamp::InputStamp(const std::string& path) : path_(path) {
  check_input_file(path);
  state_ = state_of(path);
  if (state_.size == 0) refuse();  // it was not empty a moment ago
}

std::int64_t InputStamp::modified() const {
  constexpr std::int64_t of_second = 1'000'000'000;
  return state_.seconds * of_second + state_.nanoseconds;
}

void InputStamp::require_state(std::int64_t size, std::int64_t modified) const {
  if (state_.size != size || this->modified() != modified) refuse();
}

void InputStamp::require_same() const {
  if (!(state_of(path_) == state_)) refuse();
}

void InputStamp::refuse() const {
  throw DataError(path_,
                  "was changed while it was read; wait until it is written, or copy it again");
}

InputStamp::State InputStamp::state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return {};
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim.tv_sec,
          status.st_mtim.tv_nsec};
}

}  // namespace ringweave::detail::inline io
