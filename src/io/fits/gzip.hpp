// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave::detail::inline io {

/// Returns the unpacked size of a gzip file, found by unpacking it without keeping the data. Not
/// collective.
/// Error  DataError when it is damaged or truncated; ResourceError beyond `limit` bytes.
std::int64_t gunzipped_bytes(const std::string& path, std::int64_t limit);

/// Compresses a file in place, through a temporary file next to it. Not collective.
/// Error  ResourceError when it cannot be written; `path` is then unchanged.
void gzip_file(const std::string& path);

}  // namespace ringweave::detail::inline io
