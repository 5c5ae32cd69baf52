// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <numbers>
#include <vector>

#include "app/angle.hpp"
#include "app/availability.hpp"
#include "app/commands/commands.hpp"
#include "app/memory_estimate.hpp"
#include "app/transform_report.hpp"
#include "app/transform_setup.hpp"
#include "base/error.hpp"
#include "convolve/harmonic_smoothing.hpp"
#include "distribute/agree.hpp"
#include "io/table_file.hpp"
#include "sphere/radial_kernel.hpp"

namespace ringweave {
namespace {

/// What one program's smoothing does when nothing is said (users.md compares them).
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
  if (name == "f90") return {0, "zero", "none", false, true};
  throw UsageError(fmt::format("--compat {}: expected healpy, cxx or f90", name));
}

void require_harmonic(const SmoothOptions& options) {
  require_available("--method", options.method);
  if (options.method == "auto" || options.method == "harmonic") return;
  throw UsageError(
      fmt::format("--method {}: expected auto, harmonic, ring or split", options.method));
}

Beam chosen_beam(const Run& run, const SmoothOptions& options, int lmax) {
  const int given = !options.fwhm.empty() + !options.beam.empty() + !options.kernel.empty();
  if (given != 1) {
    throw UsageError(
        "give the smoothing as one of --fwhm ANGLE (e.g. 30arcmin), --beam FILE, --kernel FILE");
  }
  if (!options.beam.empty()) return read_beam(run.comm, options.beam);
  if (!options.kernel.empty()) {
    const KernelProfile profile = read_kernel_profile(run.comm, options.kernel);
    return agreed(run.comm, [&] {
      const std::vector<double> k_l =
          RadialKernel::from_profile(profile.theta, profile.value, KernelSupport::whole())
              .multipoles(lmax);
      return Beam{k_l, k_l, k_l};
    });
  }
  return gaussian_beam(parse_width(options.fwhm, "--fwhm"), lmax);
}

Provenance provenance_of(const Run& run, const SmoothOptions& options, int n_iter, int lmax) {
  Provenance provenance = run.provenance();
  provenance.input = options.input;
  provenance.lmax = lmax;
  provenance.iterations = n_iter;
  provenance.quadrature = options.analysis.weights;
  provenance.removed = options.analysis.remove;
  if (!options.fwhm.empty())
    provenance.fwhm_degrees = parse_angle(options.fwhm, "--fwhm") * 180 / std::numbers::pi;
  if (!options.beam.empty()) provenance.beam = options.beam;
  if (!options.kernel.empty()) provenance.beam = options.kernel;
  return provenance;
}

template <class T>
void run_with(Run& run, const SmoothOptions& options, MapReader& reader, const FieldChoice& choice,
              SphericalHarmonicTransform& transform, const SmoothingOptions& smoothing) {
  MapBuffer<T> map = read_map<T>(run, options.input, reader, choice, transform.rings());
  run.progress.stage("smoothing");
  const SmoothingReport report = naming(options.input, [&] {
    return smooth_harmonic<T>(
        transform, smoothing, map.view(), [&](int pass, int passes, double residual) {
          run.progress.step(pass, passes,
                            residual >= 0 ? fmt::format("residual {:.2e}", residual) : "");
        });
  });
  record_transform(run, transform, {report.analysis.transforms, report.mask_transforms});
  transform.release_workspace();
  run.report["analysis"] = {{"iterations", report.analysis.iterations},
                            {"residuals", report.analysis.residuals}};
  run.report["unseen_pixels"] = report.unseen_pixels;
  if (report.unseen_pixels > 0) {
    run.say(fmt::format("{} UNSEEN pixels: {}", report.unseen_pixels, options.analysis.unseen));
  }
  if (smoothing.remove != Remove::none) {
    run.say(fmt::format("{} {:.6g}, dipole ({:.6g}, {:.6g}, {:.6g}){}", "removed monopole",
                        report.removed.monopole, report.removed.dipole[0], report.removed.dipole[1],
                        report.removed.dipole[2], options.analysis.put_back ? ", put back" : ""));
  }

  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  MapHeader header = reader.header();
  header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
  header.columns.clear();
  for (const int column : choice.columns) {
    header.columns.push_back(reader.header().columns[static_cast<std::size_t>(column)]);
  }
  write_map(run.outputs.begin(options.output), header,
            provenance_of(run, options, report.analysis.iterations, transform.spec().lmax),
            transform.rings(), MapView<const T>(map.view()));
  run.conclusion =
      fmt::format("{}: {} smoothed with {}, harmonic method, lmax {}, {} iterations",
                  options.output, choice.name, options.fwhm + options.beam + options.kernel,
                  transform.spec().lmax, report.analysis.iterations);
}

}  // namespace

int smooth(Run& run, const SmoothOptions& asked) {
  SmoothOptions options = asked;
  require_harmonic(options);
  const Compatibility defaults = compatibility(options.compat);
  AnalysisOptions& analysis = options.analysis;
  if (analysis.unseen.empty()) analysis.unseen = defaults.unseen;
  if (analysis.remove.empty()) {
    analysis.remove = defaults.remove;
    analysis.put_back = analysis.put_back || defaults.put_back;
  }
  SmoothingOptions smoothing;
  smoothing.tolerance = analysis.tolerance;
  smoothing.n_iter = analysis.tolerance > 0 ? 0 : analysis.n_iter.value_or(defaults.n_iter);
  smoothing.unseen = unseen_policy(analysis.unseen);
  smoothing.remove = remove_choice(analysis.remove);
  smoothing.put_back =
      analysis.put_back ? SmoothingOptions::PutBack::yes : SmoothingOptions::PutBack::no;

  run.outputs.announce(options.output, OutputContent::map);
  const auto reader = open_map(run.comm, options.input);
  for (const std::string& warning : reader->header().warnings)
    run.warn(options.input + ": " + warning);
  const FieldChoice choice =
      choose_fields(options.input, reader->header(), options.transform.fields);
  const bool whole_sky = smoothing.n_iter > 0 || smoothing.tolerance > 0 ||
                         smoothing.unseen == UnseenPolicy::normalize;
  const auto grid = grid_to_visit(*reader, whole_sky);
  const bool two_nside = defaults.lmax_is_two_nside && grid->nside() > 0;
  const TransformSpec spec = make_spec(options.transform, grid, choice.fields,
                                       two_nside ? static_cast<int>(2 * grid->nside()) : -1);
  const Precision precision =
      storage_precision(options.transform.precision, reader->header().precision);
  require_memory_for(run, spec, precision);
  smoothing.beam = chosen_beam(run, options, spec.lmax);
  const WeightFiles weights = find_weights(run, analysis.weights, *grid);
  const Operation operation = smoothing.tolerance > 0 ? Operation::analysis_conjugate
                              : smoothing.n_iter > 0  ? Operation::analysis_iterating
                                                      : Operation::smoothing_in_place;
  const bool normalizes = smoothing.unseen == UnseenPolicy::normalize;
  const MemoryUse use{operation, precision,
                      weights.pixel.empty() ? PixelWeights::none : PixelWeights::copied,
                      normalizes ? MaskSmoothing::yes : MaskSmoothing::no};
  const auto transform = plan_transform(run, spec, use);
  const MemoryEstimate estimate = estimate_memory(transform->plan(), use);
  TransformCount count = planned_analysis(smoothing.n_iter, smoothing.tolerance);
  ++count.all_fields;
  if (normalizes) count.mask = count.all_fields;
  record_plan(run, *transform, estimate, count);
  require_memory(run, estimate);
  if (run.options.dry_run) return 0;

  smoothing.weights = load_weights(run, weights, transform->rings());
  with_storage(precision, [&](auto storage) {
    run_with<decltype(storage)>(run, options, *reader, choice, *transform, smoothing);
  });
  return 0;
}

}  // namespace ringweave
