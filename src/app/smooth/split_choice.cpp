// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/split_choice.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "app/backend_choice.hpp"
#include "app/predict/device_memory.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/transform_report.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "app/smooth/split_file.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "transform/device_memory_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

// Measured at nside 512 and 2048, with lmax 2 nside.
constexpr double share_of_one_support = 0.1;

/// Returns the specification of a split without its places. Collective.
/// fixed  the split to take, if it is not to be searched for
KernelSplitSpec split_spec(Run& run, const SmoothJob& job, Fields fields, const Beam& beam,
                           const std::optional<SplitFile>& fixed) {
  KernelSplitSpec spec;
  if (fixed) {
    spec.error = fixed->error;
    spec.alpha = fixed->alpha;
    spec.theta_cuts = {fixed->theta_cut};
  }
  spec.spin = fields == Fields::spin ? 2 : 0;
  spec.k_l = fields == Fields::spin ? beam.e : beam.t;
  spec.k_l.resize(to_size(std::int64_t{lmax_of(job)} + 1), 0.0);
  const bool is_of_masks = fields == Fields::scalar && job.n_scalars() == 0;
  if (!job.options.input_cl.empty() && !is_of_masks) {
    spec.cl = input_spectrum(run, job.options, fields);
    if (spec.cl.size() < spec.k_l.size()) spec.cl.resize(spec.k_l.size(), 0.0);
  }
  spec.nside = job.grid->nside();
  spec.error = job.options.error.value_or(spec.error);
  const std::int64_t n_threads = run.comm.min(std::int64_t{omp_get_max_threads()});
  spec.n_ranks = run.comm.size();
  spec.n_threads = checked_cast<int>(n_threads, "threads");
  spec.machine =
      std::make_shared<const SplitMachine>(SplitMachine{&run.machine, ranks_of_device(run)});
  return spec;
}

/// Places of the parts of a job's kernels, and the splits for them.
struct PlacedSearch {
  PlacedSplit places;
  SplitSearches found{};

  bool is_left_out() const { return !places.why_excluded.empty(); }
};

/// Searches for the split of a kernel, and places it in all places. Collective.
/// maps   without places and rings
/// found  of the fields, in the searches of a place
void search(Run& run, const KernelSplitSpec& spec, const SplitMaps& maps,
            std::optional<SplitSearch> SplitSearches::*found, std::vector<PlacedSearch>& all) {
  std::vector<KernelSplit::Place> places;
  for (const PlacedSearch& one : all) {
    // Q and U come first: the other split is placed alike.
    const auto& spins = one.found.spins;
    places.push_back({one.places.backends,
                      spins ? spins->plan.placement.n_harmonic : spec.n_harmonic,
                      SplitChoice::one_core});
  }
  const StageTimer timer(&run.times, "split_search");
  agree(run.comm, [&] {
    const std::vector<KernelSplit> splits = KernelSplit::in_places(spec, places);
    for (std::size_t i = 0; i < all.size(); ++i) {
      PlacedSearch& one = all[i];
      if (!splits[i].has_parts()) one.places.why_excluded = splits[i].reason();
      if (one.is_left_out()) continue;
      SplitMaps here = maps;
      here.backends = one.places.backends;
      if (const auto& spins = one.found.spins)
        here.ring_bands = std::make_shared<const RingDistribution>(spins->plan.bands);
      SplitPlan plan(splits[i], here, run.comm.rank(), run.comm.size());
      one.found.*found = SplitSearch{splits[i], here, std::move(plan), spec.k_l};
    }
  });
  for (const PlacedSearch& one : all) {
    const std::int64_t l_cut = one.is_left_out() ? -2 : (one.found.*found)->split.best().l_cut;
    agree_same(run.comm, "the split of the kernel", l_cut);
  }
}

/// Throws where no place has a split. `fields`: of the kernel, in the message.
void require_one(const std::vector<PlacedSearch>& all, const std::string& fields) {
  const bool is_one_left = std::any_of(all.begin(), all.end(),
                                       [](const PlacedSearch& one) { return !one.is_left_out(); });
  if (is_one_left) return;
  throw UsageError(fmt::format("--method split{}: {}", fields, all.front().places.why_excluded));
}

void require_splits(const Run& run, const SmoothJob& job) {
  if (const std::string why = why_not_split(job); !why.empty())
    throw UsageError(fmt::format("--method split: {}; use --method ring or harmonic", why));
  if (job.options.harmonic_ranks.value_or(0) >= run.comm.size()) {
    throw UsageError(fmt::format(
        "--harmonic-ranks {}: expected 0 to {}, for {} rank(s) in all must do the rings "
        "too; start more ranks, or leave it out",
        *job.options.harmonic_ranks, run.comm.size() - 1, run.comm.size()));
  }
}

/// Searches for all kernels of a job in all places. Collective.
std::vector<PlacedSearch> search_everywhere(Run& run, const SmoothJob& job, const Beam& beam,
                                            const std::vector<SplitBackends>& places) {
  std::vector<PlacedSearch> all;
  for (const SplitBackends& backends : places) all.push_back({.places = {.backends = backends}});
  const std::int64_t n_scalars = job.n_scalars();
  const std::int64_t n_spin_maps = job.n_spin_maps();
  SplitMaps maps{job.grid, n_spin_maps, bytes_of(job.precision)};
  std::optional<SplitFile> fixed;
  if (!job.options.split.empty()) {
    fixed = read_split_file(run, job.options.split);
    agree(run.comm, [&] {
      std::vector<double> k_l = beam.t;
      k_l.resize(to_size(std::int64_t{lmax_of(job)} + 1), 0.0);
      require_kernel_of(*fixed, k_l, job.grid->nside());
    });
  }
  if (n_spin_maps > 0) {
    agree(run.comm, [&] { require_one_beam(beam, "split"); });
    KernelSplitSpec spec = split_spec(run, job, Fields::spin, beam, fixed);
    spec.n_harmonic = job.options.harmonic_ranks;
    run.progress.stage("splitting the kernel of Q and U");
    search(run, spec, maps, &SplitSearches::spins, all);
    require_one(all, ", Q and U");
  }
  if (n_scalars > 0 || job.is_normalized()) {
    maps.n_maps = std::max<std::int64_t>(n_scalars, 1);
    KernelSplitSpec spec = split_spec(run, job, Fields::scalar, beam, fixed);
    spec.n_harmonic = job.options.harmonic_ranks;
    run.progress.stage("splitting the kernel");
    search(run, spec, maps, &SplitSearches::scalars, all);
    require_one(all, n_scalars > 0 ? "" : ", masks of Q and U");
    for (const PlacedSearch& one : all) {
      // Masks are split for white noise, whatever --input-cl is.
      if (!fixed || n_scalars == 0 || one.is_left_out()) continue;
      agree(run.comm, [&] { require_l_cut_of(*fixed, one.found.scalars->split, spec.error); });
    }
  }
  return all;
}

/// Adds n convolutions of every map. Collective.
void add_predicted(const Run& run, const SmoothJob& job, int n, const SplitSearch& search,
                   SplitPrediction& sum) {
  const SplitPlan& plan = search.plan;
  const auto n_maps = static_cast<double>(job.maps.n());
  ConvolutionPlace place{plan.rings.spec().backend, omp_get_max_threads()};
  if (place.backend == Backend::cuda)
    place.ranks_of_device = std::min(plan.rings.n_ranks(), ranks_of_device(run));
  const Estimate rings =
      of_slowest(run.comm, n * estimate_convolution(plan.rings, run.machine, place).total());
  Estimate harmonic;
  if (plan.harmonic) harmonic = predict_transforms(run, *plan.harmonic, {2 * n, 0, false}).total;
  Estimate sending;
  Estimate total = plan.at_once ? longer(harmonic, rings) : rings + harmonic;
  if (plan.placement.is_side_by_side()) {
    const RingConvolutionSpec& maps = plan.rings.spec();
    const double n_fields =
        static_cast<double>(n * maps.n_maps) / static_cast<double>(plan.rings.maps_of_field());
    sending = n_fields * static_cast<double>(maps.bytes_per_pixel) / sizeof(double) *
              search.split.best().sending;
    total = longer(harmonic, rings) + sending;
  }
  sum.rings = sum.rings + n_maps * rings;
  sum.harmonic = sum.harmonic + n_maps * harmonic;
  sum.sending = sum.sending + n_maps * sending;
  sum.total = sum.total + n_maps * total;
}

/// Returns why the rings of a search do not fit the device; empty where they do. Collective.
std::string shortage_of_rings(const Run& run, const SmoothJob& job, const SplitSearches& found) {
  const std::int64_t bytes = agreed(run.comm, [&] { return rings_on_device(job, found); });
  return device_shortage(run.comm, share_of_device(run.comm), bytes, rings_of_a_split);
}

}  // namespace

int lmax_of(const SmoothJob& job) {
  return job.options.transform.lmax >= 0 ? job.options.transform.lmax : job.usual_lmax;
}

Estimate predict_search(const Run& run, const SmoothJob& job) {
  const bool has_scalars = job.n_scalars() > 0 || job.is_normalized();
  const int n_kernels = (job.n_spin_maps() > 0 ? 1 : 0) + (has_scalars ? 1 : 0);
  const double share = job.options.split.empty() ? 1 : share_of_one_support;
  return n_kernels * share * run.machine.split_search.estimate(lmax_of(job), 1);
}

SplitSearches fastest_splits(Run& run, const SmoothJob& job) {
  require_splits(run, job);
  const std::int64_t n_scalars = job.n_scalars();
  const std::int64_t n_spin_maps = job.n_spin_maps();
  require_memory_for(run.comm, *job.grid,
                     n_scalars + n_spin_maps + std::max(n_scalars, n_spin_maps), job.precision);
  const std::vector<SplitBackends> places = possible_split_backends(run, job.options.transform);
  const Beam beam = beam_of(run, job.options, *job.header.grid, lmax_of(job));
  std::vector<PlacedSearch> all = search_everywhere(run, job, beam, places);
  if (all.size() == 1) return std::move(all.front().found);
  std::size_t fastest = 0;  // the host, which needs no device
  for (std::size_t i = 0; i < all.size(); ++i) {
    PlacedSplit& here = all[i].places;
    if (here.why_excluded.empty() && here.backends.rings == Backend::cuda)
      here.why_excluded = shortage_of_rings(run, job, all[i].found);
    if (all[i].is_left_out()) continue;
    here.seconds = predict_splits(run, job, all[i].found).total.seconds;
    if (all[fastest].is_left_out() || here.seconds < all[fastest].places.seconds) fastest = i;
  }
  if (all[fastest].is_left_out())
    throw UsageError("--method split: " + all[fastest].places.why_excluded);
  std::vector<PlacedSplit> others;
  for (const PlacedSearch& one : all)
    if (&one != &all[fastest]) others.push_back(one.places);
  record_split_backends(run, all[fastest].places, others);
  return std::move(all[fastest].found);
}

SplitPrediction predict_splits(const Run& run, const SmoothJob& job, const SplitSearches& found) {
  SplitPrediction sum;
  const int n_of_scalars = job.n_scalars() > 0 ? 1 : 0;
  const int n_masks = !job.is_normalized() ? 0 : n_of_scalars + (found.spins ? 1 : 0);
  if (found.scalars) add_predicted(run, job, n_of_scalars + n_masks, *found.scalars, sum);
  if (found.spins) add_predicted(run, job, 1, *found.spins, sum);
  return sum;
}

std::int64_t harmonic_on_device(const SmoothJob& job, const SplitSearches& found) {
  std::int64_t on_device = 0;
  for (const auto* search : {&found.scalars, &found.spins}) {
    if (!*search || !(*search)->has_harmonic_on_device()) continue;
    const SplitPlan& plan = (*search)->plan;
    const std::int64_t bytes =
        plan.does_harmonic() ? plan_device_memory(*plan.harmonic).total() : 0;
    on_device = job.is_normalized() ? on_device + bytes : std::max(on_device, bytes);
  }
  return on_device;
}

std::int64_t rings_on_device(const SmoothJob& job, const SplitSearches& found) {
  const auto rings_of = [](const std::optional<SplitSearch>& search) {
    const bool are_there = search && search->has_rings_on_device() && search->plan.does_rings();
    return are_there ? &search->plan.rings : nullptr;
  };
  return ring_device_memory(rings_of(found.scalars), rings_of(found.spins), job.mask()).total();
}

}  // namespace ringweave::detail::inline app
