// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail {

/// Returns the next line of rank 0's input on every rank, nothing at its end. Collective.
inline std::optional<std::string> next_command(const Communicator& comm) {
  std::string line;
  const bool has_one = comm.is_root() && static_cast<bool>(std::getline(std::cin, line));
  if (comm.max(std::int64_t{has_one ? 1 : 0}) == 0) return std::nullopt;
  std::vector<double> letters(to_size(comm.max(ssize64(line))), 0);
  std::copy(line.begin(), line.end(), letters.begin());
  comm.sum(letters.data(), ssize64(letters));
  line.clear();
  for (const double letter : letters) line.push_back(static_cast<char>(letter));
  return line;
}

}  // namespace ringweave::detail
