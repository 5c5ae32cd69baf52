// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Kernels as they stand in PTX text (PTX ISA, chapters 4 to 9), without their meaning.
namespace softdevice::ptx {

/// Thrown for text that the reader does not know: "PTX line N: ...".
struct UnknownText : std::runtime_error {
  UnknownText(int line, const std::string& problem)
      : std::runtime_error("PTX line " + std::to_string(line) + ": " + problem) {}
};

enum class OperandKind { number, predicate, immediate, address };

struct Operand {
  OperandKind kind = OperandKind::immediate;
  /// The number of a register (of an address: of its base; no_register where the base is a symbol).
  std::uint32_t index = 0;
  /// Bits of an immediate; offset of an address. Symbols are offsets in their memory space.
  std::uint64_t bits = 0;
  bool is_wide = false;  ///< a register of 64 bits
};
inline constexpr std::uint32_t no_register = 0xffffffffU;

struct Statement {
  int line = 0;
  std::uint32_t guard = no_register;  ///< predicate
  bool guard_is_negated = false;
  std::string opcode;
  std::vector<Operand> operands;  ///< braces of vectors are left out
  bool first_is_vector = false;   ///< whether the first operand was in braces
  std::uint32_t target = 0;       ///< of a branch: the statement it goes to
};

/// Special registers, which are the first registers of numbers of every kernel.
enum Special : std::uint32_t { tid_x, ntid_x, ctaid_x, nctaid_x, laneid, n_specials };

struct Kernel {
  std::string name;
  std::uint32_t n_numbers = n_specials;
  std::uint32_t n_predicates = 0;
  std::vector<std::pair<std::int64_t, std::int64_t>> parameters;  ///< their offsets and bytes
  std::int64_t parameter_bytes = 0;
  std::int64_t shared_bytes = 0;
  int most_threads = 1024;  ///< .maxntid
  std::vector<Statement> statements;
};

/// Kernels by their (mangled) names.
using Module = std::map<std::string, Kernel>;

/// Reads the kernels of a PTX text. Error  UnknownText.
Module read_module(std::string_view text);

}  // namespace softdevice::ptx
