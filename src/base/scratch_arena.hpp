// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline base {

/// Cuts scratch memory into arrays that begin on cache lines. Without memory it only counts their
/// size. Contents do not persist: stages that share scratch in turn place their own arrays.
class ScratchArena {
 public:
  /// memory  aligned to 64 bytes; null: only count
  explicit ScratchArena(double* memory = nullptr) : memory_(memory) {}

  template <class T>
  T* allocate(std::int64_t n) {
    constexpr std::int64_t double_bytes = sizeof(double);
    const std::int64_t bytes = n * static_cast<std::int64_t>(sizeof(T));
    const std::int64_t doubles = (bytes + double_bytes - 1) / double_bytes;
    const std::int64_t unit = doubles < 8 * page ? line : page;
    const std::int64_t begin = (size_ + unit - 1) / unit * unit;
    size_ = begin + doubles;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + begin);
  }
  std::int64_t size() const { return size_; }  ///< doubles allocated so far
  /// The size rounded up to whole pages.
  std::int64_t whole_pages() const { return (size_ + page - 1) / page * page; }

 private:
  static constexpr std::int64_t line = 8;  // doubles
  // Large arrays are whole pages apart, as separate allocations are. If they were slightly further
  // apart, loads from one would alias recent stores to the other (4K aliasing).
  static constexpr std::int64_t page = 512;

  double* memory_;
  std::int64_t size_ = 0;
};

}  // namespace ringweave::detail::inline base
