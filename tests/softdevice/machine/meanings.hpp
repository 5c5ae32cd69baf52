// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <unordered_map>

#include "softdevice/machine/program.hpp"

namespace softdevice {

/// Meanings of instructions on registers of one lane.
std::unordered_map<std::string, Meaning> register_meanings();
/// Meanings of loads, stores and asynchronous copies.
std::unordered_map<std::string, Meaning> memory_meanings();
/// Meanings of branches, barriers and of instructions that lanes do together.
std::unordered_map<std::string, Meaning> warp_meanings();

}  // namespace softdevice
