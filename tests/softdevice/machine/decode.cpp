// SPDX-License-Identifier: GPL-3.0-or-later
#include <cxxabi.h>

#include <cstdlib>
#include <map>
#include <memory>

#include "softdevice/machine/meanings.hpp"
#include "softdevice/machine/opcodes.hpp"
#include "softdevice/machine/program.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 ? text.get() : name;
}

class Decoder {
 public:
  explicit Decoder(const ptx::Kernel& kernel) : kernel_(kernel) {
    program_.name = demangled(kernel.name);
    program_.n_rows = kernel.n_numbers;
    program_.n_predicates = kernel.n_predicates;
    program_.parameters = kernel.parameters;
    program_.parameter_bytes = kernel.parameter_bytes;
    program_.shared_bytes = kernel.shared_bytes;
    program_.most_threads = kernel.most_threads;
  }

  Program decode() {
    for (const ptx::Statement& statement : kernel_.statements) {
      program_.code.push_back(instruction(statement));
      program_.opcodes.push_back(statement.opcode);
    }
    for (const auto& [value, row] : constants_) program_.constants.emplace_back(row, value);
    for (const auto& [value, predicate] : constant_predicates_)
      program_.constant_predicates.emplace_back(predicate, value != 0);
    return std::move(program_);
  }

 private:
  Instruction instruction(const ptx::Statement& statement) {
    const Meaning* meaning = find_meaning(name_of(statement));
    if (meaning == nullptr)
      throw ptx::UnknownText(statement.line, "no instruction " + statement.opcode);
    if (meaning->operands.size() != statement.operands.size())
      throw ptx::UnknownText(statement.line, "other operands of " + statement.opcode);
    Instruction decoded{
        .execute = meaning->execute,
        .flow = meaning->flow,
        .pipe = meaning->pipe,
        .guard_is_negated = statement.guard_is_negated,
        .guard = statement.guard,
        .target = meaning->flow == Flow::branch ? statement.target : meaning->members,
        .line = static_cast<std::uint32_t>(statement.line)};
    std::size_t addresses = 0;
    for (std::size_t i = 0; i < statement.operands.size(); ++i)
      take_operand(statement, i, meaning->operands[i], decoded, addresses);
    if (is_dropped(statement.opcode, counts_[statement.opcode]++, program_.name))
      leave_out(decoded);
    return decoded;
  }

  void take_operand(const ptx::Statement& statement, std::size_t i, char form, Instruction& decoded,
                    std::size_t& addresses) {
    using Kind = ptx::OperandKind;
    const ptx::Operand& operand = statement.operands[i];
    const auto check = [&](bool is_right) {
      if (!is_right)
        throw ptx::UnknownText(statement.line, "other operands of " + statement.opcode);
    };
    switch (form) {
      case 'r':
      case 'p':
        check(operand.kind == (form == 'r' ? Kind::number : Kind::predicate));
        decoded.operands[i] = operand.index;
        if (operand.is_wide) decoded.wide_operands |= static_cast<std::uint8_t>(1U << i);
        break;
      case 'R':
        check(operand.kind == Kind::number || operand.kind == Kind::immediate);
        decoded.operands[i] = operand.kind == Kind::number ? operand.index : constant(operand.bits);
        break;
      case 'P':
        check(operand.kind == Kind::predicate || operand.kind == Kind::immediate);
        decoded.operands[i] =
            operand.kind == Kind::predicate ? operand.index : constant_predicate(operand.bits);
        break;
      case 'A':
        check(operand.kind == Kind::address);
        decoded.operands[i] = operand.index == ptx::no_register ? constant(0) : operand.index;
        decoded.offsets[addresses++] = operand.bits;
        break;
      default:
        check(operand.kind == Kind::immediate);
        // Besides addresses: the bytes of a copy, 16 and all of them.
        if (addresses > 0)
          check(operand.bits == 16);
        else
          decoded.offsets[1] = operand.bits;
    }
  }

  std::uint32_t constant(std::uint64_t bits) {
    const auto [found, is_new] = constants_.try_emplace(bits, program_.n_rows);
    if (is_new) ++program_.n_rows;
    return found->second;
  }
  std::uint32_t constant_predicate(std::uint64_t bits) {
    const auto [found, is_new] = constant_predicates_.try_emplace(bits, program_.n_predicates);
    if (is_new) ++program_.n_predicates;
    return found->second;
  }

  const ptx::Kernel& kernel_;
  Program program_;
  std::map<std::uint64_t, std::uint32_t> constants_;
  std::map<std::uint64_t, std::uint32_t> constant_predicates_;
  std::map<std::string, int> counts_;
};

}  // namespace

const Meaning* find_meaning(const std::string& opcode) {
  static const auto all = [] {
    auto table = register_meanings();
    table.merge(memory_meanings());
    table.merge(warp_meanings());
    return table;
  }();
  const auto found = all.find(opcode);
  return found == all.end() ? nullptr : &found->second;
}

void leave_out(Instruction& instruction) {
  instruction.execute = [](Warp&, const Instruction&, Lanes) {};
  instruction.flow = Flow::next;
}

Program decode(const ptx::Kernel& kernel) { return Decoder(kernel).decode(); }

}  // namespace softdevice
