// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/machine/block.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "softdevice/findings.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

/// Blocks that are run together where not all are: they share sectors.
constexpr std::uint32_t neighbours = 64;

/// Returns n where one group of neighbours in n is run (SOFTDEVICE_SAMPLE): all of small launches.
std::uint32_t sampling_of(std::uint32_t n_blocks) {
  constexpr std::uint32_t fewest_groups = 16;
  const std::uint32_t most = std::max<std::uint32_t>(1, n_blocks / (fewest_groups * neighbours));
  return std::min(static_cast<std::uint32_t>(settings().sample), most);
}

}  // namespace

SharedMemory::SharedMemory(std::int64_t bytes)
    : bytes_(static_cast<std::size_t>(bytes)),
      cells_((static_cast<std::size_t>(bytes) + cell_bytes - 1) / cell_bytes) {}

void SharedMemory::begin() {
  std::memset(bytes_.data(), 0xff, bytes_.size());
  std::fill(cells_.begin(), cells_.end(), Cell{});
}

const char* SharedMemory::await(const Actor& actor, std::uint64_t address, std::uint64_t bytes) {
  const char* problem = write(actor, address, bytes, false);
  for (std::uint64_t at = address; at < address + bytes; at += cell_bytes)
    cells_[at / cell_bytes].is_awaited = true;
  return problem;
}

void SharedMemory::arrive(const Actor& actor, std::uint64_t address, std::uint64_t bytes,
                          bool is_defined) {
  for (std::uint64_t at = address; at < address + bytes; at += cell_bytes) {
    Cell& cell = cells_[at / cell_bytes];
    cell.is_awaited = false;
    cell.defined = is_defined ? 15 : 0;
    cell.writer = actor;
  }
}

Block::Block(const Launch& launch, const Operation& operation, Moment moment, LaunchCounts& counts)
    : launch_(launch),
      operation_(&operation),
      global_(operation, moment),
      shared_(launch.program->shared_bytes),
      counts_(counts) {
  for (int first = 0; first < launch.n_threads; first += n_lanes)
    warps_.push_back(std::make_unique<Warp>(*this, *launch.program, first));
  if (settings().lanes.kind == Schedule::Kind::random)
    random_ = std::make_unique<std::mt19937_64>(settings().lanes.seed + operation.id);
}

void Block::run(std::uint32_t index) {
  index_ = index;
  epoch_ = 0;
  shared_.begin();
  for (auto& warp : warps_) warp->begin(index, launch_.n_blocks, launch_.n_threads);
  ++counts_.blocks;
  counts_.warps += warps_.size();
  for (bool runs = true; runs && !has_failed();) {
    for (auto& warp : warps_) warp->run();
    const auto waiting = std::find_if(warps_.begin(), warps_.end(),
                                      [](const auto& warp) { return !warp->has_ended(); });
    runs = waiting != warps_.end();
    const bool all_wait =
        std::all_of(warps_.begin(), warps_.end(), [](const auto& warp) { return warp->waits(); });
    if (!runs || !all_wait) continue;
    const std::uint32_t barrier = (*waiting)->barrier();
    for (auto& warp : warps_) warp->leave_barrier(barrier);
    ++epoch_;
  }
}

std::string Block::place(int thread, std::uint32_t line) const {
  return launch_.program->name + ", block " + std::to_string(index_) + ", thread " +
         std::to_string(thread) + ", PTX line " + std::to_string(line);
}

void Block::tell(const std::string& kind, int thread, std::uint32_t line) const {
  if (settings().checks) find(kind, place(thread, line));
}

void Block::report(const std::string& error, int thread, std::uint32_t line) const {
  std::fprintf(stderr, "softdevice: %s: %s\n", error.c_str(), place(thread, line).c_str());
}

Failure run_launch(const Launch& launch, const Operation& operation, Moment moment,
                   LaunchCounts& counts, std::vector<std::uint8_t>& taken) {
  LaunchCounts own;
  own.launches = 1;
  begin_sectors();
  Block block(launch, operation, moment, own);
  if (!taken.empty()) block.note_instructions(taken);
  const std::uint32_t every = sampling_of(launch.n_blocks);
  for (std::uint32_t index = 0; index < launch.n_blocks && !block.has_failed(); ++index) {
    if (index / neighbours % every == 0) block.run(index);
  }
  if (every > 1) own.scale(static_cast<double>(launch.n_blocks) / static_cast<double>(own.blocks));
  counts.add(own);
  return block.failure();
}

}  // namespace softdevice
