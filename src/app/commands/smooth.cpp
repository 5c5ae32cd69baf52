// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/commands/commands.hpp"
#include "app/map_batch.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "app/smooth/smooth_maps.hpp"
#include "base/checked_cast.hpp"
#include "io/field_files.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/smoothing.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Defaults of another program's smoothing.
struct Compatibility {
  int n_iter;
  const char* unseen;
  const char* remove;
  bool put_back;
  bool lmax_is_two_nside;
};

Compatibility compatibility(const std::string& name) {
  if (name == "healpy") return {3, "restore", "none", false, false};
  if (name == "cxx") return {0, "zero", "monopole", true, false};
  return {0, "zero", "none", false, true};  // f90
}

/// UsageError where --method and the options that belong to one method do not go together.
void require_options_of_method(const SmoothOptions& options) {
  const std::string& method = options.method;
  if (options.harmonic_ranks && method != "split") {
    throw UsageError(
        "--harmonic-ranks: only --method split has two parts to deal to ranks; add it, or leave "
        "--harmonic-ranks out");
  }
  if (!options.transform.stage.empty() && method == "ring") {
    throw UsageError(
        "--stage: --method ring has no stages of a transform; leave it out, or use --method "
        "harmonic or split");
  }
  if (method == "ring") return;
  if (method == "split") {
    if (options.support.empty()) return;
    throw UsageError("--support: --method split finds the support itself; leave it out");
  }
  if (!options.support.empty())
    throw UsageError(
        "--support: only --method ring cuts the kernel at an angle; add it, or leave --support "
        "out");
  const char* of_cuts = option_of_cuts(options);
  if (method == "harmonic" && of_cuts != nullptr) {
    throw UsageError(
        fmt::format("{}: --method harmonic cuts no kernel; leave {} out, or use --method ring, "
                    "split or auto",
                    of_cuts, of_cuts));
  }
}

/// UsageError where an option speaks of an analysis of all degrees and there is none: all fields go
/// by rings, or by a split kernel up to --lmax.
void refuse_transform_options(const SmoothOptions& options) {
  const bool is_split = options.method == "split";
  const AnalysisOptions& analysis = options.analysis;
  const char* given = analysis.n_iter.value_or(0) > 0            ? "--iter"
                      : analysis.tolerance > 0                   ? "--tol"
                      : analysis.weights != "none"               ? "--weights"
                      : !is_split && options.transform.lmax >= 0 ? "--lmax"
                      : options.transform.mmax >= 0              ? "--mmax"
                      : options.transform.exchange != "double"   ? "--exchange"
                                                                 : nullptr;
  if (given == nullptr) return;
  throw UsageError(
      fmt::format("{} has no meaning with --method {}, which {}; leave it out, or use --method "
                  "harmonic",
                  given, options.method,
                  is_split ? "takes the kernel's few degrees as they are"
                           : "sums over pixels and makes no a_lm"));
}

/// The grid of --nside or --grid; null without. Error  UsageError where it and --method, which
/// would keep the grid, do not go together.
std::shared_ptr<const RingGrid> new_grid_of(const SmoothOptions& options) {
  if (options.transform.nside == 0 && options.transform.grid.empty()) return nullptr;
  if (options.method == "ring" || options.method == "split") {
    throw UsageError(
        fmt::format("--method {} keeps the grid of the map; with --nside or --grid use --method "
                    "harmonic",
                    options.method));
  }
  if (const char* of_cuts = option_of_cuts(options); of_cuts != nullptr) {
    throw UsageError(
        fmt::format("{} is about kernels on rings; with --nside or --grid leave it out", of_cuts));
  }
  return named_grid(options.transform);
}

SmoothingOptions smoothing_of(const AnalysisOptions& analysis, int usual_n_iter) {
  SmoothingOptions smoothing;
  smoothing.tolerance = analysis.tolerance;
  smoothing.n_iter = analysis.tolerance > 0 ? 0 : analysis.n_iter.value_or(usual_n_iter);
  smoothing.unseen = unseen_policy(analysis.unseen);
  smoothing.remove = remove_choice(analysis.remove);
  smoothing.put_back = analysis.put_back ? MaskOptions::PutBack::yes : MaskOptions::PutBack::no;
  return smoothing;
}

/// Collective.
std::unique_ptr<SmoothingMethod> method_of(Run& run, SmoothJob& job) {
  const std::string& name = job.options.method;
  if (job.new_grid != nullptr) return resolution_method(run, job);
  if (name == "auto") return fastest_method(run, job);
  if (name == "harmonic") return harmonic_method(run, job, job.options.transform);
  refuse_transform_options(job.options);
  if (name == "split") return split_method(run, job);
  return ring_method(run, job, cut_for_rings(run, job));
}

}  // namespace

int smooth(Run& run, const SmoothOptions& asked) {
  SmoothJob job;
  job.options = asked;
  SmoothOptions& options = job.options;
  require_options_of_method(options);
  if (!options.split.empty() && options.method != "split") {
    throw UsageError(
        "--split: only --method split takes the split of a file; add it, or leave --split out");
  }
  require_one_kernel(options);
  const Compatibility defaults = compatibility(options.compat);
  AnalysisOptions& analysis = options.analysis;
  if (analysis.unseen.empty()) analysis.unseen = defaults.unseen;
  if (analysis.remove.empty()) {
    analysis.remove = defaults.remove;
    analysis.put_back = analysis.put_back || defaults.put_back;
  }
  job.new_grid = new_grid_of(options);
  const bool may_iterate = options.method == "auto" || options.method == "harmonic";
  job.smoothing = smoothing_of(analysis, may_iterate ? defaults.n_iter : 0);

  job.maps = list_smoothings(run, options);
  if (job.maps.to_do.empty()) {
    report_nothing_to_do(run, job.maps);
    return 0;
  }
  open_inputs(run, job);
  require_map_file(job.maps.to_do.front().output,
                   job.new_grid != nullptr ? *job.new_grid : *job.header.grid);
  if (job.choice.name == "QU" && job.smoothing.remove != Remove::none) {
    if (!asked.analysis.remove.empty())
      throw UsageError("--remove fits T; with Q and U only use --remove none");
    analysis.remove = "none";
    job.smoothing.remove = Remove::none;
  }
  if (job.choice.name == "all" && job.smoothing.remove != Remove::none)
    throw UsageError("--remove fits T; with --fields all use --remove none");
  job.usual_lmax = defaults.lmax_is_two_nside && job.grid->nside() > 0
                       ? checked_cast<int>(2 * job.grid->nside(), "lmax")
                       : job.grid->default_lmax();
  if (job.new_grid != nullptr)
    job.usual_lmax = std::min(job.usual_lmax, job.new_grid->default_lmax());
  job.precision = storage_precision(options.transform.precision, job.header.precision);
  return smooth_maps(run, job, *method_of(run, job));
}

}  // namespace ringweave::detail::inline app
