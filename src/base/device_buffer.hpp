// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline base {

/// Allocates uninitialised memory on this thread's device. Error  ResourceError with the sizes when
/// there is not enough.
void* allocate_device_memory(std::int64_t bytes);
void free_device_memory(void* memory) noexcept;
/// Allocates page-locked host memory, so that copies overlap with the host's work.
void* allocate_pinned_memory(std::int64_t bytes);
void free_pinned_memory(void* memory) noexcept;

/// Copies in stream order. Host memory must not change until then.
void copy_to_device(const void* from, void* to, std::int64_t bytes, const DeviceStream& stream);
void copy_to_host(const void* from, void* to, std::int64_t bytes, const DeviceStream& stream);
void copy_on_device(const void* from, void* to, std::int64_t bytes, const DeviceStream& stream);
void zero_device_memory(void* memory, std::int64_t bytes, const DeviceStream& stream);

/// Owns uninitialised memory that a device reads and writes: device memory or pinned host memory.
/// Move only; elements are trivial.
template <class T, MemorySpace Space = MemorySpace::device>
class DeviceBuffer {
  static_assert(std::is_trivially_copyable_v<T> && Space != MemorySpace::host);

 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::int64_t size) { allocate(size); }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~DeviceBuffer() { release(); }

  /// Frees the old memory and allocates new memory.
  void allocate(std::int64_t size) {
    release();
    if (size == 0) return;
    const std::int64_t bytes = checked_product(size, std::int64_t{sizeof(T)}, "device buffer");
    data_ = static_cast<T*>(Space == MemorySpace::device ? allocate_device_memory(bytes)
                                                         : allocate_pinned_memory(bytes));
    size_ = size;
  }
  void release() noexcept {
    if (data_ == nullptr) return;
    Space == MemorySpace::device ? free_device_memory(data_) : free_pinned_memory(data_);
    data_ = nullptr;
    size_ = 0;
  }

  View<T, Space> view() { return {data_, size_}; }
  View<const T, Space> view() const { return {data_, size_}; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  std::int64_t bytes() const { return size_ * std::int64_t{sizeof(T)}; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

}  // namespace ringweave::detail::inline base
