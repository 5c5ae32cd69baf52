// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/host_memory.hpp"
#include "base/memory_meter.hpp"
#include "base/view.hpp"

namespace ringweave {

/// Owns uninitialised host memory of `size` elements, aligned to 64 bytes. Move only; elements are
/// trivial. Error  ResourceError with the size when the system refuses.
template <class T>
class HostBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  HostBuffer() = default;
  explicit HostBuffer(std::int64_t size) { allocate(size); }
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~HostBuffer() { release(); }

  /// Drops what it held and allocates anew.
  void allocate(std::int64_t size) {
    release();
    if (size == 0) return;
    const std::int64_t bytes =
        checked_product(size, static_cast<std::int64_t>(sizeof(T)), "buffer size in bytes");
    data_ = static_cast<T*>(allocate_host_memory(bytes));
    size_ = size;
    MemoryMeter::add(bytes);
  }

  void release() noexcept {
    if (data_ == nullptr) return;
    const std::int64_t bytes = size_ * static_cast<std::int64_t>(sizeof(T));
    free_host_memory(data_, bytes);
    MemoryMeter::remove(bytes);
    data_ = nullptr;
    size_ = 0;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) { return data_[i]; }
  const T& operator[](std::int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Owns components of equal size, one after the other (see ComponentView).
template <class T>
class ComponentBuffer {
 public:
  ComponentBuffer() = default;
  ComponentBuffer(std::int64_t n_components, std::int64_t size)
      : n_components_(n_components),
        size_(size),
        data_(checked_product(n_components, size, "elements of a buffer")) {}

  ComponentView<T> view() { return {data_.data(), n_components_, size_}; }
  ComponentView<const T> view() const { return {data_.data(), n_components_, size_}; }
  std::int64_t n_components() const { return n_components_; }
  std::int64_t size() const { return size_; }  ///< elements of one component
  std::int64_t bytes() const { return data_.size() * static_cast<std::int64_t>(sizeof(T)); }
  void release() noexcept { data_.release(); }

 private:
  std::int64_t n_components_ = 0;
  std::int64_t size_ = 0;
  HostBuffer<T> data_;
};

template <class T>
using MapBuffer = ComponentBuffer<T>;
template <class T>
using AlmBuffer = ComponentBuffer<std::complex<T>>;

}  // namespace ringweave
