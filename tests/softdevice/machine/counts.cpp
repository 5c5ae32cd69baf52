// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/machine/counts.hpp"

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>

#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

struct AllCounts {
  std::mutex mutex;
  std::map<std::string, LaunchCounts> by_kernel;
};
AllCounts& all_counts() {
  static auto* all = new AllCounts;
  return *all;
}

/// One line for each kernel: {"kernel": NAME, ...}.
void write_counts() {
  std::ofstream file(settings().counts);
  for (const auto& [kernel, counts] : all_counts().by_kernel) {
    file << "{\"kernel\": \"" << kernel << "\", \"launches\": " << counts.launches
         << ", \"blocks\": " << counts.blocks << ", \"warps\": " << counts.warps;
    for (std::size_t pipe = 0; pipe < pipe_names.size(); ++pipe)
      file << ", \"" << pipe_names[pipe] << "\": " << counts.instructions[pipe];
    file << ", \"lanes\": " << counts.lanes << ", \"global_requests\": " << counts.global_requests
         << ", \"global_bytes\": " << counts.global_bytes
         << ", \"global_sectors\": " << counts.global_sectors
         << ", \"shared_requests\": " << counts.shared_requests
         << ", \"shared_bytes\": " << counts.shared_bytes
         << ", \"shared_passes\": " << counts.shared_passes << "}\n";
  }
}

}  // namespace

void LaunchCounts::add(const LaunchCounts& other) {
  launches += other.launches;
  blocks += other.blocks;
  warps += other.warps;
  for (std::size_t pipe = 0; pipe < pipe_names.size(); ++pipe)
    instructions[pipe] += other.instructions[pipe];
  lanes += other.lanes;
  global_requests += other.global_requests;
  global_bytes += other.global_bytes;
  global_sectors += other.global_sectors;
  shared_requests += other.shared_requests;
  shared_bytes += other.shared_bytes;
  shared_passes += other.shared_passes;
}

void add_counts(const std::string& kernel, const LaunchCounts& counts) {
  if (settings().counts.empty()) return;
  const std::lock_guard lock(all_counts().mutex);
  if (all_counts().by_kernel.empty()) std::atexit(write_counts);
  all_counts().by_kernel[kernel].add(counts);
}

}  // namespace softdevice
