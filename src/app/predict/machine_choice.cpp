// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/machine_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "distribute/mpi/agree.hpp"
#include "io/input_file.hpp"
#include "perf_models/machine_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

Machine choose_machine(const Communicator& comm, const std::string& option) {
  return agreed(comm, [&] {
    const char* usual = std::getenv("RINGWEAVE_MACHINE");
    const std::string name = !option.empty() ? option : usual != nullptr ? usual : "";
    if (name.empty()) return typical_machine();
    const std::vector<std::string> described = described_machine_names();
    if (std::find(described.begin(), described.end(), name) != described.end())
      return described_machine(name);
    if (!std::filesystem::exists(name)) {
      throw UsageError(
          fmt::format("machine {}: no file and no described machine has this name; `ringweave "
                      "calibrate` writes a file, and described are {}",
                      name, fmt::join(described, ", ")));
    }
    check_input_file(name);
    std::ifstream file(name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_machine(text, name);
  });
}

}  // namespace ringweave::detail::inline app
