// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/memory/waits.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "softdevice/settings.hpp"

namespace softdevice {

Waits& Waits::get() {
  static auto* all = new Waits;
  return *all;
}

int Waits::enter(const std::string& earlier) {
  if (settings().mutants.empty()) return Clock::no_wait;
  if (all_.empty()) std::atexit([] { Waits::get().write(); });
  all_.push_back({earlier, "", false});
  return static_cast<int>(all_.size()) - 1;
}

void Waits::note_conflict(Moment earlier, const Clock& later) {
  for (const auto& [wait, counts] : later.without()) {
    if (Clock::of(counts, earlier.stream) < earlier.count)
      all_[static_cast<std::size_t>(wait)].is_needed = true;
  }
}

/// Appends a line for each, as Mutants does for instructions.
void Waits::write() const {
  std::ostringstream text;
  for (std::size_t i = 0; i < all_.size(); ++i) {
    text << "{\"kernel\": \"" << all_[i].later << " behind " << all_[i].earlier
         << "\", \"instruction\": \"cudaStreamWaitEvent\", \"line\": " << i << ", \"noticed\": \""
         << (all_[i].is_needed ? "unordered operations" : "") << "\"}\n";
  }
  std::ofstream(settings().mutants, std::ios::app) << text.str();
}

}  // namespace softdevice
