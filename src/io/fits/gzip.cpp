// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/gzip.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "io/output_part.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

using GzFile = std::unique_ptr<gzFile_s, decltype([](gzFile file) { gzclose(file); })>;

/// Number of an open file.
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags, mode_t mode = 0)
      : number_(::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode)) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }
  int release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

/// Reads as many bytes as there are, up to those of the chunk; negative: an error in errno.
ssize_t read_chunk(const OpenFile& file, std::vector<char>& chunk) {
  ssize_t count = 0;
  do {
    count = ::read(file.number(), chunk.data(), chunk.size());
  } while (count < 0 && errno == EINTR);
  return count;
}

}  // namespace

std::int64_t gunzipped_bytes(const std::string& path, std::int64_t limit) {
  // zlib may hold a pointer to the chunk until its file is closed.
  std::vector<char> chunk(chunk_bytes);
  const GzFile file(gzopen(path.c_str(), "rb"));
  if (!file) throw DataError(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::int64_t bytes = 0;
  while (const int count = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()))) {
    int error = Z_OK;
    const char* reason = gzerror(file.get(), &error);
    if (count < 0) throw DataError(path, fmt::format("is damaged: gzip says \"{}\"", reason));
    bytes += count;
    if (bytes > limit) {
      throw ResourceError(
          fmt::format("{}: unpacks to more than the {} bytes this rank may use; gunzip it first, "
                      "plain files are read in blocks",
                      path, limit));
    }
  }
  int error = Z_OK;
  const char* reason = gzerror(file.get(), &error);
  if (error != Z_OK)
    throw DataError(path, fmt::format("is cut short or damaged: gzip says \"{}\"", reason));
  return bytes;
}

PlainSum pack_in_place(const std::string& path) {
  const auto failed = [&] {
    return ResourceError(
        fmt::format("{}: cannot be gzipped: {}", path, std::strerror(errno == 0 ? EIO : errno)));
  };
  std::vector<char> chunk(chunk_bytes);
  errno = 0;
  const OpenFile in(path, O_RDONLY);
  struct stat status {};
  if (in.number() < 0 || ::fstat(in.number(), &status) != 0 || ::unlink(path.c_str()) != 0)
    throw failed();
  OpenFile number(path, O_WRONLY | O_CREAT | O_EXCL, status.st_mode & 0777);
  if (number.number() < 0) throw failed();
  GzFile out(gzdopen(number.number(), "wb6"));
  if (!out) throw failed();
  number.release();
  PlainSum sum{0, crc32(0, nullptr, 0)};
  while (const ssize_t count = read_chunk(in, chunk)) {
    if (count < 0) throw failed();
    const auto length = static_cast<std::size_t>(count);
    sum.bytes += count;
    sum.crc = crc32_z(sum.crc, reinterpret_cast<const unsigned char*>(chunk.data()), length);
    if (gzwrite(out.get(), chunk.data(), static_cast<unsigned>(length)) != count) throw failed();
  }
  if (gzclose(out.release()) != Z_OK) throw failed();
  return sum;
}

void verify_packed(const std::string& path, const PlainSum& plain) {
  std::vector<char> chunk(chunk_bytes);
  OpenFile number(path, O_RDONLY);
  const GzFile file(number.number() < 0 ? nullptr : gzdopen(number.number(), "rb"));
  if (!file)
    throw ResourceError(fmt::format("{}: cannot be read again: {}", path, std::strerror(errno)));
  number.release();
  PlainSum sum{0, crc32(0, nullptr, 0)};
  int error = Z_OK;
  while (true) {
    const int count = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    gzerror(file.get(), &error);
    if (count <= 0 || error != Z_OK) break;
    sum.bytes += count;
    sum.crc = crc32_z(sum.crc, reinterpret_cast<const unsigned char*>(chunk.data()),
                      static_cast<std::size_t>(count));
  }
  // Plain bytes pass through gzread() unchanged.
  if (error != Z_OK || gzdirect(file.get()) != 0 || sum.bytes != plain.bytes ||
      sum.crc != plain.crc)
    refuse_as_lost(path, "");
}

void gzip_file(const std::string& path) { verify_packed(path, pack_in_place(path)); }

}  // namespace ringweave::detail::inline io
