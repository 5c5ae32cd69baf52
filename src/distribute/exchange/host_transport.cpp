// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_transport.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {
namespace {

class HostTransport final : public ModeTransport {
 public:
  HostTransport(ModePrecision precision, bool countable)
      : precision_(precision), packs_(precision == ModePrecision::single_ || !countable) {}

  bool packs() const override { return packs_; }
  bool on_device() const override { return false; }

  void allocate(int n_slots, std::int64_t by_order, std::int64_t by_ring) override {
    if (!packs_) return;
    slots_.resize(to_size(n_slots));
    for (Slot& slot : slots_) {
      provide(slot[0], by_order);
      provide(slot[1], by_ring);
    }
  }
  void release() noexcept override { slots_.clear(); }
  void* buffer(Side side, int slot) override { return at(side, slot).data(); }

  void pack(Side side, int slot, const Value* modes, std::span<const CopyRun> runs) override {
    Value* const to = at(side, slot).data();
    if (in_single()) {
      largest_ =
          std::max(largest_, round_modes(modes, reinterpret_cast<std::complex<float>*>(to), runs));
    } else {
      copy_modes(modes, to, runs);
    }
  }
  void begin_unpack() override {}
  void unpack(Side side, int slot, Value* modes, std::span<const CopyRun> runs) override {
    const Value* const from = at(side, slot).data();
    if (in_single()) {
      round_modes(reinterpret_cast<const std::complex<float>*>(from), modes, runs);
    } else {
      copy_modes(from, modes, runs);
    }
  }
  void round(Value* modes, std::int64_t n) override {
    if (!in_single()) return;
    const CopyRun run{0, 0, n};
    largest_ = std::max(largest_, round_modes(modes, modes, {&run, 1}));
  }
  void wait() override {}
  double pop_largest() override { return std::exchange(largest_, 0.0); }

  TransportBytes bytes() const override { return {}; }

 private:
  using Slot = std::array<HostBuffer<Value>, 2>;

  bool in_single() const { return precision_ == ModePrecision::single_; }
  HostBuffer<Value>& at(Side side, int slot) {
    return slots_[to_size(slot)][side == Side::orders ? 0 : 1];
  }
  void provide(HostBuffer<Value>& buffer, std::int64_t numbers) const {
    const std::int64_t size = in_single() ? (numbers + 1) / 2 : numbers;
    if (buffer.size() != size) buffer.allocate(size);
  }

  ModePrecision precision_;
  bool packs_;
  std::vector<Slot> slots_;  ///< in doubles, or twice as many floats
  double largest_ = 0;
};

}  // namespace

std::unique_ptr<ModeTransport> make_host_transport(ModePrecision precision, bool countable) {
  return std::make_unique<HostTransport>(precision, countable);
}

}  // namespace ringweave::detail::inline distribute
