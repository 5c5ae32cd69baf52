// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "softdevice/memory/operation.hpp"

namespace softdevice {

/// Waits of streams for events, each of them as if it were left out (SOFTDEVICE_MUTANTS): clocks
/// say what would be done without it, and so whether two operations on the same memory would have
/// no order then.
class Waits {
 public:
  static Waits& get();

  /// Enters a wait for an event behind an operation. Returns its number, or Clock::no_wait if none
  /// are asked for.
  int enter(const std::string& earlier);
  /// Names the operation that waits.
  void name(int wait, const std::string& later) {
    all_[static_cast<std::size_t>(wait)].later = later;
  }
  /// Notes two operations that need their order, which they have.
  void note_conflict(Moment earlier, const Clock& later);

 private:
  void write() const;

  struct Wait {
    std::string earlier;
    std::string later;
    bool is_needed = false;
  };
  std::vector<Wait> all_;
};

}  // namespace softdevice
