// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/command_line.hpp"

#include <CLI/CLI.hpp>

#include "ringweave/error.hpp"

namespace ringweave::detail {

CommandLine::CommandLine(const std::string& purpose) : app_(std::make_unique<CLI::App>(purpose)) {}
CommandLine::~CommandLine() = default;

void CommandLine::add(const std::string& name, Value value, const std::string& help,
                      const std::vector<std::string>& choices) {
  if (bool* const* flag = std::get_if<bool*>(&value)) {
    app_->add_flag(name, **flag, help);
    return;
  }
  CLI::Option* option = nullptr;
  std::visit([&](auto* target) { option = app_->add_option(name, *target, help); }, value);
  if (!choices.empty()) option->check(CLI::IsMember(choices));
  option->capture_default_str();
}

void CommandLine::add_required(const std::string& name, std::string& value,
                               const std::string& help) {
  app_->add_option(name, value, help)->required();
}

std::optional<int> CommandLine::parse(const Communicator& comm, int argc, char** argv) {
  try {
    app_->parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (comm.is_root()) app_->exit(error);
    return error.get_exit_code() == 0 ? 0 : exit_code(ErrorKind::usage);
  }
  return std::nullopt;
}

}  // namespace ringweave::detail
