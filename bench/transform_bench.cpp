// SPDX-License-Identifier: GPL-3.0-or-later
// Times whole transforms: seconds of each stage, GFLOP/s and share of the measured peak, bytes
// exchanged, errors.
//   transform_bench --grid healpix:1024 --lmax 2048 --fields TEB
//   scripts/mpirun.sh 2 transform_bench --grid gauss:2047 --directions synthesis analysis --iter 0
// With --commands it reads commands from another program line by line, and answers each with one
// JSON line, so that both can alternate (bench/compare_peers.py):
//   check | DIRECTION COUNT | write input|map|alm FILE
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "bench/command_line.hpp"
#include "bench/json_file.hpp"
#include "bench/median.hpp"
#include "bench/run_bench.hpp"
#include "bench/transform_trial.hpp"
#include "distribute/mpi/agree.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

struct Options {
  std::string grid = "healpix:512";
  int lmax = -1;
  int spin = 0;
  int maps = 1;
  std::string fields;
  std::string precision = "double";
  std::string exchange = "double";
  std::string theta = "automatic";
  std::string backend = "host";
  std::int64_t mode_bytes = std::numeric_limits<std::int64_t>::max();
  std::vector<std::string> directions = {"synthesis", "adjoint"};
  int iterations = 3;
  int repeats = 5;
  std::string json_file;
  std::string commands;
};

void add_options(CommandLine& command, Options& options) {
  command.add("--grid", &options.grid, "healpix:NSIDE, gauss:LMAX, clenshaw:NRINGS, ...");
  command.add("--lmax", &options.lmax, "Highest degree; -1: 2 nside, or that of the grid");
  command.add("--spin", &options.spin, "Spin of the maps");
  command.add("--maps", &options.maps, "How many go through at once");
  command.add("--fields", &options.fields, "TEB: T with E and B, spins 0 and 2 together", {"TEB"});
  command.add("--precision", &options.precision, "How maps and a_lm are stored",
              {"double", "single"});
  command.add("--exchange", &options.exchange,
              "How ring modes are exchanged: in double or single precision, or overlapped with "
              "the Legendre stage",
              {"double", "single", "overlap"});
  command.add(
      "--theta", &options.theta,
      "Where Legendre sums are formed: on the rings of the grid, or on equidistant ones and "
      "resampled",
      {"automatic", "direct", "resampled"});
  command.add("--backend", &options.backend,
              "Where the stages run; a_lm and maps come from the host's memory and go there, "
              "and the peak is that of the host's threads",
              {"host", "cuda"});
  command.add("--mode-bytes", &options.mode_bytes,
              "Limit of the ring modes of one rank: the maps go in groups; default none");
  command.add("--directions", &options.directions, "Any of synthesis, adjoint, analysis",
              {"synthesis", "adjoint", "analysis"});
  command.add("--iter", &options.iterations, "Iterations of the analysis");
  command.add("--repeats", &options.repeats, "Measurements; the table shows their median");
  command.add("--json", &options.json_file, "Write the table here too, with every measurement");
  command.add("--commands", &options.commands,
              "Take turns: read what to do from this file, of several ranks each from "
              "FILE.RANK; '-' with one rank: standard input");
}

TransformSpec make_spec(const Options& options) {
  TransformSpec spec;
  spec.grid = std::make_shared<RingGrid>(RingGrid::from_name(options.grid));
  const std::int64_t nside = spec.grid->nside();
  const int usual = nside > 0 ? static_cast<int>(2 * nside) : spec.grid->default_lmax();
  spec.lmax = spec.mmax = options.lmax >= 0 ? options.lmax : usual;
  if (options.maps < 1) throw UsageError("--maps: expected 1 or more");
  if (options.repeats < 1) throw UsageError("--repeats: expected 1 or more");
  if (!options.fields.empty() && options.spin != 0)
    throw UsageError("--spin: expected none with --fields TEB, which has spins 0 and 2");
  std::vector<int> spins;
  for (int i = 0; i < options.maps; ++i) {
    spins.push_back(options.fields.empty() ? options.spin : 0);
    if (!options.fields.empty()) spins.push_back(2);
  }
  spec.fields = FieldSet(spins);
  spec.mode_bytes = options.mode_bytes;
  if (options.exchange == "single") spec.exchange.precision = ModePrecision::single_;
  if (options.exchange == "overlap") spec.exchange.schedule = ExchangeSchedule::overlapped;
  if (options.backend == "cuda") spec.backend = Backend::cuda;
  if (options.theta == "direct") spec.theta = ThetaRoute::direct;
  if (options.theta == "resampled") spec.theta = ThetaRoute::resampled;
  return spec;
}

json describe(const Communicator& comm, const Options& options, const TransformTrial& trial) {
  const TransformSpec& spec = trial.transform().spec();
  std::vector<int> spins;
  for (const FieldSet::Field& field : spec.fields.fields()) spins.push_back(field.spin);
  return {{"grid", options.grid},
          {"n_rings", spec.grid->n_rings()},
          {"n_pixels", spec.grid->n_pixels()},
          {"lmax", spec.lmax},
          {"spins", spins},
          {"maps", options.maps},
          {"fields", options.fields},
          {"precision", options.precision},
          {"exchange", options.exchange},
          {"theta", options.theta},
          {"backend", options.backend},
          {"groups", trial.transform().plan().groups.size()},
          {"iterations", options.iterations},
          {"ranks", comm.size()},
          {"threads", omp_get_max_threads()},
          {"simd", simd_target_chosen()},
          {"plan_seconds", trial.plan_seconds()}};
}

json describe(Direction direction, const Timing& timing, double peak) {
  // An empty transform takes no time.
  const double legendre = timing.legendre.largest;
  const double rate = legendre > 0 ? timing.legendre_flops / legendre : 0;
  json description = {{"direction", name_of(direction)},
                      {"seconds", timing.seconds},
                      {"gflop_per_s", 1e-9 * rate},
                      {"peak_gflop_per_s", 1e-9 * peak},
                      {"of_peak", rate / peak},
                      {"bytes_sent", timing.bytes_sent},
                      {"bytes_planned", timing.bytes_planned}};
  const auto add = [&](const std::string& name, const StageSeconds& stage) {
    description[name] = stage.largest;
    description[name + "_mean"] = stage.mean;
    description[name + "_least"] = stage.least;
  };
  add("legendre", timing.legendre);
  add("exchange", timing.exchange);
  add("ring_fft", timing.ring_fft);
  return description;
}

json describe(const TrialErrors& errors) {
  json description = {{"adjoint_gap", errors.adjoint_gap}};
  if (errors.round_trip >= 0) description["round_trip"] = errors.round_trip;
  return description;
}

/// Prints an answer, on rank 0 alone.
void say(const Communicator& comm, const json& answer) {
  if (comm.is_root()) std::cout << answer.dump() << std::endl;
}

/// Reads one command. Every rank reads the same lines from its own pipe: it sleeps while it waits,
/// where a collective call would occupy a processor that the other program could use.
void take_turn(const Communicator& comm, const std::string& line, bool with_analysis,
               TransformTrial& trial) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "check") {
    say(comm, describe(trial.check(with_analysis)));
  } else if (verb == "write") {
    std::string what;
    std::string path;
    words >> what >> path;
    trial.write(what, path);
    say(comm, {{"written", path}});
  } else {
    const Direction direction = direction_named(verb);
    int count = 1;
    words >> count;
    const Timing timing = trial.measure(direction, std::max(1, count));
    say(comm, describe(direction, timing, all_threads_fma_peak(comm)));
  }
}

void serve(const Communicator& comm, const Options& options, bool with_analysis,
           TransformTrial& trial) {
  std::ifstream file;
  const bool standard_input = options.commands == "-";
  agree(comm, [&] {
    if (standard_input && comm.size() > 1)
      throw UsageError("--commands -: with several ranks give a file, read as FILE.RANK");
    if (standard_input) return;
    const std::string path =
        comm.size() > 1 ? fmt::format("{}.{}", options.commands, comm.rank()) : options.commands;
    file.open(path);
    if (!file) throw DataError(path, "cannot be read");
  });
  std::istream& commands = standard_input ? std::cin : file;
  for (std::string line; std::getline(commands, line);) take_turn(comm, line, with_analysis, trial);
}

/// The directions alternate, so that other load slows all alike.
std::vector<json> measure_all(const Communicator& comm, const Options& options,
                              TransformTrial& trial) {
  constexpr double shortest = 0.05;  // minimum length of a measurement, for the clock's resolution
  std::vector<json> rows;
  std::vector<int> counts;
  double peak = 0;
  for (int i = 0; i <= options.repeats; ++i) {
    for (std::size_t d = 0; d < options.directions.size(); ++d) {
      const Direction direction = direction_named(options.directions[d]);
      peak = std::max(peak, all_threads_fma_peak(comm));
      if (i == 0) {
        const double once = trial.measure(direction, 1).seconds;
        counts.push_back(static_cast<int>(std::clamp(shortest / once, 1.0, 1e6)));
        rows.emplace_back();
        continue;
      }
      const json one = describe(direction, trial.measure(direction, counts[d]), peak);
      for (const auto& [key, value] : one.items()) rows[d][key].push_back(value);
    }
  }
  for (json& row : rows) {
    json all = row["seconds"];
    const double flops = row["gflop_per_s"][0].get<double>() * row["legendre"][0].get<double>();
    for (auto& [key, value] : row.items()) {
      value =
          value[0].is_number_float() ? json(median(value.get<std::vector<double>>())) : value[0];
    }
    const double legendre = row["legendre"].get<double>();
    row["gflop_per_s"] = legendre > 0 ? flops / legendre : 0.0;
    row["peak_gflop_per_s"] = 1e-9 * peak;
    row["of_peak"] = row["gflop_per_s"].get<double>() / (1e-9 * peak);
    row["every_seconds"] = std::move(all);
  }
  return rows;
}

void print_table(const json& about, const json& errors, const std::vector<json>& rows) {
  fmt::print("{}, lmax {}, {} {} of spin {}, {}, exchange {}, {}; {} rank(s) x {} thread(s), {}\n",
             about["grid"].get<std::string>(), about["lmax"].get<int>(), about["maps"].get<int>(),
             about["fields"].get<std::string>().empty() ? "map(s)" : "set(s) T+E+B",
             fmt::join(about["spins"].get<std::vector<int>>(), ","),
             about["precision"].get<std::string>(), about["exchange"].get<std::string>(),
             about["backend"].get<std::string>(), about["ranks"].get<int>(),
             about["threads"].get<int>(), about["simd"].get<std::string>());
  fmt::print("plan {:.4f} s; FMA peak {:.1f} GFLOP/s; adjointness gap {:.1e}\n\n",
             about["plan_seconds"].get<double>(), rows[0]["peak_gflop_per_s"].get<double>(),
             errors["adjoint_gap"].get<double>());
  fmt::print("{:<10} {:>11} {:>11} {:>11} {:>11} {:>11} {:>8} {:>7} {:>13} {:>13} {:>10}\n",
             "direction", "seconds", "least", "legendre", "exchange", "ring_fft", "GFLOP/s",
             "of peak", "bytes sent", "bytes planned", "round trip");
  for (const json& row : rows) {
    const auto number = [&](const char* key) { return row[key].get<double>(); };
    const auto every = row["every_seconds"].get<std::vector<double>>();
    const bool analysis = row["direction"] == name_of(Direction::analysis);
    fmt::print(
        "{:<10} {:>11.6f} {:>11.6f} {:>11.6f} {:>11.6f} {:>11.6f} {:>8.1f} {:>7.3f} {:>13.0f} "
        "{:>13.0f} {:>10}\n",
        row["direction"].get<std::string>(), number("seconds"),
        *std::min_element(every.begin(), every.end()), number("legendre"), number("exchange"),
        number("ring_fft"), number("gflop_per_s"), number("of_peak"), number("bytes_sent"),
        number("bytes_planned"),
        analysis ? fmt::format("{:.1e}", errors["round_trip"].get<double>()) : "");
  }
}

int run(const Communicator& comm, int argc, char** argv) {
  Options options;
  CommandLine command("Times whole spherical harmonic transforms and checks their answers.");
  add_options(command, options);
  if (const auto code = command.parse(comm, argc, argv)) return *code;
  const TransformSpec spec = agreed(comm, [&] { return make_spec(options); });
  const auto trial = options.precision == "single"
                         ? TransformTrial::make<float>(comm, spec, options.iterations)
                         : TransformTrial::make<double>(comm, spec, options.iterations);
  const bool with_analysis = std::count(options.directions.begin(), options.directions.end(),
                                        name_of(Direction::analysis)) > 0;
  json about = describe(comm, options, *trial);
  if (!options.commands.empty()) {
    say(comm, about);
    serve(comm, options, with_analysis, *trial);
    return 0;
  }
  const json errors = describe(trial->check(with_analysis));
  const std::vector<json> rows = measure_all(comm, options, *trial);
  if (!comm.is_root()) return 0;
  print_table(about, errors, rows);
  about["errors"] = errors;
  about["directions"] = rows;
  write_json(options.json_file, about);
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("transform_bench", argc, argv, ringweave::detail::run);
}
