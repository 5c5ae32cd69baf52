// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/angle.hpp"
#include "app/commands/commands.hpp"
#include "app/report/plan_table.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "app/table_input.hpp"
#include "base/checked_cast.hpp"
#include "base/json_text.hpp"
#include "base/stage_timer.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "convolve/split/split_costs.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

void require_options(const SplitOptions& options) {
  if (options.fwhm.empty() == options.beam.empty())
    throw UsageError("give the kernel as one of --fwhm ANGLE (e.g. 10arcmin) and --beam FILE");
  if (options.lmax < 0 || options.nside < 1)
    throw UsageError("a split is for maps of one resolution: give --lmax L and --nside N");
}

/// Extends values to lmax with zeros, and a warning, where the file ends earlier.
void continue_to(Run& run, const std::string& path, int lmax, std::vector<double>& values) {
  const std::int64_t size = ssize64(values);
  if (size > lmax) return;
  run.warn(
      fmt::format("{}: ends at l = {}; degrees up to lmax = {} are zero", path, size - 1, lmax));
  values.resize(to_size(std::int64_t{lmax} + 1), 0.0);
}

/// Collective.
std::vector<double> spectrum_to(Run& run, const std::string& path, const std::string& option,
                                const std::string& cl_kind, int lmax) {
  std::vector<double> cl = temperature_spectrum(run, path, option, cl_kind);
  continue_to(run, path, lmax, cl);
  return cl;
}

/// Returns B_l, or sqrt(C_l) B_l with --cl. Collective.
std::vector<double> kernel_of(Run& run, const SplitOptions& options) {
  std::vector<double> k_l = options.beam.empty()
                                ? gaussian_beam(parse_width(options.fwhm, "--fwhm"), options.lmax).t
                                : beam_of_file(run, options.beam, options.lmax).t;
  k_l.resize(to_size(std::int64_t{options.lmax} + 1), 0.0);
  if (options.cl.empty()) return k_l;
  const std::vector<double> cl =
      spectrum_to(run, options.cl, "--cl", options.cl_kind, options.lmax);
  for (std::size_t l = 0; l < k_l.size(); ++l) {
    if (cl[l] < 0)
      throw DataError(options.cl, fmt::format("TT of l = {} is {}, which has no root", l, cl[l]));
    k_l[l] *= std::sqrt(cl[l]);
  }
  return k_l;
}

std::vector<double> supports_of(const SplitOptions& options) {
  if (options.supports.empty()) return {};
  const auto colon = options.supports.find(':');
  if (colon == std::string::npos) {
    throw UsageError(
        fmt::format("--supports {}: expected LOW:HIGH, e.g. 30arcmin:10deg", options.supports));
  }
  const double low = parse_width(options.supports.substr(0, colon), "--supports");
  const double high = parse_width(options.supports.substr(colon + 1), "--supports");
  if (!(low > 0 && low <= high && high <= std::numbers::pi)) {
    throw UsageError(
        fmt::format("--supports {}: expected 0 < LOW <= HIGH <= 180deg", options.supports));
  }
  constexpr int n_supports = 20;
  std::vector<double> angles;
  for (int i = 0; i < n_supports; ++i) angles.push_back(low + (high - low) * i / (n_supports - 1));
  angles.erase(std::unique(angles.begin(), angles.end()), angles.end());
  return angles;
}

/// Estimates convolution on rings with the whole kernel; nothing if it cannot be cut within the
/// error.
std::optional<Estimate> rings_alone(const Run& run, const KernelSplitSpec& spec,
                                    const std::shared_ptr<const RingGrid>& grid) {
  RingConvolutionSpec rings;
  rings.grid = grid;
  rings.error = spec.error / 2;
  const KernelSupport support = spec.cl.empty() ? KernelSupport::automatic(spec.error / 2)
                                                : KernelSupport::automatic(spec.error / 2, spec.cl);
  try {
    rings.kernels = {RadialKernel::from_beam(spec.k_l, support)};
    const RingConvolutionPlan plan(rings, 0, spec.n_ranks);
    return estimate_convolution(plan, run.machine, {Backend::host, spec.n_threads}).total();
  } catch (const UsageError&) {
    return std::nullopt;
  }
}

const char* name_of(KernelSplit::Verdict verdict) {
  return verdict == KernelSplit::Verdict::split   ? "split"
         : verdict == KernelSplit::Verdict::rings ? "ring"
                                                  : "harmonic";
}

std::string placement_text(const SplitCandidate& candidate) {
  return candidate.n_harmonic > 0 ? fmt::format("harmonics on {}", candidate.n_harmonic)
                                  : "all on all";
}

void say_scan(Run& run, const std::vector<SplitCandidate>& scan) {
  run.print_line(fmt::format("{:>14}{:>8}{:>11}{:>14}{:>10}{:>10}{:>6}  {}", "support", "l_cut",
                             "error", "harmonic, s", "rings, s", "both, s", "+- %", "placement"));
  for (const SplitCandidate& candidate : scan) {
    if (!candidate.is_found) {
      run.print_line(fmt::format("{:>11.1f} '{:>9}{:>11.2g}", candidate.theta_cut / arcmin, "-",
                                 candidate.error));
      continue;
    }
    const Estimate& total = candidate.total;
    run.print_line(fmt::format("{:>11.1f} '{:>9}{:>11.2g}{:>14.3g}{:>10.3g}{:>10.3g}{:>6.0f}  {}",
                               candidate.theta_cut / arcmin, candidate.l_cut, candidate.error,
                               candidate.harmonic.seconds, candidate.rings.seconds, total.seconds,
                               100 * total.sigma / total.seconds, placement_text(candidate)));
  }
}

/// Says which support is faster on the ranks and threads of the prediction, and how to take it.
void say_what_is_faster(Run& run, const KernelSplit& split, const KernelSplit& fastest,
                        const KernelSplitSpec& spec) {
  if (!split.has_parts() || !fastest.has_parts()) return;
  const double support = fastest.best().theta_cut;
  if (support == split.best().theta_cut) return;
  run.print_line(fmt::format(
      "l_cut {} is the fastest on one core; on {} rank(s) of {} thread(s) l_cut {}, {:.4g} arcmin, "
      "takes {} (--supports {:.6g}arcmin:{:.6g}arcmin --json FILE, then smooth --split FILE)",
      split.best().l_cut, spec.n_ranks, spec.n_threads, fastest.best().l_cut, support / arcmin,
      seconds_text(fastest.best().total), support / arcmin, support / arcmin));
}

/// Adds NAME_seconds and NAME_uncertainty_seconds, null if there is no estimate.
void put(nlohmann::ordered_json& json, const std::string& name,
         const std::optional<Estimate>& estimate) {
  const auto number = [&](double Estimate::*part) {
    return estimate ? nlohmann::ordered_json(*estimate.*part) : nlohmann::ordered_json();
  };
  json[name + "seconds"] = number(&Estimate::seconds);
  json[name + "uncertainty_seconds"] = number(&Estimate::sigma);
}

nlohmann::ordered_json json_of(const KernelSplit& split, const std::vector<SplitCandidate>& scan,
                               const KernelSplitSpec& spec) {
  nlohmann::ordered_json json = {{"verdict", name_of(split.verdict())},
                                 {"reason", split.reason()},
                                 {"error_allowed", spec.error},
                                 {"alpha", spec.alpha},
                                 {"ranks", spec.n_ranks},
                                 {"nside", spec.nside},
                                 {"kernel", spec.k_l}};
  json["scan"] = nlohmann::ordered_json::array();
  for (const SplitCandidate& candidate : scan) {
    nlohmann::ordered_json entry = {{"theta_cut_arcmin", candidate.theta_cut / arcmin},
                                    {"found", candidate.is_found},
                                    {"error", candidate.error}};
    if (candidate.is_found) {
      entry["l_cut"] = candidate.l_cut;
      put(entry, "harmonic_", candidate.harmonic);
      put(entry, "ring_", candidate.rings);
      put(entry, "sending_", candidate.sending);
      entry["harmonic_ranks"] = candidate.n_harmonic;
      put(entry, "", candidate.total);
    }
    json["scan"].push_back(entry);
  }
  if (!split.has_parts()) return json;
  const SplitError& error = split.error();
  json["l_cut"] = split.best().l_cut;
  json["theta_cut"] = split.best().theta_cut;
  json["theta_cut_arcmin"] = split.best().theta_cut / arcmin;
  json["harmonic_ranks"] = split.best().n_harmonic;
  json["predicted_error"] = split.best().error;
  json["verified_error"] = {{"total", error.total},
                            {"fit", error.fit},
                            {"aliased", error.aliased},
                            {"rounding", error.rounding}};
  json["harmonic"] = split.harmonic();
  json["compact"] = split.compact().multipoles(static_cast<int>(spec.k_l.size()) - 1);
  constexpr int n_values = 500;
  for (int i = 0; i <= n_values; ++i) {
    const double theta = split.best().theta_cut * i / n_values;
    json["compact_profile"].push_back({theta / arcmin, split.compact().at(theta)});
  }
  return json;
}

}  // namespace

int split(Run& run, const SplitOptions& options) {
  require_options(options);
  run.outputs.announce(options.json, OutputContent::report);
  KernelSplitSpec spec;
  spec.k_l = kernel_of(run, options);
  if (!options.input_cl.empty())
    spec.cl = spectrum_to(run, options.input_cl, "--input-cl", options.cl_kind, options.lmax);
  spec.nside = options.nside;
  spec.error = options.error;
  spec.alpha = options.alpha;
  spec.theta_cuts = supports_of(options);
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(options.nside));
  run.outputs.require_writable();
  run.progress.stage("searching");
  spec.n_ranks = options.ranks > 0 ? options.ranks : run.comm.size();
  spec.n_threads = run.options.threads > 0 ? run.options.threads : omp_get_max_threads();
  spec.machine = std::make_shared<const SplitMachine>(SplitMachine{&run.machine});
  // The same split for any ranks and threads, and what these make of all supports.
  std::vector<KernelSplit::Place> places{{{}, {}, SplitChoice::one_core}};
  if (spec.n_ranks > 1 || spec.n_threads > 1) places.emplace_back();
  const std::vector<KernelSplit> splits = agreed(run.comm, [&] {
    const StageTimer timer(&run.times, "split_search");
    return KernelSplit::in_places(spec, places);
  });
  const KernelSplit& split = splits.front();
  const KernelSplit& fastest = splits.back();
  const std::optional<Estimate> rings = rings_alone(run, spec, grid);

  say_scan(run, fastest.scan());
  if (split.has_parts()) {
    const SplitError& error = split.error();
    run.print_line(
        fmt::format("l_cut {}, theta_cut {:.4g} arcmin; error predicted {:.2g}, of the parts as "
                    "made {:.2g} (fit {:.2g}, aliased {:.2g}, rounding {:.2g})",
                    split.best().l_cut, split.best().theta_cut / arcmin, split.best().error,
                    error.total, error.fit, error.aliased, error.rounding));
  }
  run.print_line(fmt::format("predicted: split {}, all degrees of the a_lm {}, rings alone {}",
                             split.has_parts() ? seconds_text(split.best().total) : "none",
                             seconds_text(split.harmonic_only()),
                             rings ? seconds_text(*rings) : "impossible"));
  say_what_is_faster(run, split, fastest, spec);
  run.conclusion = fmt::format("{}: {}", name_of(split.verdict()), split.reason());
  if (options.json.empty()) return 0;
  nlohmann::ordered_json json = json_of_origin(run);
  json.update(json_of(split, fastest.scan(), spec));
  put(json, "harmonic_only_", split.harmonic_only());
  put(json, "rings_only_", rings);
  write_text(run, options.json, json_text(json, 1) + '\n');
  return 0;
}

}  // namespace ringweave::detail::inline app
