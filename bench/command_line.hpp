// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>
#include <optional>

#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {

/// Parses the command line on every rank; rank 0 prints help and errors. Returns the exit code
/// where the program ends with that.
inline std::optional<int> parse(const Communicator& comm, CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (comm.is_root()) app.exit(error);
    return error.get_exit_code() == 0 ? 0 : exit_code(ErrorKind::usage);
  }
  return std::nullopt;
}

}  // namespace ringweave::detail
