// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/machine/opcodes.hpp"

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>

#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

struct Opcodes {
  std::mutex mutex;
  std::set<std::string> names;
};
Opcodes& opcodes() {
  static auto* all = new Opcodes;
  return *all;
}

/// One line for each, in order.
void write_opcodes() {
  std::ofstream file(settings().opcodes);
  for (const std::string& name : opcodes().names) file << name << "\n";
}

}  // namespace

std::string name_of(const ptx::Statement& statement) {
  if (statement.opcode == "mov.b64" && statement.operands.size() == 3)
    return statement.first_is_vector ? "mov.b64 unpacked" : "mov.b64 packed";
  return statement.opcode;
}

void note_opcode(const ptx::Statement& statement) {
  if (settings().opcodes.empty()) return;
  const std::lock_guard lock(opcodes().mutex);
  if (opcodes().names.empty()) std::atexit(write_opcodes);
  opcodes().names.insert(name_of(statement));
}

}  // namespace softdevice
