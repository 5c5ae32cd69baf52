// SPDX-License-Identifier: GPL-3.0-or-later
// Memory and the clock. The real functions are those that the C library exports for this purpose:
// dlsym() may allocate itself.
#include <stdlib.h>
#include <time.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#include "faults.hpp"

using faults::Fault;
using faults::next;

extern "C" {

void* __libc_malloc(size_t size);
void* __libc_calloc(size_t n, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

}  // extern "C"

namespace {

bool is_refused(size_t size, const void* caller) {
  const Fault fault = faults::meet("malloc", {.bytes = size, .caller = caller});
  if (fault.kind != Fault::Kind::error) return false;
  errno = ENOMEM;
  return true;
}

}  // namespace

extern "C" {

void* malloc(size_t size) noexcept {
  return is_refused(size, __builtin_return_address(0)) ? nullptr : __libc_malloc(size);
}

void* calloc(size_t n, size_t size) noexcept {
  return is_refused(n * size, __builtin_return_address(0)) ? nullptr : __libc_calloc(n, size);
}

void* realloc(void* old, size_t size) noexcept {
  return is_refused(size, __builtin_return_address(0)) ? nullptr : __libc_realloc(old, size);
}

void* aligned_alloc(size_t alignment, size_t size) noexcept {
  return is_refused(size, __builtin_return_address(0)) ? nullptr : __libc_memalign(alignment, size);
}

int posix_memalign(void** memory, size_t alignment, size_t size) noexcept {
  if (is_refused(size, __builtin_return_address(0))) return ENOMEM;
  *memory = __libc_memalign(alignment, size);
  return *memory == nullptr ? ENOMEM : 0;
}

/// Returns RINGWEAVE_FAULT_TIME, if that is given, so that files of different runs are the same.
time_t time(time_t* result) noexcept {
  static auto* const real = next<time_t(time_t*)>("time");
  static const char* const fixed = std::getenv("RINGWEAVE_FAULT_TIME");
  if (fixed == nullptr) return real(result);
  const time_t now = std::atoll(fixed);
  if (result != nullptr) *result = now;
  return now;
}

}  // extern "C"
