// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/machine/counts.hpp"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <unordered_set>

#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

struct AllCounts {
  std::mutex mutex;
  std::map<std::string, LaunchCounts> by_kernel;
  std::map<std::string, Program> kernels;  ///< without their code
};
AllCounts& all_counts() {
  static auto* all = new AllCounts;
  return *all;
}

std::unordered_set<std::uint64_t>& sectors() {
  static auto* all = new std::unordered_set<std::uint64_t>;
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
         << ", \"distinct_sectors\": " << counts.distinct_sectors
         << ", \"shared_requests\": " << counts.shared_requests
         << ", \"shared_bytes\": " << counts.shared_bytes
         << ", \"shared_passes\": " << counts.shared_passes
         << ", \"shared_bytes_of_block\": " << all_counts().kernels[kernel].shared_bytes
         << ", \"registers\": {";
    const char* separator = "";
    for (const auto& [capability, registers] : all_counts().kernels[kernel].registers) {
      file << separator << "\"" << capability << "\": " << registers;
      separator = ", ";
    }
    file << "}}\n";
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
  distinct_sectors += other.distinct_sectors;
  shared_requests += other.shared_requests;
  shared_bytes += other.shared_bytes;
  shared_passes += other.shared_passes;
}

void LaunchCounts::scale(double factor) {
  const auto multiply = [factor](std::uint64_t& count) {
    count = static_cast<std::uint64_t>(std::llround(factor * static_cast<double>(count)));
  };
  for (std::uint64_t* count :
       {&blocks, &warps, &lanes, &global_requests, &global_bytes, &global_sectors,
        &distinct_sectors, &shared_requests, &shared_bytes, &shared_passes})
    multiply(*count);
  for (std::uint64_t& count : instructions) multiply(count);
}

void add_counts(const Program& kernel, const LaunchCounts& counts) {
  if (settings().counts.empty()) return;
  AllCounts& all = all_counts();
  const std::lock_guard lock(all.mutex);
  if (all.by_kernel.empty()) std::atexit(write_counts);
  all.by_kernel[kernel.name].add(counts);
  Program& facts = all.kernels[kernel.name];
  facts.shared_bytes = kernel.shared_bytes;
  facts.registers = kernel.registers;
}

void begin_sectors() { sectors().clear(); }
bool is_new_sector(std::uint64_t sector) { return sectors().insert(sector).second; }

}  // namespace softdevice
