// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "io/atomic_output.hpp"
#include "io/keywords.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

/// Returns a message in which the temporary name of an output is its own name.
inline std::string told_by_final_name(const AtomicOutput& output, std::string message) {
  const auto name = [](const std::string& path) {
    return std::filesystem::path(path).filename().string();
  };
  replace_all(message, output.temporary_path(), output.path());
  // Libraries name files with their whole folder.
  replace_all(message, name(output.temporary_path()), name(output.path()));
  return message;
}

/// Runs `write`, which writes to the temporary name of an output; errors name the output itself.
template <class Write>
void with_final_name(const AtomicOutput& output, Write&& write) {
  try {
    std::forward<Write>(write)();
  } catch (const Error& error) {
    throw_error(error.kind(), told_by_final_name(output, error.what()));
  }
}

}  // namespace ringweave::detail::inline io
