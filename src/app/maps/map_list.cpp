// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/map_list.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "app/maps/existing_outputs.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/atomic_output.hpp"
#include "io/input_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

// A larger number is probably a typing error, and would need memory for the names.
constexpr std::uint64_t most_seeds = 1'000'000;
constexpr std::int64_t most_list_bytes = std::int64_t{64} << 20;

std::uint64_t parse_seed(std::string_view text, const std::string& all) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) {
    throw UsageError(
        fmt::format("--seed {}: expected a number of 0 or more, or a list such as 1..4,7,9", all));
  }
  return value;
}

std::string filled(std::string text, const std::string& place, const std::string& value) {
  for (std::size_t at = text.find(place); at != std::string::npos;
       at = text.find(place, at + value.size())) {
    text.replace(at, place.size(), value);
  }
  return text;
}

/// Refuses an output that is the input of another map: maps are read ahead, and an input must not
/// be replaced before it is read.
void require_apart(const std::vector<MapTask>& tasks, const MapsOptions& options) {
  std::map<std::string, std::size_t> outputs;
  std::map<std::string, std::size_t> files_of_outputs;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    files_of_outputs.try_emplace(one_file(tasks[i].output), i);
    const auto [found, is_new] = outputs.try_emplace(one_name(tasks[i].output), i);
    if (is_new) continue;
    const MapTask& other = tasks[found->second];
    throw UsageError(
        fmt::format("{} and {} would both be written to {}; rename one, or use separate runs",
                    other.input.empty() ? fmt::format("seed {}", other.seed) : other.input,
                    tasks[i].input.empty() ? fmt::format("seed {}", tasks[i].seed) : tasks[i].input,
                    tasks[i].output));
  }
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (tasks[i].input.empty()) continue;
    const auto found = files_of_outputs.find(one_file(tasks[i].input));
    if (found == files_of_outputs.end() || (found->second == i && !options.resume)) continue;
    throw UsageError(fmt::format("{}: is an input too; give the outputs other names",
                                 tasks[found->second].output));
  }
}

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

/// Found outputs of a map that --resume looks for.
enum class Found : char { nothing, a_part, all, broken };

/// Returns what there is of each map. Collective. Error  UsageError where an output is of another
/// run.
std::vector<Found> find_outputs(Run& run, const std::vector<MapTask>& tasks) {
  const Communicator& comm = run.comm;
  std::vector<Found> found(tasks.size(), Found::nothing);
  if (comm.is_root()) {
    std::transform(tasks.begin(), tasks.end(), found.begin(), [](const MapTask& task) {
      const bool has_map = is_there(task.output);
      if (has_map && (task.alm.empty() || is_there(task.alm))) return Found::all;
      return has_map || (!task.alm.empty() && is_there(task.alm)) ? Found::a_part : Found::nothing;
    });
  }
  comm.broadcast(found.data(), ssize64(found), 0);
  if (std::all_of(found.begin(), found.end(), [](Found of) { return of == Found::nothing; }))
    return found;
  run.progress.stage("checking outputs that are there");
  const ExistingOutputs outputs(run);
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    if (found[i] == Found::nothing) continue;
    // One by one, so that the other ranks do not wait for long.
    agree(comm, [&] {
      if (!comm.is_root()) return;
      const std::string flaw = outputs.flaw(tasks[i]);
      if (flaw.empty()) return;
      found[i] = Found::broken;
      run.note(fmt::format("--resume: made again: {}", flaw));
    });
  }
  comm.broadcast(found.data(), ssize64(found), 0);
  return found;
}

}  // namespace

std::vector<std::uint64_t> parse_seeds(const std::string& text) {
  std::vector<std::uint64_t> seeds;
  std::set<std::uint64_t> known;
  std::istringstream parts(text + ',');
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t dots = part.find("..");
    const std::uint64_t first = parse_seed(std::string_view(part).substr(0, dots), text);
    const std::uint64_t last = dots == std::string::npos
                                   ? first
                                   : parse_seed(std::string_view(part).substr(dots + 2), text);
    if (last < first) {
      throw UsageError(fmt::format("--seed {}: {}..{} ends before it begins", text, first, last));
    }
    if (last - first >= most_seeds - seeds.size())
      throw UsageError(fmt::format("--seed {}: expected at most {} seeds", text, most_seeds));
    for (std::uint64_t seed = first;; ++seed) {
      if (!known.insert(seed).second)
        throw UsageError(fmt::format("--seed {}: {} is given twice", text, seed));
      seeds.push_back(seed);
      if (seed == last) break;
    }
  }
  return seeds;
}

std::vector<std::string> read_names(const Communicator& comm, const std::string& path) {
  std::string text;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    text = read_input_text(path, most_list_bytes);
  });
  std::istringstream lines(comm.broadcast(text, 0));
  std::vector<std::string> names;
  for (std::string line; std::getline(lines, line);) {
    line = line.substr(0, line.find('#'));
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos) continue;
    names.push_back(line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin));
  }
  if (names.empty()) throw DataError(path, "names no map; expected one per line");
  return names;
}

std::string with_seed(const std::string& pattern, std::uint64_t seed) {
  return filled(pattern, "{seed}", std::to_string(seed));
}

std::string with_name(const std::string& pattern, const std::string& input) {
  std::filesystem::path name = std::filesystem::path(input).filename();
  if (name.extension() == ".gz") name = name.stem();
  return filled(pattern, "{name}", name.stem().string());
}

void require_place(const std::string& pattern, const std::string& place, const std::string& option,
                   std::int64_t n_maps) {
  if (n_maps < 2 || pattern.empty() || pattern.find(place) != std::string::npos) return;
  throw UsageError(fmt::format("{} {}: {} maps need different names; write {} where they differ",
                               option, pattern, n_maps, place));
}

MapList list_maps(Run& run, const std::vector<MapTask>& tasks, const MapsOptions& options) {
  if (options.resume && run.options.overwrite) {
    throw UsageError(
        "--resume keeps existing outputs and --overwrite replaces them; give only one");
  }
  agree(run.comm, [&] {
    if (run.comm.is_root()) require_apart(tasks, options);
  });
  MapList list;
  list.total = ssize64(tasks);
  std::vector<Found> found(tasks.size(), Found::nothing);
  if (options.resume) found = find_outputs(run, tasks);
  list.n_again = std::count(found.begin(), found.end(), Found::broken);
  std::vector<std::string> outputs;
  std::vector<NewOutput> announced;
  for (std::size_t i = 0; i < tasks.size(); ++i) {
    for (const std::string& path : {tasks[i].output, tasks[i].alm}) {
      if (!path.empty()) outputs.push_back(path);
      if (path.ends_with(".gz")) outputs.push_back(path + ".gz");  // of version 0.1
    }
    if (found[i] == Found::all) continue;
    announced.push_back({tasks[i].output, OutputContent::map, tasks[i].input});
    announced.push_back({tasks[i].alm, OutputContent::alm});
    if (!tasks[i].input.empty()) run.outputs.keep(tasks[i].input);
    list.to_do.push_back(tasks[i]);
  }
  run.outputs.announce(std::move(announced));
  if (!options.resume) return list;
  if (!run.options.report.empty()) outputs.push_back(run.options.report);
  const std::int64_t n_removed =
      run.options.dry_run ? 0 : AtomicOutput::remove_unfinished(run.comm, outputs);
  run.print_line(fmt::format(
      "--resume: {} of {} map(s) are there already, {} to do{}{}", list.total - list.n(),
      list.total, list.n(),
      list.n_again > 0 ? fmt::format(", {} of them again", list.n_again) : std::string(),
      n_removed > 0 ? fmt::format("; removed {} unfinished file(s)", n_removed) : std::string()));
  return list;
}

}  // namespace ringweave::detail::inline app
