// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"

namespace ringweave::detail::inline base {

/// Memory of a stage whose data on the host go through a device in blocks.
struct BlockBytes {
  std::int64_t device_bytes;
  std::int64_t pinned_bytes;  ///< on the host
};

/// Default size of a block: enough to fill a device for the largest transforms (1.5 MB of an order
/// at lmax 32768, 0.8 MB of a ring at nside 8192), and enough blocks to overlap copies for smaller
/// ones (nside 2048, 500 MB of modes in all).
inline constexpr std::int64_t usual_block_bytes = std::int64_t{128} << 20;

/// Returns the blocks that are in flight at a time, each in a slot.
inline std::int64_t slots_of(std::int64_t n_blocks) { return std::min<std::int64_t>(n_blocks, 2); }

/// The streams, events and buffers a BlockPipeline uses.
struct DevicePipeline {
  using Stream = DeviceStream;
  using Event = DeviceEvent;
  template <class T>
  using Pinned = DeviceBuffer<T, MemorySpace::pinned>;
  template <class T>
  using Buffer = DeviceBuffer<T>;
};

/// Processes blocks of host data on a device, with the copy in of the next block and the copy out
/// of the previous one overlapped with the computation. Two slots alternate: a `Data` has the
/// buffers of a block, on the device and pinned on the host. Copies have their own streams and go
/// through pinned memory, so that no user memory is accessed after a call. Block names a block.
template <class Device, class Data, class Block>
class BlockPipeline {
 public:
  /// Makes the slots from the sizes of the largest block.
  template <class... Sizes>
  explicit BlockPipeline(std::int64_t n_blocks, const Sizes&... sizes) : n_blocks_(n_blocks) {
    for (std::int64_t i = 0; i < slots_of(n_blocks); ++i) slots_.emplace_back(sizes...);
  }

  /// Returns the stream for computations.
  const typename Device::Stream& stream() const { return compute_; }

  /// Calls for each block b, in order:
  ///   work.block(b)                       returns the Block, or nothing to leave it out
  ///   work.fill(data, block)              on the host: gathers the input into pinned memory
  ///   work.upload(data, block, stream)    copies it to the device
  ///   work.compute(data, block)           enqueues on stream()
  ///   work.download(data, block, stream)  copies the results to pinned memory
  ///   work.unpack(data, block)            on the host: scatters them to their destination
  /// All work is complete when it returns.
  template <class Work>
  void run(const Work& work) {
    try {
      std::int64_t turn = 0;
      for (std::int64_t b = 0; b < n_blocks_; ++b) {
        const std::optional<Block> block = work.block(b);
        if (!block) continue;
        start(slots_[to_size(turn)], *block, work);
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

  /// Returns the bytes of the buffers; a Data has device_bytes() and pinned_bytes().
  BlockBytes bytes() const {
    BlockBytes total{0, 0};
    for (const Slot& slot : slots_) {
      total.device_bytes += slot.data.device_bytes();
      total.pinned_bytes += slot.data.pinned_bytes();
    }
    return total;
  }

 private:
  struct Slot {
    template <class... Sizes>
    explicit Slot(const Sizes&... sizes) : data(sizes...) {}
    Data data;
    typename Device::Event arrived;
    typename Device::Event computed;
    typename Device::Event left;
    std::optional<Block> block;  ///< in flight
  };

  template <class Work>
  void start(Slot& slot, const Block& block, const Work& work) {
    finish(slot, work);
    work.fill(slot.data, block);
    slot.block = block;
    work.upload(slot.data, block, in_);
    slot.arrived.record(in_);
    compute_.wait_for(slot.arrived);
    work.compute(slot.data, block);
    slot.computed.record(compute_);
    out_.wait_for(slot.computed);
    work.download(slot.data, block, out_);
    slot.left.record(out_);
  }
  template <class Work>
  void finish(Slot& slot, const Work& work) {
    if (!slot.block) return;
    slot.left.wait();
    work.unpack(slot.data, *slot.block);
    slot.block.reset();
  }
  /// Waits, after an error, for pending work, which must not overlap with the next call.
  void abandon() noexcept {
    for (Slot& slot : slots_) slot.block.reset();
    for (const typename Device::Stream* stream : {&in_, &compute_, &out_}) {
      try {
        stream->synchronize();
      } catch (...) {
        // Report the first error instead.
      }
    }
  }

  std::int64_t n_blocks_;
  typename Device::Stream in_;
  typename Device::Stream compute_;
  typename Device::Stream out_;
  std::deque<Slot> slots_;  // slots must not move
};

}  // namespace ringweave::detail::inline base
