// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/predict/scaling_table.hpp"
#include "app/transform_setup.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr int most_ranks = 1 << 20;

std::vector<int> parse_ranks(const std::string& text) {
  std::vector<int> ranks;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    char* end = nullptr;
    const long value = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || value < 1 || value > most_ranks) {
      throw UsageError(
          fmt::format("--ranks {}: '{}' is no number of ranks from 1 to {}; e.g. "
                      "--ranks 1,2,4",
                      text, word, most_ranks));
    }
    ranks.push_back(static_cast<int>(value));
  }
  if (ranks.empty()) throw UsageError("--ranks: expected numbers of ranks, e.g. --ranks 1,2,4");
  return ranks;
}

/// Returns where the predicted machine computes; this machine does not matter.
Place predicted_place(const Machine& machine, const std::string& backend) {
  if (backend == "host") return Place::host;
  if (machine.device) return Place::device;
  if (backend == "auto") return Place::host;
  throw UsageError(
      fmt::format("--backend cuda: the machine \"{}\" has no GPU; take --machine a100_cluster or "
                  "h100_cluster, or what `ringweave calibrate --backend cuda` writes on one",
                  machine.name));
}

TransformSpec spec_of(const ModelOptions& options) {
  const std::string& fields = options.transform.fields;
  return make_spec(options.transform, named_grid(options.transform),
                   fields_named(fields.empty() ? "T" : fields).fields);
}

ScalingPlace place_of(const Run& run, const ModelOptions& options) {
  const bool asked = run.options.threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr;
  return {predicted_place(run.machine, options.transform.backend),
          asked ? omp_get_max_threads() : run.machine.n_threads};
}

/// Returns the smallest power of two at which `communication` takes longer than the computation.
template <class Communication>
std::optional<int> critical_ranks(ScalingPredictor& predictor, const Communication& communication) {
  for (int n_ranks = 2; n_ranks <= ScalingPredictor::most_ranks; n_ranks *= 2) {
    const ScalingPrediction& row = predictor.at(n_ranks);
    const Estimate computation = row.seconds.legendre + row.seconds.ring_fft;
    if (communication(row) > computation.seconds) return n_ranks;
  }
  return std::nullopt;
}

std::string ranks_text(const std::optional<int>& ranks) {
  return ranks ? fmt::format("{} ranks", *ranks)
               : fmt::format("more than {} ranks", ScalingPredictor::most_ranks);
}

nlohmann::ordered_json number(const std::optional<int>& n) {
  return n ? nlohmann::ordered_json(*n) : nlohmann::ordered_json();
}

}  // namespace

int model(Run& run, const ModelOptions& options) {
  const std::vector<int> ranks = parse_ranks(options.ranks);
  run.outputs.announce(options.json, OutputContent::report);
  const ScalingPlace place = place_of(run, options);
  const TransformSpec spec = spec_of(options);
  const char* backend = place.place == Place::host ? "host" : "cuda";
  run.say(fmt::format(
      "one transform: {}, lmax {}, mmax {}, {} component(s), {} thread(s) a rank; machine: {}{}",
      spec.grid->name(), spec.lmax, spec.mmax, spec.fields.n_components(), place.n_threads,
      run.machine.name,
      place.place == Place::host ? ""
                                 : fmt::format("; {} for each rank", run.machine.device->name)));
  if (!run.machine.notes.empty()) run.say(run.machine.notes);

  ScalingPredictor predictor(spec, run.machine, place);
  std::vector<ScalingPrediction> rows;
  for (const int n_ranks : ranks) rows.push_back(predictor.at(n_ranks));
  say_scaling(run, rows);

  const auto ours = critical_ranks(
      predictor, [](const ScalingPrediction& row) { return row.seconds.exchange.seconds; });
  const auto dense =
      critical_ranks(predictor, [](const ScalingPrediction& row) { return row.dense_seconds; });
  const auto printed = critical_ranks(
      predictor, [](const ScalingPrediction& row) { return row.dense_seconds_as_printed; });
  run.say(
      fmt::format("the exchange first takes longer than the computation at {} (dense: {}; dense, "
                  "Eq. 17 as printed: {})",
                  ranks_text(ours), ranks_text(dense), ranks_text(printed)));
  const std::optional<ScalingEnd> end = predictor.end();
  run.say(text_of(end, predictor));
  if (options.json.empty()) return 0;

  nlohmann::ordered_json json = {{"grid", spec.grid->name()},
                                 {"lmax", spec.lmax},
                                 {"mmax", spec.mmax},
                                 {"components", spec.fields.n_components()},
                                 {"threads", place.n_threads},
                                 {"backend", backend},
                                 {"machine", run.machine.name},
                                 {"critical_ranks", number(ours)},
                                 {"critical_ranks_dense", number(dense)},
                                 {"critical_ranks_dense_as_printed", number(printed)},
                                 {"scaling_ends_at", nullptr},
                                 {"scaling_ends_because", nullptr},
                                 {"rows", nlohmann::ordered_json::array()}};
  if (end) {
    json["scaling_ends_at"] = end->n_ranks;
    json["scaling_ends_because"] = name_of(end->cause);
  }
  for (const ScalingPrediction& row : rows) json["rows"].push_back(json_of(row));
  write_text(run, options.json, json.dump(1) + '\n');
  return 0;
}

}  // namespace ringweave::detail::inline app
