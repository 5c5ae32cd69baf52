// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/temporary_files.hpp"
#include "io/output_claim.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Throws UsageError for a folder, a device, and a path without the name of a file. Not collective.
void require_name_of_file(const std::string& path);

/// An output file that appears whole or not at all. Ranks write to temporary_path() next to the
/// final name, which only this user can read; commit() agrees that all succeeded, syncs and
/// renames. A file that is replaced leaves its mode and, where possible, its group; one that
/// appeared since is replaced only by IfExists::overwrite, else commit() is a UsageError. No other
/// run can write the same file meanwhile. Destroyed without commit, the temporary file is removed
/// (by rank 0, without MPI).
class AtomicOutput {
 public:
  /// Checks before any work is done: the folder exists and can be written, the name is new or a
  /// regular file and may be overwritten, and no other run writes it. Makes the temporary file.
  /// Error  UsageError (exists, is a directory, device, pipe or link to one, another run),
  /// ResourceError (cannot be written). Collective.
  AtomicOutput(const Communicator& comm, const std::string& path, IfExists if_exists);
  ~AtomicOutput();
  AtomicOutput(const AtomicOutput&) = delete;
  AtomicOutput& operator=(const AtomicOutput&) = delete;

  const Communicator& comm() const { return comm_; }
  /// The name as it was given, whose extension gives the kind of file.
  const std::string& path() const { return path_; }
  const std::string& temporary_path() const { return temporary_path_; }
  /// Runs work that writes to temporary_path(); its errors name path() instead. Collective as the
  /// work is.
  template <class Work>
  void write(Work&& work) const {
    try {
      std::forward<Work>(work)();
    } catch (const Error&) {
      throw_with_final_name();
    }
  }
  /// Collective. All ranks have closed the file.
  void commit();
  /// Several at once: all are on disk before the first is renamed, and when one cannot be renamed,
  /// those before it are put back, but for files that replaced another one where the file system
  /// cannot exchange two. Collective.
  static void commit(const Communicator& comm, std::span<AtomicOutput* const> outputs);

  /// The same checks of several outputs, for the program to fail early. Returns the claims to their
  /// names on rank 0, nothing elsewhere; removes what killed runs left of these files. Collective.
  static std::vector<std::shared_ptr<OutputClaim>> check(const Communicator& comm,
                                                         std::span<const std::string> paths,
                                                         IfExists if_exists);

  /// Removes the temporary files that killed runs left next to these names; those of other names
  /// stay. Returns how many there were. Collective. Error  UsageError when another run still writes
  /// one of the names, where the file system has locks.
  static std::int64_t remove_unfinished(const Communicator& comm,
                                        std::span<const std::string> paths);

 private:
  [[noreturn]] void throw_with_final_name() const;
  void rename();
  void undo_rename() const;

  Communicator comm_;
  std::string path_;
  IfExists if_exists_;
  std::string temporary_path_;
  // On rank 0:
  std::string final_path_;  ///< path_, or the file it is a link to
  std::shared_ptr<OutputClaim> claim_;
  std::optional<TemporaryFile> at_early_exit_;
  unsigned mode_ = 0;   ///< of new files
  unsigned owner_ = 0;  ///< of the temporary file
  enum class Replaced {
    none,
    exchanged,  ///< the old file has the temporary name
    lost
  } replaced_ = Replaced::none;
  bool committed_ = false;
};

}  // namespace ringweave::detail::inline io
