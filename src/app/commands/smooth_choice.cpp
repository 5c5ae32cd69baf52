// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/commands/smooth_choice.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "app/commands/smooth_rings.hpp"
#include "app/plan_table.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"

namespace ringweave {
namespace {

/// Why rings are no choice, in words that follow "because"; empty where they are.
std::string against_rings(const SmoothJob& job) {
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

struct HarmonicChoice {
  int lmax = 0;
  Estimate seconds;
};

/// Collective.
HarmonicChoice predict_harmonic(Run& run, const SmoothJob& job, int lmax) {
  TransformOptions options = job.options.transform;
  options.lmax = lmax;
  if (options.mmax > lmax) options.mmax = lmax;
  const TransformSpec spec = make_spec(options, job.grid, job.choice.fields, job.usual_lmax);
  const auto plan =
      agreed(run.comm, [&] { return TransformPlan(spec, run.comm.rank(), run.comm.size()); });
  const int n_masks = job.is_normalized() ? 2 : 0;
  return {lmax, predict_transforms(run, plan, {2, n_masks, false}).total +
                    estimate_planning(plan, run.machine)};
}

void take_harmonic(Run& run, SmoothJob& job, const std::string& why) {
  run.say(fmt::format("method: harmonic, because {}", why));
  smooth_with_transform(run, job);
}

}  // namespace

void smooth_the_fastest_way(Run& run, SmoothJob& job) {
  if (const std::string why = against_rings(job); !why.empty()) {
    if (!job.options.input_cl.empty()) {
      throw UsageError(
          fmt::format("--input-cl weights --error, which does not count because {}; leave it out, "
                      "or use --method ring",
                      why));
    }
    return take_harmonic(run, job, why);
  }
  std::optional<RingJob> rings;
  try {
    rings.emplace(plan_rings(run, job));
  } catch (const UsageError& error) {
    return take_harmonic(run, job, fmt::format("rings refuse: {}", error.what()));
  }
  const int asked = job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
  const double error = rings->cut.error;
  // What the harmonic way cuts off and rings do not.
  const double beyond = rings->cut.rms_beyond(asked);
  if (beyond > error) {
    return take_harmonic(
        run, job,
        fmt::format("the kernel has {:.2g} (rms) above lmax = {}, which rings would keep", beyond,
                    asked));
  }
  const HarmonicChoice harmonic = predict_harmonic(run, job, sufficient_lmax(rings->cut, asked));
  const RingPrediction on_rings = predict_rings(run, job, *rings);
  const Estimate ring_seconds = on_rings.total + estimate_planning(rings->plan, run.machine);
  const bool rings_win = ring_seconds.seconds < harmonic.seconds.seconds;
  run.say(
      fmt::format("method: {}, predicted to be the fastest to a relative error of {:.2g}: rings "
                  "{}, harmonics with lmax {} {}",
                  rings_win ? "ring" : "harmonic", error, seconds_text(ring_seconds), harmonic.lmax,
                  seconds_text(harmonic.seconds)));
  if (rings_win) return smooth_on_rings(run, job, *rings);
  job.options.transform.lmax = harmonic.lmax;
  rings.reset();
  smooth_with_transform(run, job);
}

}  // namespace ringweave
