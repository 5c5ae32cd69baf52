// SPDX-License-Identifier: GPL-3.0-or-later
// Loads, stores and asynchronous copies: PTX ISA, section 9.7.9.
#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>
#include <utility>

#include "softdevice/machine/block.hpp"
#include "softdevice/machine/meanings.hpp"
#include "softdevice/machine/warp.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

enum class Space { global, shared, parameter };

/// Addresses of the lanes; those that are not defined are told, and their lanes left out.
Lanes addresses(Warp& warp, const Instruction& in, std::size_t operand, std::size_t offset,
                Lanes lanes, std::uint64_t bits, Row& found) {
  const Row& base = warp.row(in.operands[operand]);
  const Lanes unknown = warp.undefined(in.operands[operand]) & lanes;
  if (unknown != 0) warp.tell("undefined address", std::countr_zero(unknown));
  for (std::size_t lane = 0; lane < n_lanes; ++lane)
    found[lane] = (base[lane] + in.offsets[offset]) & bits;
  return lanes & ~unknown;
}

constexpr std::uint64_t shared_window = 0xffffffffU;

/// Counts a request of a warp: sectors of 32 bytes, or passes over the banks.
template <Space space>
void count(Block& block, const Row& at, Lanes lanes, std::uint64_t bytes) {
  if (settings().counts.empty()) return;
  LaunchCounts& counts = block.counts();
  const auto n = static_cast<std::uint64_t>(std::popcount(lanes));
  std::array<std::uint64_t, n_lanes> keys;
  if constexpr (space == Space::global) {
    std::size_t end = 0;
    for_each_lane(lanes, [&](int lane) { keys[end++] = at[static_cast<std::size_t>(lane)] / 32; });
    std::sort(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(end));
    const auto last = std::unique(keys.begin(), keys.begin() + static_cast<std::ptrdiff_t>(end));
    ++counts.global_requests;
    counts.global_bytes += n * bytes;
    counts.global_sectors += static_cast<std::uint64_t>(last - keys.begin());
    counts.distinct_sectors += static_cast<std::uint64_t>(
        std::count_if(keys.begin(), last, [](std::uint64_t key) { return is_new_sector(key); }));
  } else {
    // So many lanes at a time that they take 128 bytes; words of one bank follow one another.
    const std::size_t together = std::max<std::size_t>(1, 128 / std::max<std::uint64_t>(bytes, 4));
    std::uint64_t passes = 0;
    for (std::size_t first = 0; first < n_lanes; first += together) {
      std::array<std::uint64_t, n_lanes> words;
      std::size_t end = 0;
      for (std::size_t lane = first; lane < std::min<std::size_t>(first + together, n_lanes);
           ++lane) {
        if ((lanes >> lane & 1U) == 0) continue;
        for (std::uint64_t word = 0; word < std::max<std::uint64_t>(bytes / 4, 1) && end < n_lanes;
             ++word)
          words[end++] = at[lane] / 4 + word;
      }
      std::sort(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(end));
      const auto last =
          std::unique(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(end));
      std::array<std::uint64_t, 32> of_bank{};
      for (auto word = words.begin(); word != last; ++word) ++of_bank[*word % 32];
      passes += *std::max_element(of_bank.begin(), of_bank.end());
    }
    ++counts.shared_requests;
    counts.shared_bytes += n * bytes;
    counts.shared_passes += passes;
  }
}

template <Space space>
auto& memory_of(Block& block) {
  if constexpr (space == Space::global)
    return block.global();
  else
    return block.shared();
}
template <Space space>
constexpr const char* name = space == Space::global ? "global memory" : "shared memory";

/// Returns whether an access is right; tells of it otherwise.
template <Space space>
bool is_placed(Warp& warp, const Instruction& in, int lane, std::uint64_t address,
               std::uint64_t bytes) {
  const char* problem = memory_of<space>(warp.block()).place(address, bytes, bytes);
  if (*problem == 0) return true;
  // An error of the launch, which tests may want, and no finding.
  warp.block().report("access of " + std::string(name<space>) + ", " + problem, warp.thread(lane),
                      in.line);
  warp.block().fail(std::string_view(problem) == "not aligned" ? Failure::misaligned_address
                                                               : Failure::illegal_address);
  return false;
}

/// is_wide  whether it goes to a register of 64 bits
template <class T>
std::uint64_t widened(const std::byte* place, bool is_wide) {
  if constexpr (std::is_floating_point_v<T>)
    return widened<std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>(place,
                                                                                     is_wide);
  T value;
  std::memcpy(&value, place, sizeof value);
  // Signed numbers of fewer bits than a register are extended, others filled with zeros.
  const auto bits = static_cast<std::uint64_t>(value);
  return sizeof(T) <= 4 && !is_wide ? bits & 0xffffffffU : bits;
}

/// Rows of n values of type T from memory.
template <class T, std::size_t n, Space space>
void load(Warp& warp, const Instruction& in, Lanes lanes) {
  Row at;
  lanes = addresses(warp, in, n, 0, lanes,
                    space == Space::shared ? shared_window : ~std::uint64_t{0}, at);
  Block& block = warp.block();
  if constexpr (space != Space::parameter) count<space>(block, at, lanes, n * sizeof(T));
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<std::size_t>(l);
    const std::byte* from = nullptr;
    bool is_defined = true;
    if constexpr (space == Space::parameter) {
      if (at[lane] + n * sizeof(T) > block.parameters().size()) {
        warp.tell("access of parameters, outside", l);
        return;
      }
      from = block.parameters().data() + at[lane];
    } else {
      if (!is_placed<space>(warp, in, l, at[lane], n * sizeof(T))) return;
      auto& memory = memory_of<space>(block);
      const char* problem = memory.read(block.actor(warp, l), at[lane], n * sizeof(T), is_defined);
      if (*problem != 0) warp.tell(std::string(name<space>) + ": " + problem, l);
      from = memory.bytes_at(at[lane]);
    }
    for (std::size_t i = 0; i < n; ++i) {
      warp.row(in.operands[i])[lane] =
          widened<T>(from + i * sizeof(T), (in.wide_operands >> i & 1U) != 0);
      Lanes& undefined = warp.undefined(in.operands[i]);
      undefined = (undefined & ~(Lanes{1} << lane)) | (is_defined ? 0U : Lanes{1} << lane);
    }
  });
}

template <class T, std::size_t n, Space space>
void store(Warp& warp, const Instruction& in, Lanes lanes) {
  Row at;
  lanes = addresses(warp, in, 0, 0, lanes,
                    space == Space::shared ? shared_window : ~std::uint64_t{0}, at);
  Block& block = warp.block();
  count<space>(block, at, lanes, n * sizeof(T));
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<std::size_t>(l);
    if (!is_placed<space>(warp, in, l, at[lane], n * sizeof(T))) return;
    auto& memory = memory_of<space>(block);
    const Actor actor = block.actor(warp, l);
    for (std::size_t i = 0; i < n; ++i) {
      const std::uint64_t place = at[lane] + i * sizeof(T);
      const bool is_defined = (warp.undefined(in.operands[i + 1]) >> lane & 1U) == 0;
      const char* problem = memory.write(actor, place, sizeof(T), is_defined);
      if (*problem != 0) warp.tell(std::string(name<space>) + ": " + problem, l);
      std::memcpy(memory.bytes_at(place), &warp.row(in.operands[i + 1])[lane], sizeof(T));
    }
  });
}

/// Begins copies of so many bytes from global to shared memory. The bytes are read now and arrive
/// as late as the thread allows.
template <std::uint32_t bytes>
void copy_ahead(Warp& warp, const Instruction& in, Lanes lanes) {
  Row to;
  Row from;
  lanes = addresses(warp, in, 0, 0, lanes, shared_window, to);
  lanes = addresses(warp, in, 1, 1, lanes, ~std::uint64_t{0}, from);
  Block& block = warp.block();
  count<Space::global>(block, from, lanes, bytes);
  count<Space::shared>(block, to, lanes, bytes);
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<std::size_t>(l);
    if (!is_placed<Space::global>(warp, in, l, from[lane], bytes) ||
        !is_placed<Space::shared>(warp, in, l, to[lane], bytes))
      return;
    AsyncCopy copy{.to = to[lane], .size = bytes};
    const Actor actor = block.actor(warp, l);
    const char* problem = block.global().read(actor, from[lane], bytes, copy.is_defined);
    if (*problem != 0) warp.tell(std::string("global memory: ") + problem, l);
    problem = block.shared().await(actor, to[lane], bytes);
    if (*problem != 0) warp.tell(std::string("shared memory: ") + problem, l);
    std::memcpy(copy.bytes.data(), block.global().bytes_at(from[lane]), bytes);
    warp.copies(l).open.push_back(copy);
  });
}

void commit_copies(Warp& warp, const Instruction&, Lanes lanes) {
  for_each_lane(lanes, [&](int lane) {
    AsyncCopies& copies = warp.copies(lane);
    copies.committed.push_back(std::exchange(copies.open, {}));
  });
}

void wait_for_copies(Warp& warp, const Instruction& in, Lanes lanes) {
  Block& block = warp.block();
  for_each_lane(lanes, [&](int lane) {
    AsyncCopies& copies = warp.copies(lane);
    const Actor actor = block.actor(warp, lane);
    for (; copies.committed.size() > in.offsets[1]; copies.committed.pop_front()) {
      for (const AsyncCopy& copy : copies.committed.front()) {
        std::memcpy(block.shared().bytes_at(copy.to), copy.bytes.data(), copy.size);
        block.shared().arrive(actor, copy.to, copy.size, copy.is_defined);
      }
    }
  });
}

template <class T>
void add_type(std::unordered_map<std::string, Meaning>& table, const std::string& type) {
  const auto add = [&](const std::string& opcode, Handler handler, const std::string& operands) {
    table[opcode] = {handler, Flow::next, Pipe::memory, operands};
  };
  const auto add_width = [&]<std::size_t n>() {
    const std::string width = n == 1 ? "." : ".v" + std::to_string(n) + ".";
    const std::string values(n, 'r');
    const std::string given(n, 'R');
    add("ld.param" + width + type, load<T, n, Space::parameter>, values + "A");
    for (const char* read_only : {"", ".nc"})
      add("ld.global" + std::string(read_only) + width + type, load<T, n, Space::global>,
          values + "A");
    add("ld.shared" + width + type, load<T, n, Space::shared>, values + "A");
    add("st.global" + width + type, store<T, n, Space::global>, "A" + given);
    add("st.shared" + width + type, store<T, n, Space::shared>, "A" + given);
    // Generic addresses are those of global memory.
    add("ld" + width + type, load<T, n, Space::global>, values + "A");
    add("st" + width + type, store<T, n, Space::global>, "A" + given);
  };
  add_width.template operator()<1>();
  if constexpr (sizeof(T) <= 8) add_width.template operator()<2>();
  if constexpr (sizeof(T) <= 4) add_width.template operator()<4>();
}

}  // namespace

std::unordered_map<std::string, Meaning> memory_meanings() {
  std::unordered_map<std::string, Meaning> table;
  add_type<double>(table, "f64");
  add_type<float>(table, "f32");
  for (const char kind : {'u', 'b'}) {
    add_type<std::uint8_t>(table, kind + std::string("8"));
    add_type<std::uint16_t>(table, kind + std::string("16"));
    add_type<std::uint32_t>(table, kind + std::string("32"));
    add_type<std::uint64_t>(table, kind + std::string("64"));
  }
  add_type<std::int8_t>(table, "s8");
  add_type<std::int16_t>(table, "s16");
  add_type<std::int32_t>(table, "s32");
  add_type<std::int64_t>(table, "s64");
  // With two immediates: bytes, and those of them that are read; all are.
  table["cp.async.cg.shared.global"] = {copy_ahead<16>, Flow::next, Pipe::memory, "AAII"};
  table["cp.async.commit_group"] = {commit_copies, Flow::next, Pipe::memory, ""};
  table["cp.async.wait_group"] = {wait_for_copies, Flow::next, Pipe::memory, "I"};
  return table;
}

}  // namespace softdevice
