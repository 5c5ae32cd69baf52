// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/atomic_output.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

enum class OutputContent { map, alm, spectra, picture, report };

/// Returns one name for all spellings of a path: links followed, . and .. resolved.
std::string one_name(const std::string& path);

/// Files written by one command: announced before any work, written under temporary names, and
/// renamed together at the end, so that a command leaves all of its outputs or none. All
/// collective.
class Outputs {
 public:
  Outputs(const Communicator& comm, IfExists if_exists) : comm_(comm), if_exists_(if_exists) {}

  /// Returns another set of outputs with the same rule for existing files, for the ranks of `comm`.
  /// Not collective.
  Outputs on(const Communicator& comm) const { return {comm, if_exists_}; }

  /// Checks a name before any work; an empty name means no output. Error  UsageError (exists, not a
  /// regular file, an extension that cannot hold `content`, the name of another output),
  /// ResourceError (cannot be written).
  void announce(const std::string& path, OutputContent content);
  /// Returns the output to write to; the reference is valid until commit().
  AtomicOutput& begin(const std::string& path);
  /// Returns the bytes on disk of outputs begun but not committed.
  std::int64_t bytes() const;
  /// Renames all outputs that were begun. Error  ResourceError.
  void commit();

 private:
  Communicator comm_;
  IfExists if_exists_;
  std::set<std::string> announced_;  ///< on rank 0
  std::vector<std::unique_ptr<AtomicOutput>> begun_;
};

}  // namespace ringweave::detail::inline app
