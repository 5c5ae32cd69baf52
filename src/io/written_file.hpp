// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline io {

/// An existing map or a_lm, by what it says of the run that wrote it.
struct WrittenFile {
  enum class State {
    broken,   ///< empty, cut short or damaged, so that it does not even say who wrote it
    foreign,  ///< of another program, or without a configuration
    own,      ///< of this program; its numbers may still be missing
  };
  State state = State::broken;
  std::string reason{};       ///< why it is broken or foreign, in words that follow its name
  std::string config_json{};  ///< the used configuration; empty for coefficients of ICGEM
  std::string input{};        ///< name of the input file, as it was given; empty without
};

/// Reads what a file says of its origin, but no numbers. Not collective. Error  DataError where it
/// may not be read, ResourceError where the disk fails or it unpacks to more than the memory.
WrittenFile inspect_written_file(const std::string& path);

}  // namespace ringweave::detail::inline io
