// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/input_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/checked_cast.hpp"
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

}  // namespace ringweave::detail::inline io
