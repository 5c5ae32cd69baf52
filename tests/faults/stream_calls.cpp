// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of the C library's streams. Where a stream writes its buffer is inside the C library: an
// error comes with the call that fills or flushes it.
#include <stdio.h>

#include <cerrno>
#include <cstddef>

#include "faults.hpp"

using faults::attempt;
using faults::Fault;
using faults::meet;
using faults::next;
using faults::of_path;
using faults::of_stream;

namespace {

// The bits of ferror() and feof() in glibc.
constexpr int error_seen = 0x20, end_seen = 0x10;

/// Lets a call that moves items fail after none or half of them.
template <class Work>
size_t move_items(const char* call, std::FILE* stream, size_t size, size_t n, int seen_if_less,
                  Work work) {
  const Fault fault = meet(call, of_stream(stream, size * n));
  if (fault.kind == Fault::Kind::none) return work(n);
  const bool fails = fault.kind == Fault::Kind::error;
  const size_t n_done = fails ? 0 : work(n / 2);
  stream->_flags |= fails ? error_seen : seen_if_less;
  errno = fails ? fault.number : ENOSPC;
  return n_done;
}

}  // namespace

extern "C" {

FILE* fopen(const char* path, const char* mode) {
  static auto* const real = next<FILE*(const char*, const char*)>("fopen");
  const Fault fault = meet("fopen", of_path(path));
  if (fault.kind != Fault::Kind::error) return real(path, mode);
  errno = fault.number;
  return nullptr;
}

FILE* fopen64(const char* path, const char* mode) { return fopen(path, mode); }

size_t fread(void* data, size_t size, size_t n, FILE* stream) {
  static auto* const real = next<size_t(void*, size_t, size_t, FILE*)>("fread");
  return move_items("fread", stream, size, n, end_seen,
                    [&](size_t n_now) { return real(data, size, n_now, stream); });
}

size_t __fread_chk(void* data, size_t, size_t size, size_t n, FILE* stream) {
  return fread(data, size, n, stream);
}

size_t fwrite(const void* data, size_t size, size_t n, FILE* stream) {
  static auto* const real = next<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  return move_items("fwrite", stream, size, n, error_seen,
                    [&](size_t n_now) { return real(data, size, n_now, stream); });
}

int fflush(FILE* stream) {
  static auto* const real = next<int(FILE*)>("fflush");
  return attempt(
      "fflush", of_stream(stream), [&] { return real(stream); },
      [&] {
        if (stream != nullptr) stream->_flags |= error_seen;
      });
}

int fclose(FILE* stream) {
  static auto* const real = next<int(FILE*)>("fclose");
  // The stream is closed all the same.
  return attempt(
      "fclose", of_stream(stream), [&] { return real(stream); }, [&] { real(stream); });
}

}  // extern "C"
