// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/machine/mutants.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "softdevice/findings.hpp"
#include "softdevice/memory/global_memory.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

constexpr std::array<std::string_view, 6> left_out{
    "bar.sync",  "cp.async.wait_group", "cp.async.commit_group",
    "shfl.sync", "vote.sync",           "mma.sync"};
/// Larger launches, and memory with more live bytes, take too long.
constexpr std::uint64_t most_instructions = 4'000'000;
constexpr std::uint64_t most_bytes = 32 << 20;

/// Returns whether an instruction of a program is left out. Waits for copies by cp.async matter
/// only where there are some.
bool is_left_out(const Program& program, const std::string& opcode) {
  const auto begins = [&](std::string_view one) { return opcode.starts_with(one); };
  const auto copies = [](const std::string& one) { return one.starts_with("cp.async.cg."); };
  return std::any_of(left_out.begin(), left_out.end(), begins) &&
         (!opcode.starts_with("cp.async") ||
          std::any_of(program.opcodes.begin(), program.opcodes.end(), copies));
}

constexpr const char* not_taken = "not taken";

/// Findings for each instruction left out, by kernel and instruction: "" for none, or not_taken.
using Noticed = std::map<std::pair<std::string, std::size_t>, std::string>;
bool is_open(const std::string& noticed) { return noticed.empty() || noticed == not_taken; }
struct Record {
  Noticed noticed;
  std::map<std::string, const Program*> programs;
};
Record& record() {
  static auto* all = new Record;
  return *all;
}

void write_record() {
  std::ofstream file(settings().mutants, std::ios::app);
  for (const auto& [mutant, by] : record().noticed) {
    const Program& program = *record().programs.at(mutant.first);
    file << "{\"kernel\": \"" << mutant.first << "\", \"instruction\": \""
         << program.opcodes[mutant.second] << "\", \"line\": " << program.code[mutant.second].line
         << ", \"noticed\": \"" << by << "\"}\n";
  }
}

}  // namespace

/// Live memory of devices with its shadow.
struct Mutants::Memory {
  Memory() {
    for (const auto& [begin, allocation] : GlobalMemory::get().allocations()) {
      if (!allocation.is_live) continue;
      const std::uint64_t size = allocation.end - begin;
      bytes_total += size;
      if (bytes_total > most_bytes) return;
      const std::byte* values = GlobalMemory::get().bytes_at(begin);
      const Cell* shadow = &GlobalMemory::get().cell_at(begin);
      parts.push_back({begin, {values, values + size}, {shadow, shadow + (size + 3) / cell_bytes}});
    }
  }
  bool is_whole() const { return bytes_total <= most_bytes; }
  void restore() const {
    for (const Part& part : parts) {
      std::memcpy(GlobalMemory::get().bytes_at(part.begin), part.values.data(), part.values.size());
      std::copy(part.shadow.begin(), part.shadow.end(), &GlobalMemory::get().cell_at(part.begin));
    }
  }
  /// Returns whether memory has the same values now, and as many of them are defined.
  bool is_as_now() const {
    return std::all_of(parts.begin(), parts.end(), [](const Part& part) {
      const Cell* now = &GlobalMemory::get().cell_at(part.begin);
      return std::memcmp(GlobalMemory::get().bytes_at(part.begin), part.values.data(),
                         part.values.size()) == 0 &&
             std::equal(part.shadow.begin(), part.shadow.end(), now,
                        [](const Cell& a, const Cell& b) { return a.defined == b.defined; });
    });
  }

  struct Part {
    std::uint64_t begin;
    std::vector<std::byte> values;
    std::vector<Cell> shadow;
  };
  std::vector<Part> parts;
  std::uint64_t bytes_total = 0;
};

Mutants::Mutants(const Launch& launch, const Operation& operation, Moment moment)
    : launch_(launch), operation_(operation), moment_(moment) {
  if (settings().mutants.empty()) return;
  const std::string& name = launch.program->name;
  Noticed& noticed = record().noticed;
  if (record().programs.empty()) std::atexit(write_record);
  bool any_is_open = false;
  record().programs[name] = launch.program;
  for (std::size_t i = 0; i < launch.program->code.size(); ++i) {
    if (!is_left_out(*launch.program, launch.program->opcodes[i])) continue;
    any_is_open = is_open(noticed.try_emplace({name, i}, not_taken).first->second) || any_is_open;
  }
  if (!any_is_open) return;
  before_ = std::make_unique<Memory>();
  taken_.resize(launch.program->code.size());
}

Mutants::~Mutants() = default;

void Mutants::run(Failure failure, const LaunchCounts& counts) const {
  std::uint64_t instructions = 0;
  for (const std::uint64_t of_pipe : counts.instructions) instructions += of_pipe;
  if (before_ == nullptr || !before_->is_whole() || instructions > most_instructions) return;
  const Memory after;
  Program program = *launch_.program;
  const Launch launch{&program, launch_.parameters, launch_.n_blocks, launch_.n_threads};
  for (auto& [mutant, noticed] : record().noticed) {
    if (mutant.first != program.name || !is_open(noticed) || taken_[mutant.second] == 0) continue;
    noticed.clear();
    const Instruction original = program.code[mutant.second];
    leave_out(program.code[mutant.second]);
    before_->restore();
    const FindingsAside findings;
    LaunchCounts ignored;
    Block block(launch, operation_, moment_, ignored);
    block.allow(4 * instructions + 1000);
    for (std::uint32_t i = 0;
         i < launch.n_blocks && !block.has_failed() && findings.first().empty(); ++i)
      block.run(i);
    program.code[mutant.second] = original;
    if (!findings.first().empty())
      noticed = findings.first();
    else if (block.failure() != failure)
      noticed = "another end";
    else if (!after.is_as_now())
      noticed = "other values";
  }
  after.restore();
}

}  // namespace softdevice
