// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "distribute/mpi/communicator.hpp"
#include "io/atomic_output.hpp"
#include "io/file_kind.hpp"

namespace ringweave {

enum class OutputContent { map, alm, spectra, picture, report };

/// The files one command writes: announced before any work, written under temporary names, renamed
/// together at the end, so that a command leaves all of its outputs or none. All collective.
class Outputs {
 public:
  Outputs(const Communicator& comm, IfExists if_exists) : comm_(comm), if_exists_(if_exists) {}

  /// Others by the same rule, of the same ranks, which `comm` belongs to. Not collective.
  Outputs on(const Communicator& comm) const { return {comm, if_exists_}; }

  /// Checks what can be known beforehand; an empty name is no output.
  /// Error  UsageError (exists, no regular file, an extension that cannot hold `content`, the name
  /// of another output), ResourceError (cannot be written).
  void announce(const std::string& path, OutputContent content);
  /// The output to write to; the reference holds until commit().
  AtomicOutput& begin(const std::string& path);
  /// Bytes on disk of what was begun and not committed yet.
  std::int64_t bytes() const;
  /// Renames what was begun. Error  ResourceError.
  void commit();

 private:
  Communicator comm_;
  IfExists if_exists_;
  std::set<std::string> announced_;  ///< on rank 0
  std::vector<std::unique_ptr<AtomicOutput>> begun_;
};

}  // namespace ringweave
