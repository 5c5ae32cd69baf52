// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/read_apart.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <mutex>
#include <utility>
#include <vector>

#include "base/child_process.hpp"
#include "base/memory_meter.hpp"
#include "io/input_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// A file that libhdf5 did not survive.
struct Refused {
  InputStamp file;
  std::string what_happened;
};

std::mutex refused_mutex;
std::vector<Refused> refused_files;

/// Bounds memory by the size of the file: spectra are read with their numbers.
ChildLimits limits_for(const InputStamp& file) {
  constexpr std::int64_t copies = 8;
  constexpr std::int64_t most = std::int64_t{3} << 30;
  ChildLimits limits;
  limits.bytes += copies * std::min(file.size(), most / copies);
  return limits;
}

[[noreturn]] void refuse(const std::string& path, const std::string& what_happened) {
  throw DataError(path, fmt::format("is damaged so that the HDF5 library does not survive it (it "
                                    "{}); copy the file again",
                                    what_happened));
}

/// Throws where a file was refused before.
void require_not_refused(const std::string& path, const InputStamp& file) {
  const std::scoped_lock lock(refused_mutex);
  const auto found = std::find_if(refused_files.begin(), refused_files.end(),
                                  [&](const Refused& refused) { return refused.file == file; });
  if (found != refused_files.end()) refuse(path, found->what_happened);
}

/// Returns what libhdf5 did with a file; empty where it survived.
std::string what_happened_in(const ChildEnd& end, const ChildLimits& limits) {
  switch (end.how) {
    case ChildEnd::How::crashed: return "crashed";
    case ChildEnd::How::timed_out: return "computed without end";
    case ChildEnd::How::lacked_memory:
      if (available_bytes() < limits.bytes) return {};
      return fmt::format("needed more than {} MiB of memory", limits.bytes >> 20);
    default: return {};
  }
}

}  // namespace

std::string read_text_apart(const std::string& path, const std::function<std::string()>& read) {
  const InputStamp file(path);
  require_not_refused(path, file);
  // The library calls MPI when it begins, which a child must not.
  H5open();
  const ChildLimits limits = limits_for(file);
  ChildEnd end = run_in_child(read, limits);
  if (const std::string what_happened = what_happened_in(end, limits); !what_happened.empty()) {
    const std::scoped_lock lock(refused_mutex);
    refused_files.push_back({file, what_happened});
    refuse(path, what_happened);
  }
  switch (end.how) {
    case ChildEnd::How::done: return std::move(end.result);
    case ChildEnd::How::failed:
    case ChildEnd::How::lacked_memory: throw_error(end.error.kind, end.error.message);
    case ChildEnd::How::gave_up:
      throw InternalError(
          fmt::format("{}: reading it ended a process: {}", path, end.error.message));
    default: return read();
  }
}

}  // namespace ringweave::detail::inline io
