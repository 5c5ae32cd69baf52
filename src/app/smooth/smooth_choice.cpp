// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "app/report/plan_table.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "app/smooth/split_choice.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns why rings are no choice, in words that follow "because"; empty where they are.
std::string why_not_rings(const SmoothJob& job) {
  const SmoothOptions& options = job.options;
  if (job.smoothing.n_iter > 0)
    return fmt::format("--iter {} corrects the quadrature, which takes a_lm", job.smoothing.n_iter);
  if (job.smoothing.tolerance > 0) return "--tol corrects the quadrature, which takes a_lm";
  if (options.analysis.weights != "none") return "--weights are those of an analysis";
  if (!options.transform.stage.empty()) return "--stage names those of a transform";
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

/// Returns rings, where they compute the same as harmonics up to `lmax`, which is lowered as far as
/// the error of rings allows; else `against` says why not, in words that follow "because".
/// Collective.
std::unique_ptr<SmoothingMethod> rings_where_they_do(Run& run, SmoothJob& job, int& lmax,
                                                     std::string& against) {
  try {
    const CutKernel cut = cut_for_rings(run, job);
    auto rings = ring_method(run, job, cut);
    // Degrees that the harmonic method cuts off and rings do not.
    const double beyond = cut.rms_beyond(lmax);
    if (beyond <= cut.error) {
      lmax = sufficient_lmax(cut, lmax);
      return rings;
    }
    against = fmt::format("the kernel has {:.2g} (rms) above lmax = {}, which rings would keep",
                          beyond, lmax);
  } catch (const UsageError& error) {
    against = fmt::format("rings refuse: {}", error.what());
  } catch (const ResourceError&) {
    against = "rings need more memory than there is";
  }
  return nullptr;
}

/// A split kernel, where one is allowed and the search for it could pay. Collective.
std::unique_ptr<SmoothingMethod> split_where_it_pays(Run& run, SmoothJob& job,
                                                     double seconds_to_beat) {
  if (!why_not_split(job).empty()) return nullptr;
  if (predict_search(run, job).seconds > seconds_to_beat) return nullptr;
  try {
    return split_method(run, job);
  } catch (const UsageError&) {
    return nullptr;  // none keeps the error
  } catch (const ResourceError&) {
    return nullptr;
  }
}

/// A method and its predicted seconds.
struct Candidate {
  std::unique_ptr<SmoothingMethod> method;
  Estimate seconds;
  nlohmann::ordered_json backend;  ///< as the report says what it chose
};

bool is_faster(const Candidate& one, const Candidate& other) {
  return one.seconds.seconds < other.seconds.seconds;
}

std::string harmonic_because(const std::string& why) { return "harmonic, because " + why; }

}  // namespace

std::unique_ptr<SmoothingMethod> fastest_method(Run& run, SmoothJob& job) {
  if (const std::string why = why_not_rings(job); !why.empty()) {
    const char* given = option_of_cuts(job.options);
    if (given != nullptr) {
      throw UsageError(fmt::format(
          "{} is about kernels on rings and does not count because {}; leave {} out, or "
          "use --method ring or split",
          given, why, given));
    }
    job.why_method = harmonic_because(why);
    return harmonic_method(run, job, job.options.transform);
  }
  std::vector<Candidate> candidates;
  const auto add = [&](std::unique_ptr<SmoothingMethod> method) {
    if (method == nullptr) return;
    // All ranks must come to the same choice, whatever threads each has.
    const Estimate seconds = of_slowest(run.comm, method->predict());
    candidates.push_back({std::move(method), seconds, run.report["backend"]});
  };
  const auto fastest = [&] {
    return std::min_element(candidates.begin(), candidates.end(), is_faster);
  };
  TransformOptions harmonic = job.options.transform;
  if (harmonic.lmax < 0) harmonic.lmax = job.usual_lmax;
  const int asked = harmonic.lmax;
  std::string against;
  add(rings_where_they_do(run, job, harmonic.lmax, against));
  if (harmonic.mmax <= asked) harmonic.mmax = std::min(harmonic.mmax, harmonic.lmax);
  add(harmonic_method(run, job, harmonic));
  add(split_where_it_pays(run, job, fastest()->seconds.seconds));
  if (candidates.size() == 1) {
    run.report["backend"] = candidates.front().backend;
    job.why_method = harmonic_because(against);
    return std::move(candidates.front().method);
  }

  // A harmonic way that keeps to an error takes its degrees from the rings'.
  const SmoothingMethod& first = *candidates.front().method;
  const double error = first.error() > 0 ? first.error() : candidates.back().method->error();
  std::vector<std::string> ways;
  for (const Candidate& candidate : candidates)
    ways.push_back(candidate.method->label() + " " + seconds_text(candidate.seconds));
  auto best = fastest();
  // The harmonic method stays: it can go in groups, and its plan reports missing memory.
  while (!best->method->fits()) {
    against += fmt::format("{}--method {} needs more memory than there is",
                           against.empty() ? "" : "; ", best->method->name());
    candidates.erase(best);
    best = fastest();
  }
  run.report["backend"] = best->backend;
  job.why_method = fmt::format(
      "{}, predicted to be the fastest to a relative error of {:.2g}: {}{}", best->method->name(),
      error, fmt::join(ways, ", "), against.empty() ? "" : "; " + against);
  return std::move(best->method);
}

}  // namespace ringweave::detail::inline app
