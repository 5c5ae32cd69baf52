// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/ptx/fat_binary.hpp"

#include <elf.h>
#include <zstd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
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

/// Calls work(entry) for each entry of the fat binary behind a wrapper.
template <class Work>
void for_each_entry(const void* wrapper, const Work& work) {
  const auto* place = static_cast<const std::byte*>(wrapper);
  if (read<std::uint32_t>(place) != wrapper_magic)
    throw std::runtime_error("a fat binary of unknown kind is registered");
  const std::byte* binary = read<const std::byte*>(place + 8);
  const Header header(binary);
  if (header.magic != binary_magic) throw std::runtime_error("a fat binary has an unknown header");
  const std::byte* end = binary + header.bytes + header.content_bytes;
  for (place = binary + header.bytes; place < end;) {
    const Entry entry(place);
    work(entry);
    place = entry.content + entry.content_bytes;
  }
}

/// Registers by the names of kernels in machine code, an ELF file: attributes of its symbols.
class MachineCode {
 public:
  explicit MachineCode(const std::byte* file) : file_(file) {
    sections_ = {reinterpret_cast<const Elf64_Shdr*>(file + read<Elf64_Ehdr>(file).e_shoff),
                 read<Elf64_Ehdr>(file).e_shnum};
  }

  /// Returns 0 where there is no such kernel.
  int registers_of(const std::string& kernel) const {
    for (const Elf64_Shdr& info : sections_) {
      if (info.sh_type != type_of_attributes || info.sh_info != 0) continue;
      for (std::uint64_t at = 0; at + 4 <= info.sh_size;) {
        const std::byte* attribute = file_ + info.sh_offset + at;
        const auto format = read<std::uint8_t>(attribute);
        const std::uint64_t size = format == sized_format ? read<std::uint16_t>(attribute + 2) : 0;
        if (format == sized_format && read<std::uint8_t>(attribute + 1) == register_count &&
            name_of(read<std::uint32_t>(attribute + 4)) == kernel)
          return static_cast<int>(read<std::uint32_t>(attribute + 8));
        at += 4 + size;
      }
    }
    return 0;
  }

 private:
  static constexpr std::uint32_t type_of_attributes = 0x70000000;  // .nv.info
  static constexpr std::uint8_t sized_format = 4;
  static constexpr std::uint8_t register_count = 0x2f;

  std::string name_of(std::uint32_t symbol) const {
    for (const Elf64_Shdr& table : sections_) {
      if (table.sh_type != SHT_SYMTAB) continue;
      const auto found = read<Elf64_Sym>(file_ + table.sh_offset + symbol * sizeof(Elf64_Sym));
      return reinterpret_cast<const char*>(file_ + sections_[table.sh_link].sh_offset +
                                           found.st_name);
    }
    return "";
  }

  const std::byte* file_;
  std::span<const Elf64_Shdr> sections_;
};

}  // namespace

std::string ptx_of(const void* wrapper, int capability) {
  const std::byte* best = nullptr;
  std::uint32_t best_capability = 0;
  for_each_entry(wrapper, [&](const Entry& entry) {
    if (!entry.is_ptx() || entry.capability > static_cast<std::uint32_t>(capability) ||
        entry.capability <= best_capability)
      return;
    best = entry.content - entry.bytes;
    best_capability = entry.capability;
  });
  if (best == nullptr) {
    throw std::runtime_error("no PTX for compute capability " + std::to_string(capability) +
                             " in a fat binary: compile with -arch=compute_80 or higher");
  }
  return unpacked(Entry(best));
}

std::map<int, int> registers_of(const void* wrapper, const std::string& kernel) {
  std::map<int, int> found;
  for_each_entry(wrapper, [&](const Entry& entry) {
    if (entry.kind != 2 || std::memcmp(entry.content, ELFMAG, SELFMAG) != 0) return;
    const int registers = MachineCode(entry.content).registers_of(kernel);
    if (registers > 0) found[static_cast<int>(entry.capability)] = registers;
  });
  return found;
}

}  // namespace softdevice::ptx
