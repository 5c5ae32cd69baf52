// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/chunked_copies.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"

namespace ringweave::detail::inline base {

/// Adapts a stream to ChunkedCopies.
class StreamLink {
 public:
  using Staging = DeviceBuffer<char, MemorySpace::pinned>;

  explicit StreamLink(const DeviceStream& stream) : stream_(&stream) {}
  Staging stage(std::int64_t bytes) const { return Staging(bytes); }
  void up(const char* from, char* to, std::int64_t bytes) const {
    copy_to_device(from, to, bytes, *stream_);
  }
  void down(const char* from, char* to, std::int64_t bytes) const {
    copy_to_host(from, to, bytes, *stream_);
  }
  void mark(int slot) { marks_[slot].record(*stream_); }
  void wait(int slot) const { marks_[slot].wait(); }

 private:
  const DeviceStream* stream_;
  DeviceEvent marks_[2];
};

/// Copies of pageable memory in the order of a stream, through 32 MB of pinned memory.
class StreamCopies : public ChunkedCopies<StreamLink> {
 public:
  static constexpr std::int64_t chunk_bytes = std::int64_t{16} << 20;  // not measured
  static constexpr std::int64_t bytes_of_all = 2 * chunk_bytes;

  explicit StreamCopies(const DeviceStream& stream) : ChunkedCopies(chunk_bytes, stream) {}
};

}  // namespace ringweave::detail::inline base
