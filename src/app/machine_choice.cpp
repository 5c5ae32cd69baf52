// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/machine_choice.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "distribute/agree.hpp"
#include "io/input_file.hpp"

namespace ringweave {

Machine choose_machine(const Communicator& comm, const std::string& option) {
  return agreed(comm, [&] {
    const char* usual = std::getenv("RINGWEAVE_MACHINE");
    const std::string path = !option.empty() ? option : usual != nullptr ? usual : "";
    if (path.empty()) return typical_machine();
    check_input_file(path);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    return parse_machine(text, path);
  });
}

}  // namespace ringweave
