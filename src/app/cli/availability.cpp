// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/availability.hpp"

#include <fmt/format.h>

#include "base/device.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

struct MissingValue {
  const char* option;
  const char* value;
  const char* instead;
};

/// Options, help and messages all use this table.
std::vector<MissingValue> table_of_missing() {
  std::vector<MissingValue> missing;
  if (cuda_version().empty()) missing.push_back({"--backend", "cuda", "--backend host or auto"});
  return missing;
}

}  // namespace

std::vector<std::string> missing_values(const std::string& option) {
  std::vector<std::string> values;
  for (const MissingValue& entry : table_of_missing()) {
    if (entry.option == option) values.emplace_back(entry.value);
  }
  return values;
}

void require_available(const std::string& option, const std::string& value) {
  for (const MissingValue& entry : table_of_missing()) {
    if (entry.option != option || entry.value != value) continue;
    throw UsageError(
        fmt::format("{} {}: this build does not have it; use {}", option, value, entry.instead));
  }
}

}  // namespace ringweave::detail::inline app
