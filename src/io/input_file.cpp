// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/input_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

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

}  // namespace ringweave::detail::inline io
