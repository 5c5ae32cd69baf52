// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/jobs/slurm_job.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/transform_report.hpp"
#include "app/stage_places.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr double usual_signal_seconds = 300;
constexpr double longest_usual_limit = 12 * 3600;
/// Defaults of jobs/scaling_study.
constexpr int studied_repeats = 3;
constexpr int studied_methods = 2;

/// The work of the files in jobs/, and their default sizes.
enum class Task { smoothing, synthesis, many_syntheses, study };
struct JobKind {
  std::string_view name;
  Task task;
  int nodes, tasks_per_node, threads;
  int maps;   ///< realisations; 1: no --maps option
  int batch;  ///< maps per transform
};
constexpr std::array job_kinds = {
    JobKind{"cpu_node", Task::smoothing, 1, 8, 16, 1, 1},
    JobKind{"cpu_nodes", Task::synthesis, 4, 8, 16, 1, 1},
    JobKind{"gpu_nodes", Task::smoothing, 2, 4, 16, 1, 1},
    JobKind{"realisations", Task::synthesis, 1, 1, 16, 100, 1},
    JobKind{"scaling", Task::study, 4, 8, 16, 1, 1},
    JobKind{"time_limited", Task::many_syntheses, 1, 8, 16, 1000, 4},
};

/// A requested job with defaults filled in.
struct Job {
  const JobKind* kind;
  JobsOptions options;
  int threads;
  int ranks;
  int batch;           ///< maps per transform
  TransformSpec spec;  ///< of one batch
  StagePlaces stages;

  bool has_many_maps() const { return kind->maps > 1; }
  bool is_on_devices() const { return kind->name == "gpu_nodes"; }
};

void require_word(const char* option, const std::string& value) {
  constexpr std::size_t most_letters = 250;
  if (value.size() > most_letters) {
    throw UsageError(fmt::format("{}: a name of {} letters; expected at most {}", option,
                                 value.size(), most_letters));
  }
  constexpr const char* allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.,+-";
  if (value.find_first_not_of(allowed) == std::string::npos) return;
  throw UsageError(fmt::format(
      "{} {}: expected a name of letters, digits and _ . , + -, as Slurm takes it", option, value));
}

Job job_of(const Run& run, const JobsOptions& asked) {
  const auto kind = std::find_if(job_kinds.begin(), job_kinds.end(),
                                 [&](const JobKind& k) { return k.name == asked.kind; });
  if (kind == job_kinds.end()) throw InternalError("no kind of job for jobs/" + asked.kind);
  Job job{&*kind, asked, run.options.threads > 0 ? run.options.threads : kind->threads, 0, 0,
          {},     {}};
  JobsOptions& options = job.options;
  if (options.maps > 0 && !job.has_many_maps())
    throw UsageError(fmt::format("--maps: {} makes no realisations; leave it out", kind->name));
  if (kind->name == "cpu_node" && options.nodes > 1)
    throw UsageError(fmt::format("--nodes {}: cpu_node has one; use cpu_nodes", options.nodes));
  if (kind->task == Task::study && options.fields != "T")
    throw UsageError(fmt::format("--fields {}: a study is of scalar maps; use T", options.fields));
  if (job.is_on_devices()) job.stages = {Backend::cuda, Backend::cuda};
  if (!options.stage.empty()) {
    if (!job.is_on_devices())
      throw UsageError(fmt::format("--stage {}: the nodes of {} have no GPU; use gpu_nodes",
                                   options.stage, kind->name));
    job.stages = stage_places_named(options.stage);
    if (!job.stages.use_a_device())
      throw UsageError(fmt::format("--stage {}: leaves the GPUs of gpu_nodes idle; use cpu_nodes",
                                   options.stage));
  }
  if (options.nodes == 0) options.nodes = kind->nodes;
  if (options.tasks_per_node == 0) options.tasks_per_node = kind->tasks_per_node;
  if (options.maps == 0) options.maps = kind->maps;
  if (options.nodes > most_predicted_ranks / options.tasks_per_node)
    throw UsageError(fmt::format("{} nodes with {} tasks: expected at most {} ranks", options.nodes,
                                 options.tasks_per_node, most_predicted_ranks));
  require_word("--account", options.account);
  require_word("--partition", options.partition);
  job.ranks = options.nodes * options.tasks_per_node;

  TransformOptions transform;
  transform.nside = options.nside;
  transform.lmax = options.lmax;
  const FieldSet fields = fields_named(options.fields).fields;
  job.batch = std::min(kind->batch, options.maps);
  std::vector<int> spins;
  for (int map = 0; map < job.batch; ++map)
    for (const FieldSet::Field& field : fields.fields()) spins.push_back(field.spin);
  job.spec = make_spec(transform, named_grid(transform), FieldSet(spins));
  options.lmax = job.spec.lmax;
  return job;
}

JobWork job_work(const Job& job) {
  switch (job.kind->task) {
    // Three corrections, the default of the program.
    case Task::smoothing: {
      const TransformCount count = planned_analysis(3, 0, PixelWeights::none);
      const bool on_spectra = job.stages.ring_fft == Backend::host;
      return {.n_transforms = count.all_fields + 1,
              .n_on_spectra = on_spectra ? count.all_fields_on_spectra : 0,
              .n_maps_read = 1,
              .n_residual_maps = on_spectra ? 0 : 1};
    }
    case Task::synthesis: return {};
    // A map is written while the next ones are computed.
    case Task::many_syntheses: return {.n_maps_held = 2};
    // One synthesis and one analysis without corrections.
    case Task::study: return {.n_transforms = 2, .n_maps_read = 1};
  }
  throw InternalError("a job without work");
}

struct Prediction {
  JobPrediction one;  ///< of a command or a batch of maps; in a study on one rank
  Estimate job;       ///< of all batches of a launch, or all runs of a study
  int n_launches = 1;
  std::int64_t of_node = 0;        ///< bytes
  std::int64_t of_device = 0;      ///< bytes per rank
  double over_half_the_nodes = 0;  ///< transform seconds over those on half the nodes
};

/// Returns the numbers of ranks of a study: powers of two.
std::vector<int> studied_ranks(const Job& job) {
  std::vector<int> ranks;
  for (int n = 1; n <= job.ranks; n *= 2) ranks.push_back(n);
  return ranks;
}

Prediction predict(const Job& job, const Machine& machine) {
  const TransformScaling scaling(job.spec);
  const int tasks_per_node = job.options.tasks_per_node;
  const ScalingPlace place{machine.device ? place_of(job.stages) : Place::host, job.threads,
                           job.stages.on_device()};
  const auto on = [&](int ranks) {
    return predict_job(scaling, job.spec, job_work(job), ranks, place, machine);
  };
  Prediction prediction;
  if (job.kind->task == Task::study) {
    prediction.one = on(1);
    for (const int ranks : studied_ranks(job)) {
      const JobPrediction run = on(ranks);
      prediction.n_launches += studied_methods * studied_repeats;
      prediction.job = prediction.job + studied_methods * studied_repeats * run.whole;
      prediction.of_node =
          std::max(prediction.of_node, node_bytes(run, std::min(ranks, tasks_per_node)));
    }
    // The weak-scaling part uses at most as many nodes and has less work.
    prediction.job = 2 * prediction.job;
    prediction.n_launches *= 2;
    return prediction;
  }
  prediction.one = on(job.ranks);
  prediction.of_node = node_bytes(prediction.one, tasks_per_node);
  if (job.is_on_devices() && !job.stages.are_mixed())
    prediction.of_device = largest_device_bytes(job.spec, job.ranks);
  const bool in_one_launch = job.kind->task == Task::many_syntheses;
  const int n_batches = in_one_launch ? (job.options.maps + job.batch - 1) / job.batch : 1;
  prediction.job = n_batches * prediction.one.whole;
  if (job.options.nodes > 1) {
    const int half = job.options.nodes / 2 * tasks_per_node;
    prediction.over_half_the_nodes =
        prediction.one.transforms.seconds / on(half).transforms.seconds;
  }
  return prediction;
}

/// Returns the seconds before the limit at which Slurm sends its signal: enough to finish the
/// current batch.
double signal_seconds(const Prediction& prediction) {
  const Estimate& batch = prediction.one.whole;
  return std::max(usual_signal_seconds, 60 * std::ceil(2 * (batch.seconds + batch.sigma) / 60));
}

/// Returns the default time limit: five minutes to start, ten seconds for every further launch, and
/// twice the predicted time plus one standard deviation.
double usual_limit(const Job& job, const Prediction& prediction) {
  const Estimate& whole = prediction.job;
  const double limit = 300 + 10 * (prediction.n_launches - 1) + 2 * (whole.seconds + whole.sigma);
  const double rounded = 300 * std::ceil(limit / 300);
  if (job.kind->task != Task::many_syntheses) return rounded;
  const double least = 2 * signal_seconds(prediction);
  return std::max(least, std::min(rounded + signal_seconds(prediction), longest_usual_limit));
}

double limit_seconds(const Job& job, const Prediction& prediction) {
  return job.options.time.empty() ? usual_limit(job, prediction)
                                  : slurm_seconds(job.options.time, "--time");
}

std::string own_command(const Job& job, const Run& run) {
  const JobsOptions& options = job.options;
  std::string line = fmt::format(
      "ringweave jobs {} --nodes {} --tasks-per-node {} --threads {} --nside {} --lmax "
      "{} --fields {}",
      options.kind, options.nodes, options.tasks_per_node, job.threads, options.nside, options.lmax,
      options.fields);
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) line += fmt::format(" {} {}", option, value);
  };
  add("--maps", job.has_many_maps() ? std::to_string(options.maps) : "");
  add("--stage", options.stage);
  add("--machine", run.options.machine);
  add("--time", options.time);
  add("--account", options.account);
  add("--partition", options.partition);
  return line;
}

std::string time_text(const Job& job, const Prediction& prediction, const Machine& machine) {
  const Estimate& one = prediction.one.whole;
  std::string text =
      fmt::format("{} +- {:.0f} %", duration_text(one.seconds), 100 * one.sigma / one.seconds);
  if (job.kind->task == Task::many_syntheses) {
    text += fmt::format(" for {} maps together, {} for all {}", job.batch,
                        duration_text(prediction.job.seconds), job.options.maps);
  } else if (job.kind->task == Task::study) {
    text += fmt::format(" on one rank, {} for the study", duration_text(prediction.job.seconds));
  } else if (job.has_many_maps()) {
    text += " for a realisation";
  }
  text += fmt::format("; machine: {}", machine.name);
  if (job.is_on_devices() && !machine.device) text += ", its processors: it has no GPU";
  return text;
}

/// Replaces control characters, e.g. in a file name, which must not begin a new line of a script.
std::string on_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < ' '; }, ' ');
  return text;
}

std::string device_memory_text(const Job& job, const Prediction& prediction) {
  if (job.stages.are_mixed()) return "little: data go through a GPU in blocks that fit it";
  const std::string which = job.ranks > most_device_plans
                                ? fmt::format("largest of {} ranks", most_device_plans)
                                : "largest rank";
  return fmt::format("{} for the {}; where a GPU has less, data stay on the host",
                     bytes_text(static_cast<double>(prediction.of_device)), which);
}

std::vector<JobLine> lines_of(const Job& job, const Prediction& prediction, const Run& run) {
  const JobsOptions& options = job.options;
  const auto of_node = static_cast<double>(prediction.of_node);
  const double gib = std::ceil(of_node / (1 << 30));
  const auto optional_line = [](const char* name, const std::string& value) {
    return value.empty() ? "" : fmt::format("\n#SBATCH --{}={}", name, value);
  };
  const std::string memory = fmt::format(
      "{} for the largest rank; with the program and a fifth more {} a node",
      bytes_text(static_cast<double>(prediction.one.largest_bytes)), bytes_text(of_node));
  return {
      {"# Made by             ", on_one_line(own_command(job, run))},
      {"# Predicted time      ", on_one_line(time_text(job, prediction, run.machine))},
      {"# Predicted memory    ", memory},
      {"# Predicted host memory ", memory},
      {"# Predicted GPU memory  ", device_memory_text(job, prediction)},
      {"#SBATCH --job-name=", "ringweave" + optional_line("account", options.account) +
                                  optional_line("partition", options.partition)},
      {"#SBATCH --nodes=", std::to_string(options.nodes)},
      {"#SBATCH --ntasks-per-node=", std::to_string(options.tasks_per_node)},
      {"#SBATCH --gpus-per-node=", std::to_string(options.tasks_per_node)},
      {"#SBATCH --cpus-per-task=", std::to_string(job.threads)},
      {"#SBATCH --array=", fmt::format("1-{}", options.maps)},
      {"#SBATCH --mem=", fmt::format("{:.0f}G", gib)},
      {"#SBATCH --time=",
       options.time.empty() ? slurm_time(usual_limit(job, prediction)) : options.time},
      {"#SBATCH --signal=USR1@", fmt::format("{:.0f}", signal_seconds(prediction))},
      {"nside=", std::to_string(options.nside)},
      {"lmax=", std::to_string(options.lmax)},
      {"lmax_over_nside=",
       fmt::format("{}", static_cast<double>(options.lmax) / static_cast<double>(options.nside))},
      {"ranks=", fmt::format("({})", fmt::join(studied_ranks(job), " "))},
      {"weak_ranks=", std::to_string(job.ranks / 4)},
      {"fields=", options.fields},
      {"place=",
       fmt::format("({})", options.stage.empty() ? "--backend cuda" : "--stage " + options.stage)},
      {"maps=", std::to_string(options.maps)},
      {"batch=", std::to_string(job.batch)},
  };
}

void warn_of_poor_choices(Run& run, const Job& job, const Prediction& prediction) {
  const JobsOptions& options = job.options;
  constexpr double hardly_faster = 0.8;
  if (prediction.over_half_the_nodes > hardly_faster)
    run.warn(
        fmt::format("the transforms on {} nodes are predicted to take {:.2f} of the time on {}: "
                    "fewer --nodes leave more to others",
                    options.nodes, prediction.over_half_the_nodes, options.nodes / 2));
  const std::int64_t ring_pairs = (job.spec.grid->n_rings() + 1) / 2;
  const std::int64_t most_busy = std::min(std::int64_t{job.spec.mmax} + 1, ring_pairs);
  if (job.ranks > most_busy)
    run.warn(
        fmt::format("{} ranks share {} orders and {} pairs of rings: some will idle; fewer "
                    "ranks with more --threads each use the cores",
                    job.ranks, job.spec.mmax + 1, ring_pairs));
  const double limit = limit_seconds(job, prediction);
  if (job.kind->task == Task::many_syntheses) {
    const double needed = signal_seconds(prediction) + prediction.one.whole.seconds;
    if (limit < needed)
      run.warn(
          fmt::format("--time {} ends before the first {} maps are predicted to be done and "
                      "the signal is due: at least {}",
                      options.time, job.batch, slurm_time(needed + 60)));
  } else if (limit < prediction.job.seconds) {
    run.warn(fmt::format("--time {} is less than the {} that are predicted", options.time,
                         duration_text(prediction.job.seconds)));
  }
  const auto of_node = static_cast<double>(prediction.of_node);
  const double has = options.node_memory_gib * (1 << 30);
  if (options.node_memory_gib > 0 && of_node > has)
    run.warn(fmt::format("a node needs {} and has {}: use about {:.0f} nodes", bytes_text(of_node),
                         bytes_text(has), std::ceil(options.nodes * of_node / has)));
  if (job.is_on_devices() && !run.machine.device)
    run.warn(
        "predicted for the processors of a machine without GPUs: --time may be much too long; "
        "--machine h100_cluster or a100_cluster has some");
}

}  // namespace

int jobs(Run& run, const JobsOptions& options) {
  run.outputs.announce(options.output, OutputContent::report);
  const Job job = job_of(run, options);
  run.outputs.require_writable();
  const Prediction prediction = predict(job, run.machine);
  const std::string script = job_script(options.kind, lines_of(job, prediction, run));
  warn_of_poor_choices(run, job, prediction);
  if (run.options.dry_run) {
    run.print_line(fmt::format("predicted: {}", time_text(job, prediction, run.machine)));
    return 0;
  }
  if (options.output.empty()) {
    run.print_line(script.substr(0, script.size() - 1));
    return 0;
  }
  write_text(run, options.output, script);
  run.conclusion = fmt::format("{}: predicted {}; submit it: sbatch {}", options.output,
                               time_text(job, prediction, run.machine), options.output);
  return 0;
}

}  // namespace ringweave::detail::inline app
