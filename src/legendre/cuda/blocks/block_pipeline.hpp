// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/device_buffer.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"

namespace ringweave::gpu {

/// What a BlockPipeline runs on.
struct DevicePipeline {
  using Stream = DeviceStream;
  using Event = DeviceEvent;
  template <class T>
  using Pinned = DeviceBuffer<T, MemorySpace::pinned>;
  template <class T>
  using Buffer = DeviceBuffer<T>;
};

/// Blocks of rows of the host go through a device: while one is computed, the next is copied in and
/// the one before is copied out. Two slots take turns; copies have streams of their own and go
/// through pinned memory, so that nothing of a user is touched after a call.
template <class Device>
class BlockPipeline {
  using Complex = std::complex<double>;

 public:
  struct Slot {
    Slot(std::int64_t n_alm, std::int64_t n_modes)
        : host_alm(n_alm), host_modes(n_modes), alm(n_alm), modes(n_modes) {}
    typename Device::template Pinned<Complex> host_alm;
    typename Device::template Pinned<Complex> host_modes;
    typename Device::template Buffer<Complex> alm;
    typename Device::template Buffer<Complex> modes;

   private:
    friend BlockPipeline;
    typename Device::Event arrived;
    typename Device::Event computed;
    typename Device::Event left;
    std::optional<RowRange> heads;  ///< on their way
  };

  BlockPipeline(const RowBlocks& blocks, std::int64_t n_components) : blocks_(&blocks) {
    const std::int64_t n_slots = std::min<std::int64_t>(blocks.size(), 2);
    for (std::int64_t i = 0; i < n_slots; ++i) {
      slots_.emplace_back(blocks.alm_size() * n_components, blocks.n_positions() * n_components);
    }
  }

  /// What computes goes to this stream.
  const typename Device::Stream& stream() const { return compute_; }

  /// For the blocks with wanted rows, in order:
  ///   work.fill(slot, heads)           on the host: what goes in, to pinned memory
  ///   work.upload(slot, heads, stream)  copies it to the device
  ///   work.compute(slot, heads)        to stream()
  ///   work.download(slot, heads, stream)   copies the results to pinned memory
  ///   work.unpack(slot, heads)          on the host: to where they go
  /// All is done when it returns.
  template <class Work>
  void run(RowRange wanted, const Work& work) {
    try {
      std::int64_t turn = 0;
      for (std::int64_t b = 0; b < blocks_->size(); ++b) {
        const RowRange block = blocks_->heads(b);
        const RowRange heads{std::max(block.begin, wanted.begin), std::min(block.end, wanted.end)};
        if (heads.begin >= heads.end || blocks_->alm_of(heads).size() == 0) continue;
        start(slots_[to_size(turn)], heads, work);
        turn = (turn + 1) % ssize64(slots_);
      }
      for (std::int64_t i = 0; i < ssize64(slots_); ++i) {
        finish(slots_[to_size((turn + i) % ssize64(slots_))], work);
      }
    } catch (...) {
      abandon();
      throw;
    }
  }

  std::int64_t device_bytes() const {
    std::int64_t total = 0;
    for (const Slot& slot : slots_) total += slot.alm.bytes() + slot.modes.bytes();
    return total;
  }
  std::int64_t pinned_bytes() const { return device_bytes(); }

 private:
  template <class Work>
  void start(Slot& slot, RowRange heads, const Work& work) {
    finish(slot, work);
    work.fill(slot, heads);
    slot.heads = heads;
    work.upload(slot, heads, in_);
    slot.arrived.record(in_);
    slot.arrived.hold(compute_);
    work.compute(slot, heads);
    slot.computed.record(compute_);
    slot.computed.hold(out_);
    work.download(slot, heads, out_);
    slot.left.record(out_);
  }
  template <class Work>
  void finish(Slot& slot, const Work& work) {
    if (!slot.heads) return;
    slot.left.wait();
    work.unpack(slot, *slot.heads);
    slot.heads.reset();
  }
  /// After an error: what is still under way must not meet the next call.
  void abandon() noexcept {
    for (Slot& slot : slots_) slot.heads.reset();
    for (const typename Device::Stream* stream : {&in_, &compute_, &out_}) {
      try {
        stream->synchronize();
      } catch (...) {
        // The error that led here is the one to tell.
      }
    }
  }

  const RowBlocks* blocks_;
  typename Device::Stream in_;
  typename Device::Stream compute_;
  typename Device::Stream out_;
  std::deque<Slot> slots_;  // which stay where they are
};

}  // namespace ringweave::gpu
