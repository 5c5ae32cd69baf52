// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/predict/lensing_prediction.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/predict/point_prediction.hpp"
#include "app/predict/scaling_prediction.hpp"
#include "app/stage_places.hpp"
#include "app/transform_setup.hpp"
#include "base/json_text.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

std::vector<int> parse_ranks(const std::string& text) {
  std::vector<int> ranks;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    char* end = nullptr;
    const long value = std::strtol(word.c_str(), &end, 10);
    if (word.empty() || *end != '\0' || value < 1 || value > most_predicted_ranks) {
      throw UsageError(
          fmt::format("--ranks {}: '{}' is no number of ranks from 1 to {}; e.g. "
                      "--ranks 1,2,4",
                      text, word, most_predicted_ranks));
    }
    ranks.push_back(static_cast<int>(value));
  }
  if (ranks.empty()) throw UsageError("--ranks: expected numbers of ranks, e.g. --ranks 1,2,4");
  return ranks;
}

/// Throws a UsageError unless the machine has a GPU; `option` asks for it.
void require_device(const Machine& machine, const std::string& option) {
  if (machine.device) return;
  throw UsageError(
      fmt::format("{}: the machine \"{}\" has no GPU; take --machine a100_cluster or "
                  "h100_cluster, or the file that `ringweave calibrate --backend cuda` writes on "
                  "one",
                  option, machine.name));
}

/// Returns where the stages of the predicted machine compute; this machine does not matter.
StagePlaces predicted_stages(const Machine& machine, const TransformOptions& asked) {
  if (!asked.stage.empty()) {
    const StagePlaces stages = stage_places_named(asked.stage);
    if (stages.use_a_device()) require_device(machine, "--stage " + asked.stage);
    return stages;
  }
  if (asked.backend == "cuda") require_device(machine, "--backend cuda");
  const bool on_device = asked.backend != "host" && machine.device;
  const Backend backend = on_device ? Backend::cuda : Backend::host;
  return {backend, backend};
}

FieldSet fields_of(const ModelOptions& options) {
  const std::string& fields = options.transform.fields;
  return fields_named(fields.empty() ? "T" : fields).fields;
}

constexpr double usual_epsilon = 1e-7;

/// The points of --points; none without. Error  UsageError.
std::optional<EvenPoints> points_of(Run& run, const ModelOptions& options, Backend backend) {
  if (options.points == 0) return std::nullopt;
  const TransformOptions& asked = options.transform;
  if (asked.nside != 0 || !asked.grid.empty())
    throw UsageError(
        "--points: the values are at points and not on a grid; leave out --nside and "
        "--grid");
  if (asked.lmax < 0) throw UsageError("--points: give --lmax, the highest degree of the a_lm");
  PointSpec spec = make_point_spec(
      run, {asked, options.epsilon.value_or(usual_epsilon), fields_of(options), {asked.lmax}});
  spec.backend = backend;
  return EvenPoints(spec, options.points, 2);
}

/// The lensed map of --lens; none without. Error  UsageError.
std::optional<LensedGrid> lensed_of(Run& run, const ModelOptions& options, Backend backend) {
  if (!options.lens) return std::nullopt;
  if (options.points > 0)
    throw UsageError("--points and --lens are two predictions; give one of them");
  const TransformOptions& asked = options.transform;
  const auto grid = named_grid(asked);
  PointSpec spec = make_point_spec(run, {asked,
                                         options.epsilon.value_or(usual_epsilon),
                                         fields_of(options),
                                         {asked.lmax >= 0 ? asked.lmax : grid->default_lmax()}});
  spec.backend = backend;
  return LensedGrid(spec, grid);
}

StagePlaces stages_of(const Run& run, const ModelOptions& options) {
  const bool is_to_points = options.points > 0 || options.lens;
  if (is_to_points && !options.transform.stage.empty())
    throw UsageError("--stage belongs to transforms to a grid; leave it out");
  return predicted_stages(run.machine, options.transform);
}

ScalingPlace place_of(const Run& run, const StagePlaces& stages) {
  const bool in_environment = std::getenv("OMP_NUM_THREADS") != nullptr;
  const int usual = in_environment ? omp_get_max_threads() : run.machine.n_threads;
  return {place_of(stages), run.options.threads > 0 ? run.options.threads : usual,
          stages.on_device()};
}

/// Returns the smallest power of two at which `communication` takes longer than the computation.
template <class Communication>
std::optional<int> critical_ranks(ScalingPredictor& predictor, const Communication& communication) {
  for (int n_ranks = 2; n_ranks <= ScalingPredictor::most_ranks; n_ranks *= 2) {
    const ScalingPrediction& row = predictor.at(n_ranks);
    const Estimate computation =
        row.seconds.legendre + row.seconds.ring_fft + row.points.points + row.deflection;
    if (communication(row) > computation.seconds) return n_ranks;
  }
  return std::nullopt;
}

std::string size_text(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

/// Messages may be a few bytes.
std::string message_text(double bytes) {
  return bytes < 10240 ? fmt::format("{:.0f} B", bytes) : bytes_text(bytes);
}

int ranks_of(const ScalingPrediction& row) { return row.shares.largest.n_ranks; }

bool has_points(const std::vector<ScalingPrediction>& rows) {
  return !rows.empty() && rows.front().points.points.seconds > 0;
}

bool has_deflection(const std::vector<ScalingPrediction>& rows) {
  return !rows.empty() && rows.front().deflection.seconds > 0;
}

bool has_copies(const std::vector<ScalingPrediction>& rows) {
  for (const ScalingPrediction& row : rows)
    if (row.seconds.copies.seconds > 0) return true;
  return false;
}

void say_seconds(Run& run, const std::vector<ScalingPrediction>& rows) {
  const bool copies = has_copies(rows);
  const bool points = has_points(rows);
  const bool deflection = has_deflection(rows);
  run.print_line(fmt::format("{:>8}{:>12}{:>12}{:>12}{}{}{}{:>12}{:>9}{:>14}{:>14}", "ranks",
                             "Legendre, s", points ? "rows, s" : "ring FFT, s", "exchange, s",
                             copies ? "   copies, s" : "", points ? "   points, s   values, s" : "",
                             deflection ? "  deflect., s" : "", "total, s", "+- %",
                             "dense exch., s", "as printed, s"));
  for (const ScalingPrediction& row : rows) {
    const Estimate total = row.total();
    run.print_line(fmt::format(
        "{:>8}{:>12.3g}{:>12.3g}{:>12.3g}{}{}{}{:>12.3g}{:>9.0f}{:>14.3g}{:>14.3g}", ranks_of(row),
        row.seconds.legendre.seconds, row.seconds.ring_fft.seconds, row.seconds.exchange.seconds,
        copies ? fmt::format("{:>12.3g}", row.seconds.copies.seconds) : "",
        points ? fmt::format("{:>12.3g}{:>12.3g}", row.points.points.seconds,
                             row.points.value_exchange.seconds)
               : "",
        deflection ? fmt::format("{:>13.3g}", row.deflection.seconds) : "", total.seconds,
        100 * total.sigma / total.seconds, row.dense_seconds, row.dense_seconds_as_printed));
  }
}

void say_shares(Run& run, const std::vector<ScalingPrediction>& rows) {
  run.print_line("most of any rank; messages of the rank that sends most");
  run.print_line(fmt::format("{:>8}{:>10}{:>12}{:>12}{:>12}{:>10}{:>14}{:>14}", "ranks",
                             "work/mean", "memory/mean", "memory", "sent", "messages",
                             "mean message", "largest"));
  for (const ScalingPrediction& row : rows) {
    const TransformShares& shares = row.shares;
    run.print_line(fmt::format("{:>8}{:>10.3f}{:>12.3f}{:>12}{:>12}{:>10}{:>14}{:>14}",
                               ranks_of(row), shares.work_imbalance(), shares.memory_imbalance(),
                               size_text(shares.largest_bytes),
                               size_text(shares.largest.sent_bytes), shares.messages.count,
                               message_text(shares.messages.mean_bytes),
                               message_text(static_cast<double>(shares.messages.largest_bytes))));
  }
}

void say_ways(Run& run, const std::vector<ScalingPrediction>& rows) {
  bool has_head = false;
  for (const ScalingPrediction& row : rows) {
    if (row.ways.empty()) continue;
    if (!has_head) {
      run.print_line(
          "variants of the exchange: bytes of the rank that sends most, seconds not hidden");
      std::string head = fmt::format("{:>8}", "ranks");
      for (const ExchangeVariant& way : row.ways) head += fmt::format("{:>23}", way.name);
      run.print_line(head);
      has_head = true;
    }
    std::string line = fmt::format("{:>8}", ranks_of(row));
    for (const ExchangeVariant& way : row.ways)
      line += fmt::format("{:>12} {:>8.3g} s", size_text(way.sent_bytes), way.exchange.seconds);
    run.print_line(line);
  }
}

std::string why(const ScalingEnd& end, const ScalingPrediction& many) {
  const TransformShares& shares = many.shares;
  switch (end.cause) {
    case ScalingEnd::Cause::legendre:
      return fmt::format(
          "an order stays on one rank: at {} ranks {} have any, and the busiest has {:.2f} times "
          "the mean work",
          ranks_of(many), shares.n_ranks_with_orders, shares.work_imbalance());
    case ScalingEnd::Cause::ring_fft:
      return fmt::format("a ring stays on one rank: at {} ranks {} have any", ranks_of(many),
                         shares.n_ranks_with_rings);
    case ScalingEnd::Cause::messages:
      return fmt::format(
          "latency: at {} ranks each sends to {} others, {} on average", ranks_of(many),
          ranks_of(many) - 1,
          message_text(static_cast<double>(shares.largest.sent_bytes) / (ranks_of(many) - 1)));
    case ScalingEnd::Cause::bytes:
      return fmt::format("bandwidth: {} a rank at {} ranks", size_text(shares.largest.sent_bytes),
                         ranks_of(many));
    case ScalingEnd::Cause::copies: break;
  }
  return "copies to and from devices";
}

nlohmann::ordered_json json_of(const ScalingPrediction& row) {
  const TransformShares& shares = row.shares;
  nlohmann::ordered_json json = {
      {"ranks", ranks_of(row)},
      {"legendre_seconds", row.seconds.legendre.seconds},
      {"ring_fft_seconds", row.seconds.ring_fft.seconds},
      {"exchange_seconds", row.seconds.exchange.seconds},
      {"exchange_seconds_as_printed", row.exchange_seconds_as_printed},
      {"copies_seconds", row.seconds.copies.seconds},
      {"points_seconds", row.points.points.seconds},
      {"value_exchange_seconds", row.points.value_exchange.seconds},
      {"deflection_seconds", row.deflection.seconds},
      {"total_seconds", row.total().seconds},
      {"uncertainty_seconds", row.total().sigma},
      {"dense_exchange_seconds", row.dense_seconds},
      {"dense_exchange_seconds_as_printed", row.dense_seconds_as_printed},
      {"sent_bytes", shares.largest.sent_bytes},
      {"memory_bytes", shares.largest_bytes},
      {"mean_memory_bytes", shares.mean_bytes},
      {"memory_imbalance", shares.memory_imbalance()},
      {"work_imbalance", shares.work_imbalance()},
      {"ranks_with_orders", shares.n_ranks_with_orders},
      {"ranks_with_rings", shares.n_ranks_with_rings},
      {"messages", shares.messages.count},
      {"mean_message_bytes", shares.messages.mean_bytes},
      {"largest_message_bytes", shares.messages.largest_bytes},
  };
  json["exchanges"] = nlohmann::ordered_json::object();
  for (const ExchangeVariant& way : row.ways) {
    json["exchanges"][way.name] = {{"sent_bytes", way.sent_bytes},
                                   {"seconds", way.exchange.seconds},
                                   {"uncertainty_seconds", way.exchange.sigma},
                                   {"total_seconds", way.total.seconds}};
  }
  return json;
}

/// Returns a sentence that says where scaling ends and why.
std::string text_of(const std::optional<ScalingEnd>& end, ScalingPredictor& predictor) {
  if (!end) {
    return fmt::format("scaling: up to {} ranks twice as many save a quarter of the time or more",
                       ScalingPredictor::most_ranks);
  }
  return fmt::format(
      "scaling ends at {} ranks, beyond which twice as many save less than a quarter of the time; "
      "{}",
      end->n_ranks, why(*end, predictor.at(2 * end->n_ranks)));
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
  const StagePlaces stages = stages_of(run, options);
  const ScalingPlace place = place_of(run, stages);
  if (options.epsilon && options.points == 0 && !options.lens)
    throw UsageError("--epsilon belongs to --points and --lens; leave it out");
  const Backend of_points = stages.use_a_device() ? Backend::cuda : Backend::host;
  const std::optional<LensedGrid> lensed = lensed_of(run, options, of_points);
  const std::optional<EvenPoints> points =
      lensed ? lensed->points() : points_of(run, options, of_points);
  const TransformSpec spec =
      points ? points->rows()
             : make_spec(options.transform, named_grid(options.transform), fields_of(options));
  run.outputs.require_writable();
  run.print_line(fmt::format(
      "one transform: {}, lmax {}, mmax {}, {} component(s), {} thread(s) a rank; machine: {}{}",
      spec.grid->name(), spec.lmax, spec.mmax, spec.fields.n_components(), place.n_threads,
      run.machine.name,
      stages.use_a_device() ? fmt::format("; {} for each rank", run.machine.device->name) : ""));
  if (stages.are_mixed()) run.print_line(fmt::format("where the stages run: {}", stages.text()));
  if (points) {
    const PointReport& report = points->report();
    run.print_line(
        fmt::format("the grid is that of fine rows, from which values at {} points are "
                    "interpolated: taps {} x {}, error {:.1e}; {}",
                    report.points, report.theta_taps, report.phi_taps, report.predicted_error,
                    lensed ? "values of pixels that another rank sums are exchanged"
                           : "every value goes to another rank"));
  }
  if (lensed) {
    run.print_line(
        "the deflection is the transform of d onto the grid on the host, with the same lmax, and "
        "the positions and the rotation of the pixels");
  }
  if (!run.machine.notes.empty()) run.print_line(run.machine.notes);

  ScalingPredictor predictor = lensed   ? ScalingPredictor(*lensed, run.machine, place.n_threads)
                               : points ? ScalingPredictor(*points, run.machine, place.n_threads)
                                        : ScalingPredictor(spec, run.machine, place);
  std::vector<ScalingPrediction> rows;
  for (const int n_ranks : ranks) rows.push_back(predictor.at(n_ranks));
  say_seconds(run, rows);
  say_shares(run, rows);
  say_ways(run, rows);

  const auto ours = critical_ranks(
      predictor, [](const ScalingPrediction& row) { return row.seconds.exchange.seconds; });
  const auto dense =
      critical_ranks(predictor, [](const ScalingPrediction& row) { return row.dense_seconds; });
  const auto printed = critical_ranks(
      predictor, [](const ScalingPrediction& row) { return row.dense_seconds_as_printed; });
  run.print_line(
      fmt::format("the exchange first takes longer than the computation at {} (dense: {}; dense, "
                  "Eq. 17 as printed: {})",
                  ranks_text(ours), ranks_text(dense), ranks_text(printed)));
  const std::optional<ScalingEnd> end = predictor.end();
  run.print_line(text_of(end, predictor));
  if (options.json.empty()) return 0;

  nlohmann::ordered_json json = json_of_origin(run);
  json.update(
      {{"grid", spec.grid->name()},
       {"lmax", spec.lmax},
       {"mmax", spec.mmax},
       {"components", spec.fields.n_components()},
       {"points", points ? points->report().points : 0},
       {"threads", place.n_threads},
       {"backend", stages.use_a_device() ? "cuda" : "host"},
       {"stages", {{"legendre", name_of(stages.legendre)}, {"fft", name_of(stages.ring_fft)}}},
       {"machine", run.machine.name},
       {"critical_ranks", number(ours)},
       {"critical_ranks_dense", number(dense)},
       {"critical_ranks_dense_as_printed", number(printed)},
       {"scaling_ends_at", nullptr},
       {"scaling_ends_because", nullptr},
       {"rows", nlohmann::ordered_json::array()}});
  if (end) {
    json["scaling_ends_at"] = end->n_ranks;
    json["scaling_ends_because"] = name_of(end->cause);
  }
  for (const ScalingPrediction& row : rows) json["rows"].push_back(json_of(row));
  write_text(run, options.json, json_text(json, 1) + '\n');
  return 0;
}

}  // namespace ringweave::detail::inline app
