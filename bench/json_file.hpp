// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ringweave/error.hpp"

namespace ringweave::detail {

/// Does nothing without a file name. Error  ResourceError when the file cannot be written.
inline void write_json(const std::string& path, const nlohmann::json& what) {
  if (path.empty()) return;
  std::ofstream file(path);
  file << what.dump(2) << '\n';
  file.close();
  if (!file) throw ResourceError(path + ": cannot be written");
}

}  // namespace ringweave::detail
