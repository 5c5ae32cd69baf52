// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// One map of a command: its input and outputs.
struct MapTask {
  std::string input{};     ///< a file, or
  std::uint64_t seed = 0;  ///< a realisation
  std::string output;
  std::string alm{};  ///< its a_lm are written too; empty: not written
};

/// The maps of a command.
struct MapList {
  std::vector<MapTask> to_do;
  std::int64_t total = 0;
  std::int64_t n_again = 0;  ///< whose outputs are there, but empty, cut short or broken
  std::int64_t n() const { return static_cast<std::int64_t>(to_do.size()); }
  bool is_single() const { return total == 1; }
};

/// Parses "7", "1..4,7,9". Error  UsageError (no numbers, a range that ends before it begins, a
/// number given twice).
std::vector<std::uint64_t> parse_seeds(const std::string& text);

/// Reads one name per line; ignores empty lines and everything after a #. Collective. Error
/// DataError.
std::vector<std::string> read_names(const Communicator& comm, const std::string& path);

/// Returns `pattern` with {seed} or {name} replaced; the name of a file is without folder and
/// extension.
std::string with_seed(const std::string& pattern, std::uint64_t seed);
std::string with_name(const std::string& pattern, const std::string& input);

/// Throws a UsageError if there are several maps and `pattern`, given by `option`, does not contain
/// `place`.
void require_place(const std::string& pattern, const std::string& place, const std::string& option,
                   std::int64_t n_maps);

/// Announces the outputs of all maps. With --resume, maps whose outputs exist and are whole are
/// skipped, with a message, and incomplete outputs of killed runs are removed. Collective. Error
/// UsageError (two outputs of one name, an output that is the input of another map, or exists and
/// is of another run, those of Outputs::announce).
MapList list_maps(Run& run, const std::vector<MapTask>& tasks, const MapsOptions& options);

}  // namespace ringweave::detail::inline app
