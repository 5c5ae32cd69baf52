// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/existing_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/checked_cast.hpp"
#include "base/json_text.hpp"
#include "io/file_kind.hpp"
#include "io/file_origin.hpp"
#include "io/fits/file.hpp"
#include "io/written_file.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

using Json = nlohmann::ordered_json;

/// Options that do not change an output, or no more than rounding does. Outputs, inputs and seeds
/// are those of each map, and checked for each.
constexpr std::array<std::string_view, 17> without_effect{
    "config",  "dry-run",   "report", "machine",        "threads", "progress",
    "verbose", "overwrite", "resume", "deadline",       "backend", "stage",
    "batch",   "maps",      "seed",   "harmonic-ranks", "save-alm"};

bool has_effect(const std::string& name) {
  const bool is_argument = !name.empty() && name.front() >= 'A' && name.front() <= 'Z';
  return !is_argument &&
         std::find(without_effect.begin(), without_effect.end(), name) == without_effect.end();
}

std::string text_of_json(const Json& value) {
  return value.is_string() ? value.get<std::string>() : json_text(value);
}

bool is_the_same_file(const std::string& one, const std::string& other) {
  std::error_code error;
  return one == other || (std::filesystem::exists(one, error) && one_name(one) == one_name(other));
}

bool is_same(const Json& one, const Json& other) {
  return one == other || (one.is_string() && other.is_string() &&
                          is_the_same_file(one.get<std::string>(), other.get<std::string>()));
}

/// Returns the options that decide what an output holds, by name.
Json options_of_result(const std::string& config_json) {
  Json options = Json::object();
  const Json all = Json::parse(config_json, nullptr, false);
  if (!all.is_object()) return options;
  for (const auto& [name, value] : all.items()) {
    if (has_effect(name) && value != false) options[name] = value;
  }
  // Two names of one grid, and two ways to send the same numbers.
  if (options.contains("nside") && !options.contains("grid")) {
    options["grid"] = "healpix:" + text_of_json(options["nside"]);
    options.erase("nside");
  }
  if (options.contains("exchange") && options["exchange"] == "overlap")
    options["exchange"] = "double";
  return options;
}

/// Returns an option as it was given: "--nside 16", "--put-back", "no --fwhm".
std::string as_given(const std::string& name, const Json& options) {
  const auto found = options.find(name);
  if (found == options.end()) return "no --" + name;
  return *found == true ? "--" + name : fmt::format("--{} {}", name, text_of_json(*found));
}

constexpr const char* advice =
    "--resume goes on with a run of the same options; give other names to the outputs, or "
    "--overwrite in place of --resume";

[[noreturn]] void refuse_output(const std::string& path, const std::string& why) {
  throw UsageError(fmt::format("{}: {}; {}", path, why, advice));
}

const Keyword* keyword_of(const FileOrigin& origin, const char* name) {
  const auto found = std::find_if(origin.keywords.begin(), origin.keywords.end(),
                                  [&](const Keyword& keyword) { return keyword.name == name; });
  return found == origin.keywords.end() ? nullptr : &*found;
}

/// Tells whether a file that cannot be opened as one kind is of the other.
bool is_of_other_kind(const std::string& path, OutputContent expected) {
  const Communicator alone = Communicator::self();
  try {
    if (expected == OutputContent::map) {
      open_alm(alone, path);
    } else {
      open_map(alone, path);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

void require_seed(const std::string& path, const FileOrigin& origin, const char* name,
                  std::uint64_t seed) {
  const Keyword* keyword = keyword_of(origin, name);
  const std::string made = keyword == nullptr ? "unknown" : text_of_value(*keyword);
  if (made != std::to_string(seed))
    refuse_output(path, fmt::format("has the seed {}, and this run seed {}", made, seed));
}

}  // namespace

std::string first_difference(const std::string& made, const std::string& now) {
  const Json then = options_of_result(made);
  const Json ours = options_of_result(now);
  for (const Json* names : {&ours, &then}) {
    for (const auto& [name, value] : names->items()) {
      const auto one = then.find(name);
      const auto other = ours.find(name);
      if (one != then.end() && other != ours.end() && is_same(*one, *other)) continue;
      return fmt::format("was made with {}, and this run has {}", as_given(name, then),
                         as_given(name, ours));
    }
  }
  return "";
}

/// Checked output: what is wrong with it, with its name; else what it holds.
struct ExistingOutputs::Checked {
  std::string flaw{};
  std::int64_t n_components = 0;
};

ExistingOutputs::ExistingOutputs(const Run& run) : config_json_(run.provenance().config_json) {
  const Json all = Json::parse(config_json_, nullptr, false);
  draws_alm_ = all.contains("seed") && all.contains("cl");
  draws_noise_ = all.contains("seed") && all.contains("noise");
}

ExistingOutputs::Checked ExistingOutputs::check(const std::string& path, OutputContent kind,
                                                const MapTask& task) const {
  const WrittenFile file = inspect_written_file(path);
  const bool is_map = kind == OutputContent::map;
  if (file.state == WrittenFile::State::broken) return {fmt::format("{}: {}", path, file.reason)};
  if (file.state == WrittenFile::State::foreign) refuse_output(path, file.reason);
  if (!file.config_json.empty()) {
    // FITS has no other characters.
    const bool is_fits = file_kind(path) == FileKind::fits;
    const std::string difference =
        first_difference(file.config_json, is_fits ? printable(config_json_) : config_json_);
    if (!difference.empty()) refuse_output(path, difference);
  }
  if (!task.input.empty() && !is_the_same_file(file.input, task.input) &&
      file.input != printable(task.input))
    refuse_output(
        path, fmt::format("was made of {}, and this run makes it of {}", file.input, task.input));
  const Communicator alone = Communicator::self();
  FileOrigin origin;
  Checked checked;
  try {
    if (is_map) {
      const MapHeader header = open_map(alone, path)->header();
      checked.n_components = ssize64(header.columns);
      origin = header.origin;
    } else {
      const AlmHeader header = open_alm(alone, path)->header();
      checked.n_components = ssize64(header.components);
      origin = header.origin;
    }
  } catch (const DataError& error) {
    if (!is_of_other_kind(path, kind)) return {error.what()};
    refuse_output(path, is_map ? "holds a_lm, and this run writes a map"
                               : "holds a map, and this run writes a_lm");
  }
  if (!file.config_json.empty()) {
    if (draws_alm_) require_seed(path, origin, "SEED", task.seed);
    if (draws_noise_ && is_map) require_seed(path, origin, "NSEED", task.seed);
  }
  return checked;
}

std::string ExistingOutputs::flaw(const MapTask& task) const {
  const auto is_there = [](const std::string& path) {
    std::error_code error;
    return !path.empty() && std::filesystem::is_regular_file(path, error);
  };
  std::optional<Checked> map;
  std::optional<Checked> alm;
  if (is_there(task.output)) map = check(task.output, OutputContent::map, task);
  if (is_there(task.alm)) alm = check(task.alm, OutputContent::alm, task);
  if (map && !map->flaw.empty()) return map->flaw;
  if (alm && !alm->flaw.empty()) return alm->flaw;
  if (map && alm && alm->n_components != map->n_components) {
    return fmt::format("{}: has {} component(s), and {} has {}", task.alm, alm->n_components,
                       task.output, map->n_components);
  }
  return "";
}

}  // namespace ringweave::detail::inline app
