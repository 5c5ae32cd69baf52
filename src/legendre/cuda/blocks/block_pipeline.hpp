// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"

namespace ringweave::detail::gpu {

/// The streams, events and buffers a BlockPipeline uses.
struct DevicePipeline {
  using Stream = DeviceStream;
  using Event = DeviceEvent;
  template <class T>
  using Pinned = DeviceBuffer<T, MemorySpace::pinned>;
  template <class T>
  using Buffer = DeviceBuffer<T>;
};

/// Processes blocks of host rows on a device, with the copy in of the next block and the copy out
/// of the previous one overlapped with the computation. Two slots alternate. Copies have their own
/// streams and go through pinned memory, so that no user memory is accessed after a call.
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
    std::optional<RowRange> heads;  ///< rows in flight
  };

  BlockPipeline(const RowBlocks& blocks, std::int64_t n_components) : blocks_(&blocks) {
    const std::int64_t n_slots = std::min<std::int64_t>(blocks.size(), 2);
    for (std::int64_t i = 0; i < n_slots; ++i) {
      slots_.emplace_back(blocks.alm_size() * n_components, blocks.n_positions() * n_components);
    }
  }

  /// Returns the stream for computations.
  const typename Device::Stream& stream() const { return compute_; }

  /// Calls for each block with wanted rows, in order:
  ///   work.fill(slot, heads)              on the host: gathers the input into pinned memory
  ///   work.upload(slot, heads, stream)    copies it to the device
  ///   work.compute(slot, heads)           enqueues on stream()
  ///   work.download(slot, heads, stream)  copies the results to pinned memory
  ///   work.unpack(slot, heads)            on the host: scatters them to their destination
  /// All work is complete when it returns.
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
    compute_.wait_for(slot.arrived);
    work.compute(slot, heads);
    slot.computed.record(compute_);
    out_.wait_for(slot.computed);
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
  /// After an error: waits for pending work, which must not overlap with the next call.
  void abandon() noexcept {
    for (Slot& slot : slots_) slot.heads.reset();
    for (const typename Device::Stream* stream : {&in_, &compute_, &out_}) {
      try {
        stream->synchronize();
      } catch (...) {
        // Report the first error instead.
      }
    }
  }

  const RowBlocks* blocks_;
  typename Device::Stream in_;
  typename Device::Stream compute_;
  typename Device::Stream out_;
  std::deque<Slot> slots_;  // slots must not move
};

}  // namespace ringweave::detail::gpu
