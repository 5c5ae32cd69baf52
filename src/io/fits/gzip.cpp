// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/gzip.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <zlib.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <memory>
#include <span>
#include <vector>

#include "io/byte_digest.hpp"
#include "io/output_part.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

using GzFile = std::unique_ptr<gzFile_s, decltype([](gzFile file) { gzclose(file); })>;

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
  const RawFile plain = open_again(path);
  const std::int64_t n_bytes = plain.size();
  ByteDigest digest;
  std::error_code ignored;
  const std::filesystem::perms mode = std::filesystem::status(path, ignored).permissions();
  errno = 0;
  if (::unlink(path.c_str()) != 0) throw failed();
  std::vector<std::byte> kept;
  GzFile out(gzopen(path.c_str(), "wbxe6"));  // a new file
  if (!out) throw failed();
  std::filesystem::permissions(path, mode, ignored);
  read_again(plain, 0, n_bytes, [&](std::span<const std::byte> bytes) {
    // zlib may hold a pointer to these bytes until its file is closed.
    kept.assign(bytes.begin(), bytes.end());
    digest.add(bytes);
    const auto length = static_cast<unsigned>(bytes.size());
    if (gzwrite(out.get(), kept.data(), length) != static_cast<int>(length)) throw failed();
  });
  if (gzclose(out.release()) != Z_OK) throw failed();
  return {n_bytes, digest.value()};
}

void verify_packed(const std::string& path, const PlainSum& plain) {
  std::vector<std::byte> chunk(chunk_bytes);
  const GzFile file(gzopen(path.c_str(), "rbe"));
  if (!file)
    throw ResourceError(fmt::format("{}: cannot be read again: {}", path, std::strerror(errno)));
  std::int64_t n_bytes = 0;
  ByteDigest digest;
  int error = Z_OK;
  while (true) {
    const int count = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    gzerror(file.get(), &error);
    if (count <= 0 || error != Z_OK) break;
    n_bytes += count;
    digest.add(std::span(chunk).first(static_cast<std::size_t>(count)));
  }
  // Plain bytes pass through gzread() unchanged.
  if (error != Z_OK || gzdirect(file.get()) != 0 || n_bytes != plain.bytes ||
      digest.value() != plain.digest)
    refuse_as_lost(path, "");
}

void gzip_file(const std::string& path) { verify_packed(path, pack_in_place(path)); }

}  // namespace ringweave::detail::inline io
