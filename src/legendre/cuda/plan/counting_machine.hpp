// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::gpu {

/// Machine that runs nothing and allocates nothing, but counts the device bytes of a launch
/// sequence.
class CountingMachine {
 public:
  template <class T>
  class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::int64_t size) : bytes_(size * std::int64_t{sizeof(T)}) {}
    /// Returns a dummy address for pointer arithmetic, never to be dereferenced.
    T* data() const { return reinterpret_cast<T*>(alignof(T)); }
    std::int64_t bytes() const { return bytes_; }

   private:
    std::int64_t bytes_ = 0;
  };

  template <class T>
  Buffer<T> allocate(std::int64_t size) const {
    return Buffer<T>(size);
  }
  template <class T>
  Buffer<T> upload(const T*, std::int64_t size) const {
    return Buffer<T>(size);
  }
  template <class Work>
  void launch(const Work&, std::int64_t) const {}
};

}  // namespace ringweave::gpu
