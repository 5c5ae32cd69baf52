// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/report/plan_table.hpp"
#include "app/smooth/smooth_rings.hpp"
#include "app/smooth/smooth_split.hpp"
#include "base/error.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {
namespace {

/// Why rings are no choice, in words that follow "because"; empty where they are.
std::string why_not_rings(const SmoothJob& job) {
  const SmoothOptions& options = job.options;
  if (job.smoothing.n_iter > 0)
    return fmt::format("--iter {} corrects the quadrature, which takes a_lm", job.smoothing.n_iter);
  if (job.smoothing.tolerance > 0) return "--tol corrects the quadrature, which takes a_lm";
  if (options.analysis.weights != "none") return "--weights are those of an analysis";
  if (job.choice.fields.max_spin() > 0) return "Q and U have spin";
  return "";
}

/// The least lmax, up to `most`, that leaves no more than half of the error to the degrees beyond.
int sufficient_lmax(const CutKernel& cut, int most) {
  int low = 0;
  int high = most;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (cut.rms_beyond(middle) > cut.error / 2) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

/// Of all maps of the job and the plan they share.
Estimate of_all_maps(const SmoothJob& job, const Estimate& of_a_map, const Estimate& planning) {
  return static_cast<double>(job.maps.n()) * of_a_map + planning;
}

struct HarmonicChoice {
  int lmax = 0;
  Estimate seconds;
};

/// Collective.
HarmonicChoice predict_harmonic(Run& run, const SmoothJob& job, Backend backend, int lmax) {
  TransformOptions options = job.options.transform;
  options.lmax = lmax;
  if (options.mmax > lmax) options.mmax = lmax;
  TransformSpec spec = make_spec(options, job.grid, job.choice.fields, job.usual_lmax);
  spec.backend = backend;
  const auto plan =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), run.comm.size()); });
  const int n_masks = job.is_normalized() ? 2 : 0;
  return {lmax, of_all_maps(job, predict_transforms(run, plan, {2, n_masks, false}).total,
                            estimate_planning(spec, run.machine))};
}

/// Rings, where they compute what was asked.
struct RingChoice {
  std::optional<RingJob> job;
  std::string against;  ///< why not, in words that follow "because"
  Estimate seconds;
};

/// Collective.
RingChoice plan_ring_choice(Run& run, const SmoothJob& job, int lmax) {
  RingChoice rings;
  try {
    rings.job.emplace(plan_rings(run, job));
  } catch (const UsageError& error) {
    rings.against = fmt::format("rings refuse: {}", error.what());
    return rings;
  }
  // What the harmonic way cuts off and rings do not.
  const double beyond = rings.job->cut.rms_beyond(lmax);
  if (beyond > rings.job->cut.error) {
    rings.against = fmt::format(
        "the kernel has {:.2g} (rms) above lmax = {}, which rings would keep", beyond, lmax);
    rings.job.reset();
    return rings;
  }
  // All ranks must come to the same choice, whatever threads each has.
  rings.seconds =
      of_slowest(run.comm, of_all_maps(job, predict_rings(run, job, *rings.job).total,
                                       estimate_planning(rings.job->plan, run.machine)));
  return rings;
}

/// A split kernel, where one is allowed and the search for it could pay. Collective.
std::optional<SplitJob> search_where_it_pays(Run& run, const SmoothJob& job, int lmax,
                                             double seconds_to_beat) {
  if (!against_split(job).empty()) return std::nullopt;
  if (run.machine.split_search.estimate(lmax, 1).seconds > seconds_to_beat) return std::nullopt;
  try {
    return plan_split(run, job);
  } catch (const UsageError&) {
    return std::nullopt;  // none keeps the error
  }
}

int take_harmonic(Run& run, SmoothJob& job, const std::string& why) {
  run.say(fmt::format("method: harmonic, because {}", why));
  return smooth_with_transform(run, job);
}

}  // namespace

int smooth_the_fastest_way(Run& run, SmoothJob& job) {
  if (const std::string why = why_not_rings(job); !why.empty()) {
    if (!job.options.input_cl.empty()) {
      throw UsageError(
          fmt::format("--input-cl weights --error, which does not count because {}; leave it out, "
                      "or use --method ring",
                      why));
    }
    return take_harmonic(run, job, why);
  }
  const int asked = job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
  RingChoice rings = plan_ring_choice(run, job, asked);
  const Backend backend = choose_backend(run, job.options.transform.backend);
  const HarmonicChoice harmonic = predict_harmonic(
      run, job, backend, rings.job ? sufficient_lmax(rings.job->cut, asked) : asked);
  const double least = rings.job ? std::min(rings.seconds.seconds, harmonic.seconds.seconds)
                                 : harmonic.seconds.seconds;
  const std::optional<SplitJob> split = search_where_it_pays(run, job, asked, least);
  if (!rings.job && !split) return take_harmonic(run, job, rings.against);

  const double error = rings.job ? rings.job->cut.error : split->split.error().total;
  std::vector<std::string> ways;
  if (rings.job) ways.push_back("rings " + seconds_text(rings.seconds));
  ways.push_back(
      fmt::format("harmonics with lmax {} {}", harmonic.lmax, seconds_text(harmonic.seconds)));
  bool split_wins = false;
  if (split) {
    const SplitPlan& plan = split->plan;
    Estimate planning = estimate_planning(plan.rings, run.machine);
    if (plan.harmonic) planning = planning + estimate_planning(plan.harmonic->spec, run.machine);
    const Estimate seconds = of_all_maps(job, predict_split(run, job, *split).total, planning);
    split_wins = seconds.seconds < least;
    ways.push_back(
        fmt::format("split at l_cut {} {}", split->split.best().l_cut, seconds_text(seconds)));
  }
  const bool rings_win = !split_wins && rings.job && rings.seconds.seconds == least;
  run.say(fmt::format("method: {}, predicted to be the fastest to a relative error of {:.2g}: {}{}",
                      split_wins  ? "split"
                      : rings_win ? "ring"
                                  : "harmonic",
                      error, fmt::join(ways, ", "),
                      rings.against.empty() ? "" : "; " + rings.against));
  if (split_wins) {
    rings.job.reset();
    return smooth_by_split(run, job, *split);
  }
  if (rings_win) return smooth_on_rings(run, job, *rings.job);
  job.options.transform.lmax = harmonic.lmax;
  rings.job.reset();
  return smooth_with_transform(run, job);
}

}  // namespace ringweave
