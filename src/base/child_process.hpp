// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline base {

/// Limits of work in a child process.
struct ChildLimits {
  std::int64_t bytes = std::int64_t{512} << 20;  ///< of memory beyond what this process has
  int cpu_seconds = 5;
  int seconds = 7;
};

/// End of work in a child process.
struct ChildEnd {
  enum class How {
    done,           ///< with `result`
    failed,         ///< the work threw `error`
    lacked_memory,  ///< the work threw std::bad_alloc
    crashed,        ///< by a signal, e.g. of an invalid address
    timed_out,      ///< it computed too long
    gave_up,        ///< it ended itself within the work; `error` has what it wrote
    no_judgement    ///< the system started no child, or gave it no time to compute
  } how = How::no_judgement;
  std::string result{};
  CaughtError error{};
};

/// Runs work in a copy of this process and keeps its result alone: this process survives code of
/// others that some input breaks. The copy has one thread, the caller's, and must not call MPI or
/// the library of a device. What it prints is not shown. Any thread may call this. Not collective.
/// Error  ResourceError where the system lacks files for a pipe.
ChildEnd run_in_child(const std::function<std::string()>& work, const ChildLimits& limits = {});

}  // namespace ringweave::detail::inline base
