// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "softdevice/ptx/module.hpp"

namespace softdevice {

/// Returns the name under which an instruction has its meaning: its opcode, and whether a mov packs
/// or unpacks a vector.
std::string name_of(const ptx::Statement& statement);

/// Notes an instruction, whose name SOFTDEVICE_OPCODES writes at the end.
void note_opcode(const ptx::Statement& statement);

}  // namespace softdevice
