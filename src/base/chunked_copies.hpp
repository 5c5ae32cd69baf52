// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/parallel_copy.hpp"

namespace ringweave::detail::inline base {

/// Copies between ordinary host memory and a device in chunks through two pinned buffers used in
/// turn: while the device copies one, all threads fill or empty the other. Letting the device copy
/// unpinned memory does the same with one thread.
///
/// Link is the device. It has
///   Staging, stage(bytes)                       a buffer of that many chars: data()
///   up(from, to, bytes), down(from, to, bytes)  staging to device and back, in order
///   mark(slot), wait(slot)                      waits for the work submitted before the last mark
template <class Link>
class ChunkedCopies {
 public:
  template <class... Arguments>
  explicit ChunkedCopies(std::int64_t chunk_bytes, Arguments&&... of_link)
      : chunk_(chunk_bytes), link_(std::forward<Arguments>(of_link)...) {
    for (auto& staging : staging_) staging = link_.stage(chunk_);
  }

  /// Waits for pending copies, which still use the buffers.
  ~ChunkedCopies() {
    try {
      for (const int slot : {0, 1}) link_.wait(slot);
    } catch (...) {
      // A device that failed copies nothing any more.
    }
  }
  ChunkedCopies(const ChunkedCopies&) = delete;
  ChunkedCopies& operator=(const ChunkedCopies&) = delete;

  /// Copies to the device. On return the host memory has been read; later device work sees the
  /// bytes.
  void to_device(const void* from, void* to, std::int64_t bytes) {
    const char* source = static_cast<const char*>(from);
    char* target = static_cast<char*>(to);
    for (std::int64_t done = 0; done < bytes; done += chunk_) {
      const std::int64_t count = std::min(chunk_, bytes - done);
      const int slot = next_slot();
      link_.wait(slot);
      copy_in_parallel(source + done, staging_[slot].data(), count);
      link_.up(staging_[slot].data(), target + done, count);
      link_.mark(slot);
    }
  }

  /// Copies to the host. On return the bytes are there.
  void to_host(const void* from, void* to, std::int64_t bytes) {
    const char* source = static_cast<const char*>(from);
    char* target = static_cast<char*>(to);
    Pending last{};
    for (std::int64_t done = 0; done < bytes; done += chunk_) {
      const Pending now{next_slot(), done, std::min(chunk_, bytes - done)};
      link_.down(source + done, staging_[now.slot].data(), now.count);
      link_.mark(now.slot);
      unstage(last, target);
      last = now;
    }
    unstage(last, target);
  }

  std::int64_t pinned_bytes() const { return 2 * chunk_; }

 private:
  struct Pending {
    int slot = 0;
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  int next_slot() { return slot_ ^= 1; }
  void unstage(const Pending& chunk, char* target) {
    if (chunk.count == 0) return;
    link_.wait(chunk.slot);
    copy_in_parallel(staging_[chunk.slot].data(), target + chunk.first, chunk.count);
  }

  std::int64_t chunk_;
  Link link_;
  typename Link::Staging staging_[2];
  int slot_ = 0;
};

}  // namespace ringweave::detail::inline base
