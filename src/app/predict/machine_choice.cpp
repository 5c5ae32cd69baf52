// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/machine_choice.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "distribute/mpi/agree.hpp"
#include "io/input_file.hpp"
#include "perf_models/machine_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

std::string machine_name(const std::string& option) {
  const char* usual = std::getenv("RINGWEAVE_MACHINE");
  return !option.empty() || usual == nullptr ? option : usual;
}

Machine choose_machine(const Communicator& comm, const std::string& option) {
  return agreed(comm, [&] {
    const std::string name = machine_name(option);
    if (name.empty()) return typical_machine();
    const std::vector<std::string> described = described_machine_names();
    if (std::find(described.begin(), described.end(), name) != described.end())
      return described_machine(name);
    std::error_code error;
    if (!std::filesystem::exists(name, error) && !error) {
      throw UsageError(
          fmt::format("machine {}: no file and no described machine has this name; `ringweave "
                      "calibrate` writes a file, and described are {}",
                      name, fmt::join(described, ", ")));
    }
    constexpr std::int64_t most_bytes = std::int64_t{16} << 20;
    return parse_machine(read_input_text(name, most_bytes), name);
  });
}

}  // namespace ringweave::detail::inline app
