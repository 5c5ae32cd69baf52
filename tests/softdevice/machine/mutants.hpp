// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "softdevice/machine/block.hpp"

namespace softdevice {

/// Runs a launch again with each of its synchronizing instructions left out in turn (barriers,
/// waits and commits of asynchronous copies, exchanges between lanes), and notes whether that is
/// noticed: by a finding, by another end, or by other values in memory. With SOFTDEVICE_MUTANTS
/// only, and for launches that are small.
class Mutants {
 public:
  /// Stores the memory before the launch.
  Mutants(const Launch& launch, const Operation& operation, Moment moment);
  ~Mutants();
  /// The instructions that the launch takes; empty where that does not matter.
  std::vector<std::uint8_t>& taken() { return taken_; }
  /// Runs the mutants after the launch; leaves the memory as the launch left it.
  void run(Failure failure, const LaunchCounts& counts) const;

 private:
  struct Memory;
  const Launch& launch_;
  const Operation& operation_;
  Moment moment_;
  std::unique_ptr<Memory> before_;
  std::vector<std::uint8_t> taken_;
};

}  // namespace softdevice
