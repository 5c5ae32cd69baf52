// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <iostream>
#include <nlohmann/json.hpp>
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

/// Writes what a trial is about, then runs the commands of rank 0's input and writes each answer as
/// a line of JSON. Collective.
template <class Trial>
void answer_commands(const Communicator& comm, Trial& trial) {
  const auto say = [&](const nlohmann::json& answer) {
    if (comm.is_root()) std::cout << answer.dump() << std::endl;
  };
  say(trial.about());
  while (const auto command = next_command(comm)) say(trial.run(*command));
}

}  // namespace ringweave::detail
