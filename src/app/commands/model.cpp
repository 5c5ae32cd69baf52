// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/field_choice.hpp"
#include "app/memory_estimate.hpp"
#include "app/plan_table.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave {
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

/// What is predicted for one number of ranks.
struct Row {
  TransformShares shares;
  TransformEstimate seconds;
  double dense_printed = 0;
  double dense_corrected = 0;

  Estimate computation() const { return seconds.legendre + seconds.ring_fft; }
};

Row predict(const TransformScaling& scaling, const Machine& machine, int n_ranks, int n_threads) {
  Row row;
  row.shares = scaling.shares(n_ranks);
  TransformWork work = row.shares.largest;
  work.n_threads = n_threads;
  row.seconds = estimate_transform(work, machine);
  if (n_ranks > 1) {
    row.dense_printed = printed_exchange_seconds(row.shares.dense, machine.network);
    row.dense_corrected = corrected_exchange_seconds(row.shares.dense, machine.network);
  }
  return row;
}

/// The least power of two at which `communication` takes longer than the computation.
template <class Communication>
std::optional<int> critical_ranks(const TransformScaling& scaling, const Machine& machine,
                                  int n_threads, const Communication& communication) {
  for (int n_ranks = 2; n_ranks <= 65536; n_ranks *= 2) {
    const Row row = predict(scaling, machine, n_ranks, n_threads);
    if (communication(row) > row.computation().seconds) return n_ranks;
  }
  return std::nullopt;
}

nlohmann::ordered_json json_of(const Row& row) {
  return {
      {"ranks", row.shares.largest.n_ranks},
      {"legendre_seconds", row.seconds.legendre.seconds},
      {"ring_fft_seconds", row.seconds.ring_fft.seconds},
      {"exchange_seconds", row.seconds.exchange.seconds},
      {"total_seconds", row.seconds.total().seconds},
      {"uncertainty_seconds", row.seconds.total().sigma},
      {"dense_exchange_seconds", row.dense_corrected},
      {"dense_exchange_seconds_as_printed", row.dense_printed},
      {"sent_bytes", row.shares.largest.sent_bytes},
      {"memory_bytes", row.shares.largest_bytes},
  };
}

std::string ranks_text(const std::optional<int>& ranks) {
  return ranks ? fmt::format("{} ranks", *ranks) : "more than 65536 ranks";
}

}  // namespace

int model(Run& run, const ModelOptions& options) {
  const std::vector<int> ranks = parse_ranks(options.ranks);
  run.outputs.announce(options.json, OutputContent::report);
  stay_on_host(run, options.transform.backend, "a prediction");
  const std::string& fields = options.transform.fields;
  const TransformSpec spec = make_spec(options.transform, named_grid(options.transform),
                                       fields_named(fields.empty() ? "T" : fields).fields);
  const int n_threads = run.options.threads > 0 || std::getenv("OMP_NUM_THREADS") != nullptr
                            ? omp_get_max_threads()
                            : 1;
  const TransformScaling scaling(spec);
  run.say(
      fmt::format("one transform: {}, lmax {}, mmax {}, {} component(s), {} thread(s) a rank; "
                  "machine: {}",
                  spec.grid->name(), spec.lmax, spec.mmax, spec.fields.n_components(), n_threads,
                  run.machine.name));
  run.say(fmt::format("{:>8}{:>12}{:>12}{:>12}{:>12}{:>9}{:>14}{:>14}{:>12}{:>12}", "ranks",
                      "Legendre, s", "ring FFT, s", "exchange, s", "total, s", "+- %",
                      "dense exch., s", "as printed, s", "sent", "memory"));
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const int n_ranks : ranks) {
    const Row row = predict(scaling, run.machine, n_ranks, n_threads);
    const Estimate total = row.seconds.total();
    run.say(fmt::format(
        "{:>8}{:>12.3g}{:>12.3g}{:>12.3g}{:>12.3g}{:>9.0f}{:>14.3g}{:>14.3g}{:>12}{:>12}", n_ranks,
        row.seconds.legendre.seconds, row.seconds.ring_fft.seconds, row.seconds.exchange.seconds,
        total.seconds, 100 * total.sigma / total.seconds, row.dense_corrected, row.dense_printed,
        bytes_text(static_cast<double>(row.shares.largest.sent_bytes)),
        bytes_text(static_cast<double>(row.shares.largest_bytes))));
    rows.push_back(json_of(row));
  }
  const auto critical = [&](auto communication) {
    return critical_ranks(scaling, run.machine, n_threads, communication);
  };
  const auto ours = critical([](const Row& row) { return row.seconds.exchange.seconds; });
  const auto dense = critical([](const Row& row) { return row.dense_corrected; });
  const auto printed = critical([](const Row& row) { return row.dense_printed; });
  run.say(
      fmt::format("the exchange first takes longer than the computation at {} (dense: {}; dense, "
                  "Eq. 17 as printed: {})",
                  ranks_text(ours), ranks_text(dense), ranks_text(printed)));
  if (options.json.empty()) return 0;
  const auto number = [](const std::optional<int>& n) {
    return n ? nlohmann::ordered_json(*n) : nlohmann::ordered_json();
  };
  const nlohmann::ordered_json json = {{"grid", spec.grid->name()},
                                       {"lmax", spec.lmax},
                                       {"mmax", spec.mmax},
                                       {"components", spec.fields.n_components()},
                                       {"threads", n_threads},
                                       {"machine", run.machine.name},
                                       {"critical_ranks", number(ours)},
                                       {"critical_ranks_dense", number(dense)},
                                       {"critical_ranks_dense_as_printed", number(printed)},
                                       {"rows", rows}};
  write_text(run, options.json, json.dump(1) + '\n');
  return 0;
}

}  // namespace ringweave
