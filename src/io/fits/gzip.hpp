// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave::detail::inline io {

/// Returns the unpacked size of a gzip file, found by unpacking it without keeping the data. Not
/// collective.
/// Error  DataError when it is damaged or truncated; ResourceError beyond `limit` bytes.
std::int64_t gunzipped_bytes(const std::string& path, std::int64_t limit);

/// Compresses a file in place and compares what it unpacks to with what it was. It needs no second
/// name, and no file is left but the one of this name. Not collective.
/// Error  ResourceError when it cannot be written; `path` is then incomplete.
void gzip_file(const std::string& path);

/// Length and ByteDigest of a file before it was packed.
struct PlainSum {
  std::int64_t bytes = 0;
  std::uint64_t digest = 0;
};

/// Compresses a file in place, without a comparison; the rest as gzip_file().
PlainSum pack_in_place(const std::string& path);

/// Throws a ResourceError unless a packed file unpacks to `plain`. Not collective.
void verify_packed(const std::string& path, const PlainSum& plain);

}  // namespace ringweave::detail::inline io
