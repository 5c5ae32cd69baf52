// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave {

/// Bytes a gzip file unpacks to, found by unpacking it whole without keeping it. Not collective.
/// Error  DataError when it is damaged or cut short; ResourceError beyond `limit` bytes.
std::int64_t gunzipped_bytes(const std::string& path, std::int64_t limit);

enum class FitsPacking { plain, gzip };

/// Replaces a file by its gzipped self, made beside it. Not collective.
/// Error  ResourceError when it cannot be written; then `path` is as it was.
void gzip_file(const std::string& path);

}  // namespace ringweave
