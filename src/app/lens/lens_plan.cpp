// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_plan.hpp"

#include <omp.h>

#include <algorithm>

#include "app/lens/lensed_map.hpp"
#include "app/transform_setup.hpp"
#include "nonuniform/fine_taps.hpp"
#include "nonuniform/inverse_deflection.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr std::int64_t bytes_of_double = sizeof(double);
constexpr std::int64_t deflection_maps = 5;  ///< that --deflection writes

TransformSpec spec_of_deflection(const LensJob& job, const PotentialSource& source) {
  TransformSpec spec;
  spec.grid = job.grid;
  spec.lmax = source.lmax;
  spec.mmax = source.mmax;
  spec.fields = FieldSet({1});
  spec.exchange = job.spec.exchange;
  return spec;
}

/// Returns the memory that --lensed-lmax takes in addition to the map and the a_lm of the job.
MemoryItem memory_of_cut(const LensJob& job, const LensPlan& plan) {
  const LensedCut cut = lensed_cut(job, plan.bands);
  const TransformPlan of_cut(cut.spec, plan.deflection.rank, plan.deflection.n_ranks);
  const MemoryUse use{
      .operation = cut.n_iter > 0 ? Operation::analysis_iterating : Operation::analysis_consuming,
      .precision = job.precision};
  const std::int64_t map =
      bytes_of(job.precision) * job.spec.fields.n_components() * of_cut.rings.n_pixels();
  return {"analysis to --lensed-lmax",
          std::max<std::int64_t>(0, estimate_memory(of_cut, use).buffers() - map)};
}

/// Bytes of the transform of shear and convergence, with their map.
std::int64_t bytes_of_magnification(const LensPlan& plan, bool has_curl) {
  const TransformPlan of_shear(spec_of_magnification(plan, has_curl), plan.deflection.rank,
                               plan.deflection.n_ranks);
  return estimate_memory(of_shear, {.operation = Operation::smoothing_in_place}).buffers();
}

}  // namespace

LensPlan::LensPlan(const LensJob& job, const PotentialSource& source, int rank, int n_ranks)
    : deflection(spec_of_deflection(job, source), rank, n_ranks),
      bands(std::make_shared<const RingDistribution>(deflection.ring_bands)),
      lensed(field_at_pixels(job.spec, job.grid->n_pixels(), UntouchedRows::left_out, *bands)),
      n_potentials(source.phi == nullptr    ? 4
                   : source.curl == nullptr ? 1
                                            : 2) {
  if (!job.options.inverse) return;
  const PointSpec spec =
      spec_of_inverse(deflection.spec.lmax, deflection.spec.mmax, job.spec.exchange, usual_rms);
  inverse.emplace(
      field_at_pixels(spec, points_of_inverse(job.grid->n_pixels()), UntouchedRows::kept, *bands));
}

TransformSpec spec_of_magnification(const LensPlan& plan, bool has_curl) {
  TransformSpec spec = plan.deflection.spec;
  spec.fields = FieldSet(has_curl ? std::vector{2, 0, 0} : std::vector{2, 0});
  spec.ring_bands = plan.bands;
  return spec;
}

std::vector<MemoryItem> memory_of(const LensJob& job, const LensPlan& plan,
                                  std::vector<MemoryItem> analysis) {
  const LensOptions& options = job.options;
  const int rank = plan.deflection.rank;
  const int n_ranks = plan.deflection.n_ranks;
  const int n_threads = omp_get_max_threads();
  const DeflectionMemory of_deflection = memory_of_deflection(plan.deflection, n_threads);
  const PointMemory of_lensing =
      memory_of_lensing({job.spec, usual_largest, n_threads}, plan.lensed.pixels, rank);
  const std::int64_t n_pixels = plan.lensed.pixels.counts(rank).listed;
  const std::int64_t stored = bytes_of(job.precision);
  const std::int64_t n = job.spec.fields.n_components();
  const std::int64_t n_alm = options.cl.empty() ? n : std::max<std::int64_t>(n, 4);
  const std::int64_t own_alm = AlmLayout::full_size(job.spec.lmax, job.spec.mmax) / n_ranks;
  // The deflection keeps |A|.
  const std::int64_t held = (options.inverse ? of_deflection.vectors : of_deflection.total()) +
                            (options.magnification ? bytes_of_double * n_pixels : 0);
  std::vector<MemoryItem> items{{"a_lm", 2 * stored * n_alm * own_alm},
                                {"map", stored * n * n_pixels}};
  if (options.lensed_lmax >= 0) items.push_back(memory_of_cut(job, plan));
  const std::vector<MemoryItem> planned{{"points, rows and modes", of_lensing.total()},
                                        {"deflection", held}};
  items.insert(items.end(), planned.begin(), planned.end());
  // Memory that is freed before the items above are allocated counts only where it exceeds them.
  const auto add_earlier = [&](const char* name, std::int64_t bytes) {
    items.push_back({name, std::max<std::int64_t>(0, bytes - MemoryEstimate{items}.total())});
  };
  if (options.magnification) {
    add_earlier("magnification", held + of_lensing.total() + stored * n * n_pixels +
                                     bytes_of_double * n_pixels +
                                     bytes_of_magnification(plan, !options.curl.empty()));
  }
  if (!options.deflection.empty()) {
    add_earlier("map of --deflection",
                held + of_lensing.total() + bytes_of_double * deflection_maps * n_pixels);
  }
  const std::int64_t own_potential =
      AlmLayout::full_size(plan.deflection.spec.lmax, plan.deflection.spec.mmax) / n_ranks;
  add_earlier("making of the deflection",
              of_deflection.peak() + 2 * bytes_of_double * plan.n_potentials * own_potential);
  if (plan.inverse) {
    add_earlier(
        "search for the inverse",
        of_deflection.total() + memory_of_inverse({plan.inverse->spec, usual_largest, n_threads},
                                                  plan.inverse->pixels, rank)
                                    .peak());
  }
  if (analysis.empty()) return items;
  analysis.insert(analysis.end(), planned.begin(), planned.end());
  return larger_phase(items, analysis);
}

DevicePointMemory device_memory_of(const LensJob& job, const LensPlan& plan) {
  const PixelPoints& pixels = plan.lensed.pixels;
  const int rank = plan.deflection.rank;
  const TransformSpec to_rows =
      FineTaps(job.spec, job.grid->n_pixels()).transform_spec(job.spec, pixels.plan().rings());
  return device_memory_of_points(TransformPlan(to_rows, rank, plan.deflection.n_ranks),
                                 pixels.counts(rank).summed, rotation_of(job.options));
}

}  // namespace ringweave::detail::inline app
