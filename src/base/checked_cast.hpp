// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <utility>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline base {

/// Converts between integer types. Error  UsageError naming `what` when the value does not fit.
template <std::integral To, std::integral From>
constexpr To checked_cast(From value, const char* what) {
  if (!std::in_range<To>(value)) {
    throw UsageError(std::string(what) + " = " + std::to_string(value) +
                     " does not fit the integer type of the library it is handed to");
  }
  return static_cast<To>(value);
}

/// Returns a * b for counts of pixels, modes and bytes. Error  UsageError naming `what` on 64-bit
/// overflow.
inline std::int64_t checked_product(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw UsageError(std::string(what) + ": " + std::to_string(a) + " x " + std::to_string(b) +
                     " passes 64 bits");
  }
  return product;
}

/// Throws UsageError unless a size is the planned one. `where` and `what` name it, e.g. "ring FFT
/// on a device", "pixels of a component".
inline void require_planned(const char* where, std::int64_t there, std::int64_t planned,
                            const char* what) {
  if (there == planned) return;
  throw UsageError(std::string(where) + ": " + std::to_string(there) + " " + what +
                   "; the plan has " + std::to_string(planned));
}

/// Converts a signed 64-bit size or index to the standard library's size_t. This is the only such
/// cast.
constexpr std::size_t to_size(std::int64_t value) { return static_cast<std::size_t>(value); }

/// Returns the size of a container as a signed number.
template <class Container>
constexpr std::int64_t ssize64(const Container& container) {
  return static_cast<std::int64_t>(container.size());
}

/// Returns the bytes of the elements of vectors and buffers.
template <class... Container>
std::int64_t held_bytes(const Container&... container) {
  return (std::int64_t{0} + ... +
          (ssize64(container) * static_cast<std::int64_t>(sizeof(*container.data()))));
}

}  // namespace ringweave::detail::inline base
