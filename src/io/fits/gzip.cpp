// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::size_t chunk_bytes = 1 << 20;

using GzFile = std::unique_ptr<gzFile_s, decltype([](gzFile file) { gzclose(file); })>;
using PlainFile = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;

void write_gzipped(const std::string& path, const std::string& packed) {
  const auto failed = [&] {
    return ResourceError(
        fmt::format("{}: cannot be gzipped: {}", path, std::strerror(errno == 0 ? EIO : errno)));
  };
  errno = 0;
  const PlainFile in(std::fopen(path.c_str(), "rb"));
  GzFile out(gzopen(packed.c_str(), "wb6"));
  if (!in || !out) throw failed();
  std::vector<char> chunk(chunk_bytes);
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), in.get())) {
    if (gzwrite(out.get(), chunk.data(), static_cast<unsigned>(count)) != static_cast<int>(count))
      throw failed();
  }
  if (std::ferror(in.get()) != 0 || gzclose(out.release()) != Z_OK) throw failed();
}

}  // namespace

std::int64_t gunzipped_bytes(const std::string& path, std::int64_t limit) {
  const GzFile file(gzopen(path.c_str(), "rb"));
  if (!file) throw DataError(path, fmt::format("cannot be read: {}", std::strerror(errno)));
  std::vector<char> chunk(chunk_bytes);
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

void gzip_file(const std::string& path) {
  const std::string packed = path + ".gz";
  std::error_code error;
  try {
    write_gzipped(path, packed);
  } catch (...) {
    std::filesystem::remove(packed, error);
    throw;
  }
  std::filesystem::rename(packed, path, error);
  if (error) throw ResourceError(fmt::format("{}: cannot be gzipped: {}", path, error.message()));
}

}  // namespace ringweave::detail::inline io
