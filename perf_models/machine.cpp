// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/machine.hpp"

#include <algorithm>

#include "perf_models/described_machines.hpp"
#include "perf_models/machine_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline perf_models {

std::vector<std::string> described_machine_names() {
  std::vector<std::string> names;
  for (const DescribedMachine& machine : described_machines) names.emplace_back(machine.name);
  return names;
}

Machine described_machine(const std::string& name) {
  const auto found = std::find_if(described_machines.begin(), described_machines.end(),
                                  [&](const DescribedMachine& one) { return one.name == name; });
  if (found == described_machines.end()) {
    std::string names;
    for (const std::string& known : described_machine_names())
      names += (names.empty() ? "" : ", ") + known;
    throw UsageError(name + ": no described machine has this name; there are " + names);
  }
  return parse_machine(found->text, "the machine " + name);
}

const Machine& typical_machine() {
  static const Machine machine = described_machine("typical");
  return machine;
}

}  // namespace ringweave::detail::inline perf_models
