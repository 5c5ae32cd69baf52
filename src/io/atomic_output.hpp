// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Throws UsageError for a folder, a device, and a path without the name of a file. Not collective.
void require_name_of_file(const std::string& path);

/// An output file that appears whole or not at all. Ranks write to temporary_path() next to the
/// final name; commit() agrees that all succeeded, syncs and renames. A file that is replaced
/// leaves its mode and, where possible, its group; one that appeared since is replaced only by
/// IfExists::overwrite, else commit() is a UsageError. Until then it has the mode of new files.
/// Destroyed without commit, the temporary file is removed (by rank 0, without MPI).
class AtomicOutput {
 public:
  /// Checks before any work is done: the folder exists and can be written, the name is new or a
  /// regular file and may be overwritten. Error  UsageError (exists, is a directory, device, pipe
  /// or link to one), ResourceError (cannot be written). Collective.
  AtomicOutput(const Communicator& comm, const std::string& path, IfExists if_exists);
  ~AtomicOutput();
  AtomicOutput(const AtomicOutput&) = delete;
  AtomicOutput& operator=(const AtomicOutput&) = delete;

  const Communicator& comm() const { return comm_; }
  /// The name as it was given, whose extension gives the kind of file.
  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_path_; }
  /// Collective. All ranks have closed the file.
  void commit();
  /// Several at once: all are on disk before the first is renamed, so that one that cannot be
  /// completed leaves none, unless a file appears or a rename fails between two of them.
  /// Collective.
  static void commit(const Communicator& comm, std::span<AtomicOutput* const> outputs);

  /// The same checks, leaving nothing behind, for the program to fail early. Collective.
  static void check(const Communicator& comm, const std::string& path, IfExists if_exists);

  /// Removes the temporary files that killed runs left next to these names, and those of a run that
  /// still writes them: who calls says that there is none. Temporary files of other names stay.
  /// Returns how many there were. Collective.
  static std::int64_t remove_unfinished(const Communicator& comm,
                                        std::span<const std::string> paths);

 private:
  Communicator comm_;
  std::string path_;
  IfExists if_exists_;
  std::string final_path_;  ///< path_, or the file it is a link to
  std::string temporary_path_;
  bool committed_ = false;
};

}  // namespace ringweave::detail::inline io
