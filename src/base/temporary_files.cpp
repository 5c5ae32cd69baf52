// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/temporary_files.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <climits>
#include <cstring>

namespace ringweave::detail::inline base {
namespace {

/// A name, where handlers of signals can read it.
struct Slot {
  std::atomic<bool> is_taken = false;
  std::atomic<bool> is_named = false;
  std::array<char, PATH_MAX> path{};
};

constexpr int no_slot = -1;
std::array<Slot, TemporaryFile::most> slots;

}  // namespace

TemporaryFile::TemporaryFile(const std::string& path) : slot_(no_slot) {
  if (path.size() >= PATH_MAX) return;
  for (int i = 0; i < most; ++i) {
    Slot& slot = slots[static_cast<std::size_t>(i)];
    if (slot.is_taken.exchange(true)) continue;
    std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
    slot.is_named = true;
    slot_ = i;
    return;
  }
}

TemporaryFile::~TemporaryFile() {
  if (slot_ == no_slot) return;
  Slot& slot = slots[static_cast<std::size_t>(slot_)];
  slot.is_named = false;
  slot.is_taken = false;
}

void remove_temporary_files() noexcept {
  for (const Slot& slot : slots) {
    if (slot.is_named) ::unlink(slot.path.data());
  }
}

}  // namespace ringweave::detail::inline base
