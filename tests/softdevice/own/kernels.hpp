// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "softdevice/findings.hpp"
#include "softdevice/machine/block.hpp"
#include "softdevice/machine/opcodes.hpp"
#include "softdevice/ptx/module.hpp"

namespace softdevice::test {

inline std::uint64_t bits(double value) { return std::bit_cast<std::uint64_t>(value); }
inline std::uint64_t bits(float value) { return std::bit_cast<std::uint32_t>(value); }
inline std::uint64_t bits(long value) { return static_cast<std::uint64_t>(value); }
/// Bits of a register of 32 bits.
inline std::uint64_t bits(int value) { return static_cast<std::uint32_t>(value); }

/// A kernel around some statements. %data is the address of the numbers, %mine that of the thread's
/// own; %a to %h are registers of any number, %p and %q predicates; `shared` has 1024 bytes.
inline std::string kernel_of(const std::string& statements) {
  return ".version 9.0\n.target sm_80\n.address_size 64\n"
         ".visible .entry test(.param .u64 data) {\n"
         ".reg .pred %p; .reg .pred %q; .reg .b64 %data; .reg .b64 %mine; .reg .b64 %n<10>;\n"
         ".reg .b64 %a; .reg .b64 %b; .reg .b64 %c; .reg .b64 %d; .reg .b64 %e; .reg .b64 %f;\n"
         ".reg .b64 %g; .reg .b64 %h;\n.shared .align 16 .b8 shared[1024];\n"
         "ld.param.u64 %data, [data];\nmov.u32 %n0, %tid.x;\nmul.wide.u32 %n1, %n0, 8;\n"
         "add.s64 %mine, %data, %n1;\n" +
         statements + "\nret;\n}\n";
}

struct Result {
  std::vector<std::uint64_t> numbers;
  std::map<std::string, long> findings;
  Failure failure = Failure::none;
  LaunchCounts counts{};
};

/// Runs the kernel on some blocks; all numbers are written before.
inline Result run(const std::string& statements, std::vector<std::uint64_t> numbers,
                  int n_threads = n_lanes, std::uint32_t n_blocks = 1) {
  static std::uint32_t count = 0;
  take_findings();
  const ptx::Module module = ptx::read_module(kernel_of(statements));
  const Program program = decode(module.at("test"));
  GlobalMemory& memory = GlobalMemory::get();
  const std::uint64_t bytes = numbers.size() * sizeof(std::uint64_t);
  const std::uint64_t address = memory.allocate(bytes, 0);
  const auto operation = [&](const std::string& name) {
    Operation made{.name = name};
    made.clock.set(1, ++count);
    OperationLog::get().enter(made, {1, count});
    return made;
  };
  const Operation writing = operation("writing");
  OrderedMemory(writing, {1, count}).write_range(address, bytes);
  std::memcpy(memory.bytes_at(address), numbers.data(), bytes);
  std::vector<std::byte> parameters(sizeof address);
  std::memcpy(parameters.data(), &address, sizeof address);
  const Operation launch = operation("launch");
  LaunchCounts counts;
  std::vector<std::uint8_t> taken(program.code.size());
  const Failure failure =
      run_launch({&program, parameters, n_blocks, n_threads}, launch, {1, count}, counts, taken);
  std::memcpy(numbers.data(), memory.bytes_at(address), bytes);
  memory.free(address);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    if (taken[i] != 0) note_opcode(module.at("test").statements[i]);
  }
  return {std::move(numbers), take_findings(), failure, counts};
}

}  // namespace softdevice::test
