// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/run.hpp"

namespace ringweave {

/// One map of a command: where it comes from and where it goes.
struct MapTask {
  std::string input{};     ///< a file, or
  std::uint64_t seed = 0;  ///< a realisation
  std::string output;
  std::string alm{};  ///< its a_lm are written too; empty: they are not
};

/// What a command has to do.
struct MapList {
  std::vector<MapTask> to_do;
  std::int64_t total = 0;
  std::int64_t n() const { return static_cast<std::int64_t>(to_do.size()); }
  bool is_single() const { return total == 1; }
};

/// "7", "1..4,7,9". Error  UsageError (no numbers, a range that ends before it begins, twice the
/// same).
std::vector<std::uint64_t> parse_seeds(const std::string& text);

/// One name a line; empty lines and what follows a # are left out. Collective. Error  DataError.
std::vector<std::string> read_names(const Communicator& comm, const std::string& path);

/// `pattern` with {seed} or {name} filled in; the name of a file is without folder and extension.
std::string with_seed(const std::string& pattern, std::uint64_t seed);
std::string with_name(const std::string& pattern, const std::string& input);

/// UsageError unless `pattern`, which `option` gave, holds `place` where there are several maps.
void require_place(const std::string& pattern, const std::string& place, const std::string& option,
                   std::int64_t n_maps);

/// Announces the outputs of all maps. With --resume those that are there are left out, which is
/// said, and what killed runs left of the others is removed. Collective.
/// Error  UsageError (two outputs of one name, an output that is the input of another map, those of
/// Outputs::announce), ResourceError.
MapList list_maps(Run& run, const std::vector<MapTask>& tasks, const MapsOptions& options);

}  // namespace ringweave
