// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "softdevice/ptx/module.hpp"

namespace softdevice {

inline constexpr int n_lanes = 32;
using Lanes = std::uint32_t;  ///< a bit for each lane of a warp
inline constexpr Lanes all_lanes = ~Lanes{0};
using Row = std::array<std::uint64_t, n_lanes>;  ///< one register of all lanes

/// Calls work(lane) for every lane of a set.
template <class Work>
inline void for_each_lane(Lanes lanes, const Work& work) {
  for (; lanes != 0; lanes &= lanes - 1) work(std::countr_zero(lanes));
}

class Warp;
struct Instruction;
using Handler = void (*)(Warp&, const Instruction&, Lanes);

/// Effect on the order of instructions.
enum class Flow : std::uint8_t {
  next,
  branch,
  exit,
  barrier,     ///< waits for the block
  collective,  ///< waits for the lanes of its member mask
};

/// Pipes of a multiprocessor that instructions take.
enum class Pipe : std::uint8_t { fma64, other64, matrix64, integer, memory, control };
inline constexpr std::array pipe_names{"fp64_fma", "fp64_other", "fp64_matrix",
                                       "integer",  "memory",     "control"};

/// An instruction of PTX with its operands as rows; immediates are rows too.
struct Instruction {
  Handler execute = nullptr;
  Flow flow = Flow::next;
  Pipe pipe = Pipe::integer;
  bool guard_is_negated = false;
  std::uint8_t wide_operands = 0;          ///< a bit for each register of 64 bits
  std::uint32_t guard = ptx::no_register;  ///< a predicate
  /// The target of a branch; of a collective instruction the operand with the member mask, or
  /// whole_warp.
  std::uint32_t target = 0;
  std::uint32_t line = 0;
  std::array<std::uint32_t, 6> operands{};  ///< rows, or predicates
  std::array<std::uint64_t, 2> offsets{};   ///< of addresses; an immediate that is no row
};

inline constexpr std::uint32_t whole_warp = 6;

struct Program {
  std::string name;  ///< demangled
  std::vector<Instruction> code;
  std::vector<std::string> opcodes;  ///< of the code
  std::uint32_t n_rows = 0;
  std::uint32_t n_predicates = 0;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> constants;  ///< rows and their values
  std::vector<std::pair<std::uint32_t, bool>> constant_predicates;
  std::vector<std::pair<std::int64_t, std::int64_t>> parameters;  ///< offsets and bytes
  std::int64_t parameter_bytes = 0;
  std::int64_t shared_bytes = 0;
  int most_threads = 0;
  std::map<int, int> registers;  ///< of a thread in the machine code, by compute capability
};

/// Finds the meaning of a kernel's instructions; those of SOFTDEVICE_DROP do nothing.
/// Error  ptx::UnknownText: "PTX line N: no instruction OPCODE"
Program decode(const ptx::Kernel& kernel);
/// Makes an instruction do nothing.
void leave_out(Instruction& instruction);

/// The meaning of an opcode.
struct Meaning {
  Handler execute = nullptr;
  Flow flow = Flow::next;
  Pipe pipe = Pipe::integer;
  /// An operand each: r or p a row or predicate that is written, R or P one that is read, A an
  /// address, I an immediate.
  std::string operands;
  std::uint32_t members = 0;  ///< of a collective instruction, as Instruction::target
};
/// Returns null for an opcode that is not known. A vector in front makes a mov unpack.
const Meaning* find_meaning(const std::string& opcode);

}  // namespace softdevice
