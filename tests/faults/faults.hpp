// SPDX-License-Identifier: GPL-3.0-or-later
// Faults of the calls of a process, which the environment asks for (README.md). What it needs must
// neither allocate nor open files by the calls that it replaces.
#pragma once

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>

namespace faults {

/// Tells what a call is about to touch.
struct Target {
  int descriptor = -1;         ///< an open file; of calls with a path the folder it is relative to
  const char* path = nullptr;  ///< none: the descriptor says which file it is
  std::size_t bytes = 0;       ///< how many it moves or allocates
  const void* caller = nullptr;  ///< an address in the code that called
};

/// Tells a call what to do: its work, an error of this number, or less than it was asked for.
struct Fault {
  enum class Kind { none, error, less };
  Kind kind = Kind::none;
  int number = 0;
};

/// Counts a call for all rules that it matches, waits and kills or stops this process where they
/// say so, and returns what is left to the call. `call` is a text that stays.
Fault meet(const char* call, const Target& target);

/// Tells the rules that hold between MPI_Init and MPI_Finalize when that is so.
void set_mpi_runs(bool runs);

/// Returns what `name` means in the libraries after this one.
template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// Returns the target of a call that moves this many bytes of a stream.
inline Target of_stream(std::FILE* stream, std::size_t bytes = 0) {
  return {.descriptor = stream == nullptr ? -1 : ::fileno(stream), .bytes = bytes};
}

/// Returns the target of a path that is relative to the current folder.
inline Target of_path(const char* path) { return {.descriptor = AT_FDCWD, .path = path}; }

/// Runs a call that returns 0, or -1 with errno. `when_failed` runs where the call fails by a rule.
template <class Work, class WhenFailed>
int attempt(const char* call, const Target& target, Work work, WhenFailed when_failed) {
  const Fault fault = meet(call, target);
  if (fault.kind != Fault::Kind::error) return work();
  when_failed();
  errno = fault.number;
  return -1;
}

template <class Work>
int attempt(const char* call, const Target& target, Work work) {
  return attempt(call, target, work, [] {});
}

/// Runs a call that moves bytes and returns how many, or -1 with errno. `work` is given the number.
template <class Work>
ssize_t transfer(const char* call, const Target& target, Work work) {
  const Fault fault = meet(call, target);
  if (fault.kind == Fault::Kind::error) {
    errno = fault.number;
    return -1;
  }
  return work(fault.kind == Fault::Kind::less ? (target.bytes + 1) / 2 : target.bytes);
}

}  // namespace faults
