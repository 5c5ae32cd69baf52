// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/control_groups.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <sstream>
#include <vector>

namespace ringweave::detail::inline base {
namespace {

constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

/// Names of the files of a version.
struct Version {
  const char* file_system;
  std::vector<std::string> limits;
  const char* used;
  std::vector<std::string> cached;  ///< keys of memory.stat, with all groups within
};

const std::vector<Version>& versions() {
  static const std::vector<Version> all{{"cgroup",
                                         {"memory.limit_in_bytes"},
                                         "memory.usage_in_bytes",
                                         {"total_inactive_file", "total_active_file"}},
                                        {"cgroup2",
                                         {"memory.max", "memory.high"},
                                         "memory.current",
                                         {"inactive_file", "active_file"}}};
  return all;
}

/// A hierarchy of groups as it is mounted.
struct Mount {
  std::string group;   ///< whose folder this is
  std::string folder;  ///< of it
};

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Finds where the groups of a version that limit memory are mounted.
std::optional<Mount> mount_of(const Version& version, const std::string& root) {
  std::ifstream file(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(file, line);) {
    // ID PARENT DEVICE GROUP FOLDER OPTIONS [...] - FILE_SYSTEM SOURCE OPTIONS
    const std::vector<std::string> words = parts_of(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    constexpr std::ptrdiff_t before = 6, after = 4;
    if (dash - words.begin() < before || words.end() - dash < after ||
        dash[1] != version.file_system)
      continue;
    if (dash[1] == "cgroup" && !contains(parts_of(dash[3], ','), "memory")) continue;
    return Mount{words[3], root + words[4]};
  }
  return std::nullopt;
}

/// Returns the name of this process's group of a version.
std::optional<std::string> group_of(const Version& version, const std::string& root) {
  std::ifstream file(root + "/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    // NUMBER:CONTROLLERS:GROUP, of which version 2 has the number 0 and no controllers.
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const bool is_it = std::string(version.file_system) == "cgroup2"
                           ? controllers.empty()
                           : contains(parts_of(controllers, ','), "memory");
    if (is_it) return line.substr(second + 1);
  }
  return std::nullopt;
}

/// Returns the number in a file; nothing for a word, such as max.
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::int64_t cached_bytes(const std::string& folder, const Version& version) {
  std::ifstream file(folder + "/memory.stat");
  std::int64_t sum = 0;
  std::string key;
  for (std::int64_t bytes = 0; file >> key >> bytes;)
    sum += contains(version.cached, key) ? bytes : 0;
  return sum;
}

std::int64_t bytes_left_in(const std::string& folder, const Version& version) {
  std::int64_t limit = no_limit;
  for (const std::string& name : version.limits)
    limit = std::min(limit, number_in(folder + "/" + name).value_or(no_limit));
  if (limit == no_limit) return no_limit;
  const std::int64_t used = number_in(folder + "/" + version.used).value_or(0);
  return std::max<std::int64_t>(0, limit - used + std::min(used, cached_bytes(folder, version)));
}

}  // namespace

std::int64_t control_group_bytes(const std::string& root) {
  std::int64_t least = no_limit;
  for (const Version& version : versions()) {
    const std::optional<Mount> mount = mount_of(version, root);
    const std::optional<std::string> group = group_of(version, root);
    if (!mount || !group) continue;
    // In a container the mounted folder may be that of a group within, or of the group itself.
    const std::string prefix = mount->group == "/" ? "" : mount->group;
    std::string below = group->starts_with(prefix + "/") ? group->substr(prefix.size()) : "";
    for (; true; below.erase(std::min(below.size(), below.rfind('/')))) {
      least = std::min(least, bytes_left_in(mount->folder + below, version));
      if (below.empty()) break;
    }
  }
  return least;
}

}  // namespace ringweave::detail::inline base
