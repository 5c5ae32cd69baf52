// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "distribute/exchange/device_route.hpp"
#include "distribute/exchange/mode_transport.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

/// ModeTransport for modes on a device: MPI reads them there (DeviceRoute::direct), or in staging
/// buffers on the host. Copies of runs to and from these overlap with the device's work. Modes are
/// rounded on the device, in separate buffers.
///
/// Memory is the device as the transport sees it; n counts complex numbers. It has
///   Staging, stage(bytes)                  a buffer that MPI and copies can access: data()
///   Buffer, buffer(bytes)                  a device buffer: data()
///   down(from, to, bytes), up(...)         device to staging and back, during the device's work
///   keep(from, to, bytes)                  on the device, in the order of its work
///   round(from, to, n)                     as round_modes(), in that order
///   pop_largest()                         largest magnitude rounded; waits
///   copies_follow_work()                   later copies wait for all work so far
///   work_follows_copies()                  later work waits for all copies so far
///   wait_for_copies(), wait_for_work()     wait until all is done; report errors of the device
template <class Memory>
class DeviceTransport final : public ModeTransport {
 public:
  /// `countable`: whether MPI's counts can express all modes of a side.
  DeviceTransport(std::unique_ptr<Memory> memory, DeviceRoute route, ModePrecision precision,
                  bool countable)
      : memory_(std::move(memory)),
        staged_(route == DeviceRoute::staged),
        in_single_(precision == ModePrecision::single_),
        buffers_(in_single_ || (!staged_ && !countable)),
        number_bytes_(complex_bytes(precision)) {}

  bool packs() const override { return staged_ || buffers_; }
  bool on_device() const override { return true; }

  void allocate(int n_slots, std::int64_t by_order, std::int64_t by_ring) override {
    if (!slots_.empty()) return;
    std::vector<Place> slots;
    TransportBytes total;
    for (int slot = 0; slot < n_slots; ++slot) {
      for (const std::int64_t numbers : {by_order, by_ring}) {
        const std::int64_t bytes = numbers * number_bytes_;
        Place place;
        if (staged_) place.staging = memory_->stage(bytes);
        if (buffers_) place.buffer = memory_->buffer(bytes);
        if (staged_) total.pinned += bytes;
        if (buffers_) total.device += bytes;
        slots.push_back(std::move(place));
      }
    }
    // All or none, so that a call after a failure allocates again.
    slots_ = std::move(slots);
    bytes_ = total;
  }
  void release() noexcept override {
    slots_.clear();
    bytes_ = {};
  }
  void* buffer(Side side, int slot) override {
    Place& place = at(side, slot);
    return staged_ ? static_cast<void*>(place.staging.data()) : place.buffer.data();
  }

  void pack(Side side, int slot, const Value* modes, std::span<const CopyRun> runs) override {
    Place& place = at(side, slot);
    for (const CopyRun& run : runs) {
      if (in_single_) {
        memory_->round(modes + run.from, singles(place) + run.to, run.count);
      } else if (buffers_) {
        memory_->keep(modes + run.from, in_buffer(place, run.to), run.count * number_bytes_);
      }
    }
    if (!staged_) return;
    memory_->copies_follow_work();
    for (const CopyRun& run : runs) {
      const void* const from =
          buffers_ ? in_buffer(place, run.to) : reinterpret_cast<const char*>(modes + run.from);
      memory_->down(from, in_staging(place, run.to), run.count * number_bytes_);
    }
  }
  void begin_unpack() override {
    if (staged_) memory_->copies_follow_work();
  }
  void unpack(Side side, int slot, Value* modes, std::span<const CopyRun> runs) override {
    Place& place = at(side, slot);
    if (staged_) {
      for (const CopyRun& run : runs) {
        void* const to =
            buffers_ ? in_buffer(place, run.from) : reinterpret_cast<char*>(modes + run.to);
        memory_->up(in_staging(place, run.from), to, run.count * number_bytes_);
      }
      memory_->work_follows_copies();
    }
    for (const CopyRun& run : runs) {
      if (in_single_) {
        memory_->round(singles(place) + run.from, modes + run.to, run.count);
      } else if (buffers_) {
        memory_->keep(in_buffer(place, run.from), modes + run.to, run.count * number_bytes_);
      }
    }
  }
  void round(Value* modes, std::int64_t n) override {
    if (in_single_ && n > 0) memory_->round(modes, modes, n);
  }
  void wait() override { staged_ ? memory_->wait_for_copies() : memory_->wait_for_work(); }
  double pop_largest() override { return memory_->pop_largest(); }
  TransportBytes bytes() const override { return bytes_; }

 private:
  struct Place {
    typename Memory::Staging staging{};
    typename Memory::Buffer buffer{};
  };

  Place& at(Side side, int slot) {
    return slots_[to_size(2 * slot + (side == Side::orders ? 0 : 1))];
  }
  static std::complex<float>* singles(Place& place) {
    return reinterpret_cast<std::complex<float>*>(place.buffer.data());
  }
  char* in_buffer(Place& place, std::int64_t number) const {
    return place.buffer.data() + number * number_bytes_;
  }
  char* in_staging(Place& place, std::int64_t number) const {
    return place.staging.data() + number * number_bytes_;
  }

  std::unique_ptr<Memory> memory_;
  bool staged_;
  bool in_single_;
  bool buffers_;  ///< on the device
  std::int64_t number_bytes_;
  std::vector<Place> slots_;  ///< [slot][side]
  TransportBytes bytes_;
};

/// Makes the transport of this thread's device. `stream` is where the device computes; it must
/// outlive the transport. Error  ResourceError from the device.
std::unique_ptr<ModeTransport> make_device_transport(const DeviceStream& stream, DeviceRoute route,
                                                     ModePrecision precision, bool countable);

}  // namespace ringweave::detail::inline distribute
