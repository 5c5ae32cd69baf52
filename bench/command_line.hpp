// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ringweave/communicator.hpp"

namespace CLI {
class App;
}

namespace ringweave::detail {

/// The options of a benchmark. The value of an option when it is added is its default. CLI11 is
/// included by the source of this class alone, because it takes long to compile.
class CommandLine {
 public:
  using Value = std::variant<bool*, int*, std::int64_t*, std::uint64_t*, double*, std::string*,
                             std::vector<int>*, std::vector<std::int64_t>*, std::vector<double>*,
                             std::vector<std::string>*>;

  explicit CommandLine(const std::string& purpose);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Adds an option; a flag where `value` is a bool. `choices`: the allowed values, if not all.
  void add(const std::string& name, Value value, const std::string& help,
           const std::vector<std::string>& choices = {});
  /// Adds an option without a default.
  void add_required(const std::string& name, std::string& value, const std::string& help);

  /// Parses on every rank; rank 0 prints help and errors. Returns the exit code where the program
  /// ends with that.
  std::optional<int> parse(const Communicator& comm, int argc, char** argv);

 private:
  std::unique_ptr<CLI::App> app_;
};

}  // namespace ringweave::detail
