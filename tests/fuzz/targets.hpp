// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::test {

/// Readers of one kind of file, which take any bytes.
struct FuzzTarget {
  std::string name;       ///< that of the folder in corpora/
  std::string extension;  ///< of its files, with the dot
  std::vector<std::function<void(const Communicator&, const std::string& path)>> readers;
};

/// Returns the target of a name. Error  UsageError that lists all names when there is none.
const FuzzTarget& fuzz_target(const std::string& name);

/// Lets every reader of the target read a file of these bytes. Errors of the kinds usage, data and
/// resource are expected; any other exception ends the process with abort().
void run_fuzz_target(const FuzzTarget& target, const std::uint8_t* bytes, std::size_t size);

}  // namespace ringweave::detail::test
