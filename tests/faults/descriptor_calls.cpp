// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of POSIX with paths and descriptors. Variants with 64 in their names are the same calls.
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstddef>

#include "faults.hpp"

using faults::attempt;
using faults::Fault;
using faults::meet;
using faults::next;
using faults::of_path;
using faults::transfer;

namespace {

int open_in(int folder, const char* path, int flags, mode_t mode) {
  static auto* const real = next<int(int, const char*, int, ...)>("openat");
  return attempt("open", {.descriptor = folder, .path = path},
                 [&] { return real(folder, path, flags, mode); });
}

bool has_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

/// Moves bytes between a file and memory in several pieces; of fewer bytes than asked for the first
/// half of the first piece.
template <class Work>
ssize_t transfer_pieces(const char* call, int file, const iovec* pieces, int n_pieces, Work work) {
  const Fault fault = meet(call, {.descriptor = file});
  if (fault.kind == Fault::Kind::error) {
    errno = fault.number;
    return -1;
  }
  if (fault.kind == Fault::Kind::none || n_pieces < 1) return work(pieces, n_pieces);
  const iovec half{pieces->iov_base, (pieces->iov_len + 1) / 2};
  return work(&half, 1);
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = has_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_in(AT_FDCWD, path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = has_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_in(AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = has_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_in(folder, path, flags, mode);
}

int openat64(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = has_mode(flags) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return open_in(folder, path, flags, mode);
}

int creat(const char* path, mode_t mode) {
  return open_in(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int creat64(const char* path, mode_t mode) {
  return open_in(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode);
}

int close(int file) {
  static auto* const real = next<int(int)>("close");
  // The file is closed all the same.
  return attempt(
      "close", {.descriptor = file}, [&] { return real(file); }, [&] { real(file); });
}

ssize_t read(int file, void* data, size_t size) {
  static auto* const real = next<ssize_t(int, void*, size_t)>("read");
  return transfer("read", {.descriptor = file, .bytes = size},
                  [&](size_t bytes) { return real(file, data, bytes); });
}

ssize_t pread(int file, void* data, size_t size, off_t at) {
  static auto* const real = next<ssize_t(int, void*, size_t, off_t)>("pread");
  return transfer("pread", {.descriptor = file, .bytes = size},
                  [&](size_t bytes) { return real(file, data, bytes, at); });
}

ssize_t pread64(int file, void* data, size_t size, off64_t at) {
  return pread(file, data, size, at);
}

ssize_t readv(int file, const iovec* pieces, int n_pieces) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("readv");
  return transfer_pieces("readv", file, pieces, n_pieces,
                         [&](const iovec* some, int n) { return real(file, some, n); });
}

ssize_t preadv(int file, const iovec* pieces, int n_pieces, off_t at) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t)>("preadv");
  return transfer_pieces("preadv", file, pieces, n_pieces,
                         [&](const iovec* some, int n) { return real(file, some, n, at); });
}

ssize_t preadv64(int file, const iovec* pieces, int n_pieces, off64_t at) {
  return preadv(file, pieces, n_pieces, at);
}

ssize_t write(int file, const void* data, size_t size) {
  static auto* const real = next<ssize_t(int, const void*, size_t)>("write");
  return transfer("write", {.descriptor = file, .bytes = size},
                  [&](size_t bytes) { return real(file, data, bytes); });
}

ssize_t pwrite(int file, const void* data, size_t size, off_t at) {
  static auto* const real = next<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  return transfer("pwrite", {.descriptor = file, .bytes = size},
                  [&](size_t bytes) { return real(file, data, bytes, at); });
}

ssize_t pwrite64(int file, const void* data, size_t size, off64_t at) {
  return pwrite(file, data, size, at);
}

ssize_t writev(int file, const iovec* pieces, int n_pieces) {
  static auto* const real = next<ssize_t(int, const iovec*, int)>("writev");
  return transfer_pieces("writev", file, pieces, n_pieces,
                         [&](const iovec* some, int n) { return real(file, some, n); });
}

ssize_t pwritev(int file, const iovec* pieces, int n_pieces, off_t at) {
  static auto* const real = next<ssize_t(int, const iovec*, int, off_t)>("pwritev");
  return transfer_pieces("pwritev", file, pieces, n_pieces,
                         [&](const iovec* some, int n) { return real(file, some, n, at); });
}

ssize_t pwritev64(int file, const iovec* pieces, int n_pieces, off64_t at) {
  return pwritev(file, pieces, n_pieces, at);
}

// Those that the compiler takes instead where it knows the size of the memory (_FORTIFY_SOURCE).
int __open_2(const char* path, int flags) { return open_in(AT_FDCWD, path, flags, 0); }
int __open64_2(const char* path, int flags) { return open_in(AT_FDCWD, path, flags, 0); }
int __openat_2(int folder, const char* path, int flags) { return open_in(folder, path, flags, 0); }
ssize_t __read_chk(int file, void* data, size_t size, size_t) { return read(file, data, size); }
ssize_t __pread_chk(int file, void* data, size_t size, off_t at, size_t) {
  return pread(file, data, size, at);
}
ssize_t __pread64_chk(int file, void* data, size_t size, off64_t at, size_t) {
  return pread(file, data, size, at);
}

int fsync(int file) {
  static auto* const real = next<int(int)>("fsync");
  return attempt("fsync", {.descriptor = file}, [&] { return real(file); });
}

int fdatasync(int file) {
  static auto* const real = next<int(int)>("fdatasync");
  return attempt("fdatasync", {.descriptor = file}, [&] { return real(file); });
}

int ftruncate(int file, off_t size) noexcept {
  static auto* const real = next<int(int, off_t)>("ftruncate");
  return attempt("ftruncate", {.descriptor = file}, [&] { return real(file, size); });
}

int ftruncate64(int file, off64_t size) noexcept { return ftruncate(file, size); }

int fallocate(int file, int mode, off_t begin, off_t size) {
  static auto* const real = next<int(int, int, off_t, off_t)>("fallocate");
  return attempt("fallocate", {.descriptor = file}, [&] { return real(file, mode, begin, size); });
}

int fallocate64(int file, int mode, off64_t begin, off64_t size) {
  return fallocate(file, mode, begin, size);
}

int posix_fallocate(int file, off_t begin, off_t size) {
  static auto* const real = next<int(int, off_t, off_t)>("posix_fallocate");
  const Fault fault = meet("posix_fallocate", {.descriptor = file});
  return fault.kind == Fault::Kind::error ? fault.number : real(file, begin, size);
}

int posix_fallocate64(int file, off64_t begin, off64_t size) {
  return posix_fallocate(file, begin, size);
}

int flock(int file, int operation) noexcept {
  static auto* const real = next<int(int, int)>("flock");
  return attempt("flock", {.descriptor = file}, [&] { return real(file, operation); });
}

int rename(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("rename");
  return attempt("rename", of_path(from), [&] { return real(from, to); });
}

int renameat(int folder, const char* from, int to_folder, const char* to) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*)>("renameat");
  return attempt("rename", {.descriptor = folder, .path = from},
                 [&] { return real(folder, from, to_folder, to); });
}

int renameat2(int folder, const char* from, int to_folder, const char* to,
              unsigned flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, unsigned)>("renameat2");
  return attempt("renameat2", {.descriptor = folder, .path = from},
                 [&] { return real(folder, from, to_folder, to, flags); });
}

int link(const char* from, const char* to) noexcept {
  static auto* const real = next<int(const char*, const char*)>("link");
  return attempt("link", of_path(from), [&] { return real(from, to); });
}

int linkat(int folder, const char* from, int to_folder, const char* to, int flags) noexcept {
  static auto* const real = next<int(int, const char*, int, const char*, int)>("linkat");
  return attempt("link", {.descriptor = folder, .path = from},
                 [&] { return real(folder, from, to_folder, to, flags); });
}

int unlink(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("unlink");
  return attempt("unlink", of_path(path), [&] { return real(path); });
}

int unlinkat(int folder, const char* path, int flags) noexcept {
  static auto* const real = next<int(int, const char*, int)>("unlinkat");
  return attempt("unlink", {.descriptor = folder, .path = path},
                 [&] { return real(folder, path, flags); });
}

int remove(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("remove");
  return attempt("unlink", of_path(path), [&] { return real(path); });
}

int mkdir(const char* path, mode_t mode) noexcept {
  static auto* const real = next<int(const char*, mode_t)>("mkdir");
  return attempt("mkdir", of_path(path), [&] { return real(path, mode); });
}

int rmdir(const char* path) noexcept {
  static auto* const real = next<int(const char*)>("rmdir");
  return attempt("rmdir", of_path(path), [&] { return real(path); });
}

int access(const char* path, int mode) noexcept {
  static auto* const real = next<int(const char*, int)>("access");
  return attempt("access", of_path(path), [&] { return real(path, mode); });
}

int chmod(const char* path, mode_t mode) noexcept {
  static auto* const real = next<int(const char*, mode_t)>("chmod");
  return attempt("chmod", of_path(path), [&] { return real(path, mode); });
}

int fchmod(int file, mode_t mode) noexcept {
  static auto* const real = next<int(int, mode_t)>("fchmod");
  return attempt("chmod", {.descriptor = file}, [&] { return real(file, mode); });
}

int stat(const char* path, struct stat* status) noexcept {
  static auto* const real = next<int(const char*, struct stat*)>("stat");
  return attempt("stat", of_path(path), [&] { return real(path, status); });
}

int stat64(const char* path, struct stat64* status) noexcept {
  static auto* const real = next<int(const char*, struct stat64*)>("stat64");
  return attempt("stat", of_path(path), [&] { return real(path, status); });
}

int lstat(const char* path, struct stat* status) noexcept {
  static auto* const real = next<int(const char*, struct stat*)>("lstat");
  return attempt("lstat", of_path(path), [&] { return real(path, status); });
}

int fstat(int file, struct stat* status) noexcept {
  static auto* const real = next<int(int, struct stat*)>("fstat");
  return attempt("fstat", {.descriptor = file}, [&] { return real(file, status); });
}

int fstat64(int file, struct stat64* status) noexcept {
  static auto* const real = next<int(int, struct stat64*)>("fstat64");
  return attempt("fstat", {.descriptor = file}, [&] { return real(file, status); });
}

void* mmap(void* where, size_t size, int access, int flags, int file, off_t at) noexcept {
  static auto* const real = next<void*(void*, size_t, int, int, int, off_t)>("mmap");
  const Fault fault =
      meet("mmap", {.descriptor = file, .bytes = size, .caller = __builtin_return_address(0)});
  if (fault.kind != Fault::Kind::error) return real(where, size, access, flags, file, at);
  errno = fault.number;
  return MAP_FAILED;
}

}  // extern "C"
