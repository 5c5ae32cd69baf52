// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/ptx/fat_binary.hpp"

#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace softdevice::ptx {
namespace {

template <class T>
T read(const std::byte* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

constexpr std::uint32_t wrapper_magic = 0x466243b1;
constexpr std::uint32_t binary_magic = 0xba55ed50;
constexpr std::uint32_t zstd_magic = 0xfd2fb528;

struct Header {
  explicit Header(const std::byte* place)
      : magic(read<std::uint32_t>(place)),
        bytes(read<std::uint16_t>(place + 6)),
        content_bytes(read<std::uint64_t>(place + 8)) {}
  std::uint32_t magic;
  std::uint16_t bytes;
  std::uint64_t content_bytes;
};

struct Entry {
  explicit Entry(const std::byte* place)
      : kind(read<std::uint16_t>(place)),
        bytes(read<std::uint32_t>(place + 4)),
        content_bytes(read<std::uint64_t>(place + 8)),
        packed_bytes(read<std::uint32_t>(place + 16)),
        capability(read<std::uint32_t>(place + 28)),
        unpacked_bytes(read<std::uint64_t>(place + 56)),
        content(place + bytes) {}
  bool is_ptx() const { return kind == 1; }
  std::uint16_t kind;
  std::uint32_t bytes;
  std::uint64_t content_bytes;
  std::uint32_t packed_bytes;
  std::uint32_t capability;
  std::uint64_t unpacked_bytes;
  const std::byte* content;
};

std::string unpacked(const Entry& entry) {
  if (read<std::uint32_t>(entry.content) != zstd_magic)
    return {reinterpret_cast<const char*>(entry.content), entry.content_bytes};
  std::string text(entry.unpacked_bytes, '\0');
  const std::size_t size =
      ZSTD_decompress(text.data(), text.size(), entry.content, entry.packed_bytes);
  if (ZSTD_isError(size) != 0)
    throw std::runtime_error(std::string("the PTX of a fat binary: ") + ZSTD_getErrorName(size));
  text.resize(size);
  return text;
}

}  // namespace

std::string ptx_of(const void* wrapper, int capability) {
  const auto* place = static_cast<const std::byte*>(wrapper);
  if (read<std::uint32_t>(place) != wrapper_magic)
    throw std::runtime_error("a fat binary of unknown kind is registered");
  const std::byte* binary = read<const std::byte*>(place + 8);
  const Header header(binary);
  if (header.magic != binary_magic) throw std::runtime_error("a fat binary has an unknown header");
  const std::byte* best = nullptr;
  const std::byte* end = binary + header.bytes + header.content_bytes;
  for (place = binary + header.bytes; place < end;) {
    const Entry entry(place);
    if (entry.is_ptx() && entry.capability <= static_cast<std::uint32_t>(capability) &&
        (best == nullptr || entry.capability > Entry(best).capability))
      best = place;
    place = entry.content + entry.content_bytes;
  }
  if (best == nullptr) {
    throw std::runtime_error("no PTX for compute capability " + std::to_string(capability) +
                             " in a fat binary: compile with -arch=compute_80 or higher");
  }
  return unpacked(Entry(best));
}

}  // namespace softdevice::ptx
