// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <random>
#include <vector>

#include "fuzz/targets.hpp"
#include "ringweave/error.hpp"

// Entry points of libFuzzer. FUZZ_TARGET names the target.

namespace {

/// Larger requests throw. A header of a few bytes can ask for any memory, and AddressSanitizer ends
/// a process that has too little of it, where an exception is right.
constexpr std::size_t most_bytes = std::size_t{1} << 26;

}  // namespace

void* operator new(std::size_t bytes) {
  void* const memory = bytes > most_bytes ? nullptr : std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }

// Memory of new is freed by the sanitizer's delete.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "alloc_dealloc_mismatch=0:allocator_may_return_null=1";
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  using namespace ringweave::detail::test;
  static const FuzzTarget& target = [&]() -> const FuzzTarget& {
    const char* const name = std::getenv("FUZZ_TARGET");
    try {
      return fuzz_target(name == nullptr ? "" : name);
    } catch (const ringweave::Error& error) {
      std::fprintf(stderr, "FUZZ_TARGET: %s\n", error.what());
      std::_Exit(ringweave::exit_code(error.kind()));
    }
  }();
  run_fuzz_target(target, bytes, size);
  return 0;
}

// Of libFuzzer: changes bytes and returns how many there are now.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* bytes, std::size_t size, std::size_t most);

// Changes mostly one card of a FITS header, or a few numbers of an HDF5 file, and leaves the rest
// in its place.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t most, unsigned seed);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* bytes, std::size_t size,
                                               std::size_t most, unsigned seed) {
  const bool is_fits = size > 0 && bytes[0] == 'S';
  const bool is_hdf5 = size > 0 && bytes[0] == 0x89;
  const std::size_t step = is_hdf5 ? 8 : 80;
  const std::size_t length = is_hdf5 ? 16 : 80;
  constexpr std::size_t name_bytes = 8;
  std::mt19937 random(seed);
  std::vector<std::uint8_t*> places;
  for (std::size_t at = 0; at + length <= size; at += step) {
    std::uint8_t* const place = bytes + at;
    const bool is_card = is_fits && place[name_bytes] == '=';
    const bool has_numbers = is_hdf5 && std::count(place, place + length, 0) < 16;
    if (is_card || has_numbers) places.push_back(place);
  }
  if (places.empty() || random() % 4 == 0) return LLVMFuzzerMutate(bytes, size, most);
  std::uint8_t* const place = places[random() % places.size()];
  const std::size_t changed = LLVMFuzzerMutate(place, length, length);
  std::fill(place + changed, place + length, is_hdf5 ? std::uint8_t{0} : std::uint8_t{' '});
  return size;
}
