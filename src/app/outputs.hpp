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

enum class OutputContent {
  map,
  alm,
  coefficients,
  spectra,
  values,
  planes,
  picture,
  machine,
  report
};

/// Returns one name for all spellings of a path: links followed, . and .. resolved.
std::string one_name(const std::string& path);

/// Returns one text for all names of a file, hard links too; one_name() where there is no file.
std::string one_file(const std::string& path);

/// An output to announce.
struct NewOutput {
  std::string path;  ///< empty: none
  OutputContent content = OutputContent::map;
  std::string own_input{};  ///< the file it is made of, which it may replace
};

/// Files written by one command: announced and checked before any work, written under temporary
/// names, and renamed together at the end, so that a command leaves all of its outputs or none. All
/// collective.
class Outputs {
 public:
  Outputs(const Communicator& comm, IfExists if_exists) : comm_(comm), if_exists_(if_exists) {}

  /// Returns another set of outputs with the same rule for existing files, for the ranks of `comm`.
  /// Not collective.
  Outputs on(const Communicator& comm) const { return {comm, if_exists_}; }

  /// Names outputs. Error  UsageError (an extension that cannot hold the content, the name of
  /// another output).
  void announce(std::vector<NewOutput> outputs);
  /// Names one output; an empty name means none.
  void announce(const std::string& path, OutputContent content, const std::string& own_input = "") {
    if (!path.empty()) announce({{path, content, own_input}});
  }
  /// Names an input, which no output may replace. Not collective.
  void keep(const std::string& path) {
    if (comm_.is_root() && !path.empty()) inputs_.insert(one_file(path));
  }
  /// Checks all outputs that were announced, when options and inputs are known to be right. Until
  /// commit() no other run can write the first 64 of them. Error  UsageError (an input, exists, not
  /// a regular file, of another run), ResourceError (cannot be written).
  void require_writable();
  /// Returns the output to write to; the reference is valid until commit().
  AtomicOutput& begin(const std::string& path);
  /// Returns the bytes on disk of outputs begun but not committed; 0 on other ranks than 0. Not
  /// collective.
  std::int64_t bytes() const;
  /// Renames all outputs that were begun. Error  ResourceError.
  void commit();

 private:
  Communicator comm_;
  IfExists if_exists_;
  std::vector<std::string> announced_;
  // On rank 0.
  std::set<std::string> replacing_;  ///< announced ones that replace the file they are made of
  std::set<std::string> names_;      ///< of the announced, as one_name()
  std::set<std::string> inputs_;     ///< as one_file()
  std::vector<std::shared_ptr<OutputClaim>> claims_;
  std::vector<std::unique_ptr<AtomicOutput>> begun_;
};

}  // namespace ringweave::detail::inline app
