// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/memory_estimate.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "app/transform_setup.hpp"
#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/files.hpp"
#include "ringweave/transform.hpp"
#include "transform/device_budget.hpp"
#include "transform/offloaded_transform.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr const char* name_of_program = "program, libraries, tables";

std::int64_t sum_of(const std::vector<MemoryItem>& items) {
  return std::accumulate(items.begin(), items.end(), std::int64_t{0},
                         [](std::int64_t sum, const MemoryItem& item) { return sum + item.bytes; });
}

std::int64_t map_bytes(const TransformPlan& plan, Precision precision) {
  return plan.rings.n_pixels() * bytes_of(precision);
}

/// Returns the buffers of one operation on n of the plan's components; the map is first if it
/// exists throughout.
std::vector<MemoryItem> items_of(const TransformPlan& plan, const MemoryUse& use, std::int64_t n) {
  const std::int64_t n_at_once = std::min(n, plan.n_components_at_once());
  const std::int64_t n_planned = plan.spec.fields.n_components();
  const MemoryItem map{"map", n * map_bytes(plan, use.precision)};
  const MemoryItem residual{"residual map", map.bytes};
  const MemoryItem alm{"a_lm", n * plan.alm.size() * 2 * bytes_of(use.precision)};
  if (use.modes == ModeLocation::on_device) {
    switch (use.operation) {
      case Operation::analysis_iterating: return {map, residual, alm};
      case Operation::analysis_conjugate:
        return {map, residual, {"a_lm (solution and three vectors)", 4 * alm.bytes}};
      default: return {map, alm};
    }
  }
  const MemoryItem modes{"ring modes", plan.by_ring_bytes() / n_planned * n_at_once};
  const auto slots_of = [&](int n_passes) {
    return plan.pass_workspace_bytes(n_passes) / plan.n_components_at_once() * n_at_once;
  };
  // Slots share the map's memory if they fit. Conversion buffers never do.
  const std::int64_t within = slots_of(plan.n_passes_within);
  const bool fit =
      plan.n_passes_within == 1 && within <= n_at_once * map_bytes(plan, use.precision);
  const MemoryItem orders{"ring modes by order", fit ? 0 : within};
  const std::int64_t pass_bytes = slots_of(plan.n_passes);
  // A map that holds spectra cannot lend its memory.
  const MemoryItem orders_beside_spectra{orders.name, std::max(orders.bytes, pass_bytes)};
  const bool on_spectra =
      plan.ring_fft_backend() == Backend::host && use.pixel_weights == PixelWeights::none;

  switch (use.operation) {
    case Operation::synthesis_consuming:
    case Operation::analysis_consuming:
      if (n_at_once < n) return {map, alm, modes, orders};
      return larger_phase({alm, modes, {orders.name, slots_of(plan.n_passes_consuming)}},
                          {modes, map});
    case Operation::analysis_iterating:
      if (on_spectra) return {map, alm, modes, orders_beside_spectra};
      return {map, residual, alm, modes, orders};
    case Operation::analysis_conjugate:
      return {map, residual, {"a_lm (solution and three vectors)", 4 * alm.bytes}, modes, orders};
    case Operation::smoothing_in_place: return {map, alm, modes, orders};
  }
  throw InternalError("an operation without a memory estimate");
}

/// Returns the buffers of an operation, the map first.
std::vector<MemoryItem> transform_items(const TransformPlan& plan, const MemoryUse& use) {
  const std::int64_t n = plan.spec.fields.n_components();
  std::vector<MemoryItem> items = items_of(plan, use, n);
  if (use.mask == MaskSmoothing::yes) {
    // During the mask's scalar transform the map and the tables of the first transform exist too.
    std::vector<MemoryItem> mask = items_of(plan, use, 1);
    mask.front().name = "smoothed mask";
    mask.insert(mask.begin(), {"map", n * map_bytes(plan, use.precision)});
    items = larger_phase(items, mask);
  }
  if (use.pixel_weights == PixelWeights::held)
    items.push_back({"pixel weights", plan.rings.n_pixels() * 8});
  add_per_pixel_buffers(use.extra_buffers, plan.rings, items);
  return items;
}

/// Returns the buffers of a convolution, the map first.
std::vector<MemoryItem> ring_items(const RingConvolutionPlan& plan, std::int64_t n_components,
                                   MaskSmoothing mask) {
  const std::int64_t n_maps = plan.spec().n_maps;
  const std::int64_t map = plan.own().n_pixels() * plan.spec().bytes_per_pixel;
  std::vector<MemoryItem> items{
      {"map", n_components * map},
      {"smoothed map", n_maps * map},
      {"ring modes", plan.mode_bytes()},
      {"halo of pixels", plan.halo_bytes()},
      {"scratch of threads", plan.workspace_bytes(omp_get_max_threads())}};
  if (mask == MaskSmoothing::yes) items.push_back({"smoothed mask", n_maps * map});
  return items;
}

/// Returns the buffers of a convolution with a split kernel.
std::vector<MemoryItem> split_items(const SplitPlan& plan, const SplitMemoryUse& use,
                                    MaskSmoothing mask) {
  std::vector<MemoryItem> items = ring_items(plan.rings, use.n_components, mask);
  items.push_back({"parts of harmonic maps", plan.buffer_bytes()});
  for (MemoryItem& item : items) item.bytes *= plan.does_rings() ? 1 : 0;
  if (!plan.harmonic) return items;
  const MemoryUse of_transform{Operation::smoothing_in_place, use.precision};
  for (MemoryItem item : transform_items(*plan.harmonic, of_transform)) {
    const bool is_shared = item.name == "map" && plan.does_rings() && !plan.at_once;
    item.name += ", harmonic part";
    item.bytes *= plan.does_harmonic() && !is_shared ? 1 : 0;
    items.push_back(item);
  }
  return items;
}

/// Returns the buffers of Q and U and of their masks: both convolutions exist, and one of them is
/// at work.
std::vector<MemoryItem> with_masks(std::vector<MemoryItem> spins,
                                   const std::vector<MemoryItem>& scalars) {
  for (const MemoryItem& item : scalars) {
    const auto same = std::find_if(spins.begin(), spins.end(), [&](const MemoryItem& present) {
      return present.name == item.name;
    });
    const bool is_of_work = item.name == "map" || item.name == "smoothed map" ||
                            item.name.starts_with("map,") || item.name.starts_with("a_lm,");
    if (same == spins.end()) {
      spins.push_back(item);
    } else if (is_of_work) {
      same->bytes = std::max(same->bytes, item.bytes);
    } else {
      same->bytes += item.bytes;
    }
  }
  return spins;
}

/// Returns the buffers of scalar fields, then Q and U: where both are convolved, the larger phase.
/// items_of  of a plan and a mask
template <class Plan, class ItemsOf>
std::vector<MemoryItem> items_of_fields(const Plan* scalars, const Plan* spins, MaskSmoothing mask,
                                        const ItemsOf& items_of) {
  if (spins == nullptr) return items_of(*scalars, mask);
  std::vector<MemoryItem> of_spins = items_of(*spins, MaskSmoothing::no);
  if (scalars == nullptr) return of_spins;
  const std::vector<MemoryItem> of_scalars = items_of(*scalars, mask);
  if (mask == MaskSmoothing::yes) of_spins = with_masks(std::move(of_spins), of_scalars);
  return larger_phase(of_scalars, of_spins);
}

/// Collective.
MemoryShortage shortage_of(const Communicator& comm, const MemoryEstimate& estimate) {
  return memory_shortage(comm, estimate.buffers());
}

/// Checks data of the whole job against all nodes together, assuming that each has as little
/// memory as the smallest. Collective.
/// remedy  in addition to more nodes
void require_in_job(const Communicator& comm, double bytes, const std::string& what,
                    const char* remedy) {
  const double nodes = comm.sum(1.0 / comm.node_local().size());
  const auto of_node = static_cast<double>(comm.min(available_bytes()));
  if (bytes <= of_node * nodes) return;
  throw ResourceError(fmt::format(
      "{} do not fit the {} that {:.0f} node(s) have; {} or use at least {:.0f} nodes like these",
      what, bytes_text(of_node * nodes), nodes, remedy, std::ceil(bytes / of_node)));
}

}  // namespace

std::vector<MemoryItem> larger_phase(const std::vector<MemoryItem>& one,
                                     const std::vector<MemoryItem>& other) {
  const bool first = sum_of(one) >= sum_of(other);
  std::vector<MemoryItem> items = first ? one : other;
  for (const MemoryItem& item : first ? other : one) {
    const auto same = [&](const MemoryItem& present) { return present.name == item.name; };
    if (std::none_of(items.begin(), items.end(), same)) items.push_back({item.name, 0});
  }
  std::sort(items.begin(), items.end(),
            [](const auto& a, const auto& b) { return a.name < b.name; });
  return items;
}

MemoryItem program_memory() {
  return {name_of_program, resident_bytes() - MemoryMeter::current_bytes()};
}

MemoryEstimate with_program(std::vector<MemoryItem> items) {
  items.insert(items.begin(), {name_of_program, resident_bytes()});
  return {std::move(items)};
}

void add_per_pixel_buffers(const std::vector<MemoryItem>& per_pixel, const LocalRings& rings,
                           std::vector<MemoryItem>& items) {
  for (const MemoryItem& item : per_pixel)
    items.push_back({item.name, item.bytes * rings.n_pixels()});
}

std::int64_t MemoryEstimate::total() const { return sum_of(items); }

std::int64_t MemoryEstimate::buffers() const { return total() - items.front().bytes; }

MemoryEstimate estimate_memory(const TransformPlan& plan, const MemoryUse& use) {
  return with_program(transform_items(plan, use));
}

MemoryEstimate estimate_memory(const SphericalHarmonicTransform& transform, const MemoryUse& use) {
  if (transform.device() == nullptr) return estimate_memory(transform.plan(), use);
  const OffloadedTransform* offloaded = transform.offloaded();
  MemoryUse with_device = use;
  if (offloaded != nullptr) with_device.modes = ModeLocation::on_device;
  std::vector<MemoryItem> items = transform_items(transform.plan(), with_device);
  items.push_back({"pinned memory for copies", offloaded != nullptr
                                                   ? offloaded->pinned_bytes()
                                                   : transform.device()->planned.staging});
  return with_program(std::move(items));
}

MemoryEstimate estimate_memory(const RingMemoryUse& use) {
  return with_program(items_of_fields(use.scalars, use.spins, use.mask,
                                      [&](const RingConvolutionPlan& plan, MaskSmoothing mask) {
                                        return ring_items(plan, use.n_components, mask);
                                      }));
}

MemoryEstimate estimate_memory(const SplitMemoryUse& use) {
  return with_program(items_of_fields(
      use.scalars, use.spins, use.mask,
      [&](const SplitPlan& plan, MaskSmoothing mask) { return split_items(plan, use, mask); }));
}

Estimate predict_allocation(const Communicator& comm, const Machine& machine,
                            const MemoryEstimate& estimate) {
  const double bytes = comm.max(static_cast<double>(estimate.buffers()));
  return 1.0 / omp_get_max_threads() * machine.new_memory.estimate(bytes, bytes);
}

Estimate predict_files(const Machine& machine, const FileWork& work) {
  const auto all = [](std::int64_t n, const CostCurve& curve, double bytes) {
    return static_cast<double>(n) * curve.estimate(bytes, bytes);
  };
  return all(work.n_read, machine.file_read, work.read_bytes) +
         all(work.n_written, machine.file_write, work.written_bytes);
}

void require_memory(const Communicator& comm, const MemoryEstimate& estimate) {
  const MemoryShortage shortage = shortage_of(comm, estimate);
  if (shortage.largest() <= 0) return;
  const bool of_node = shortage.of_node > 0;
  const auto text = [](std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); };
  throw ResourceError(fmt::format(
      "this run needs {} more on one {}, which has {} less than that; use more "
      "{}, --precision single, a lower "
      "--lmax or no iterations (--dry-run lists the memory of each part)",
      text(of_node ? shortage.node_needs : shortage.rank_needs),
      of_node ? "node" : "rank (ulimit -v)", text(of_node ? shortage.of_node : shortage.of_rank),
      of_node ? "nodes" : "ranks"));
}

std::int64_t largest_shortage(const Communicator& comm, const MemoryEstimate& estimate) {
  return shortage_of(comm, estimate).largest();
}

bool fits_memory(const Communicator& comm, const MemoryEstimate& estimate) {
  return largest_shortage(comm, estimate) <= 0;
}

void require_memory_for(const Communicator& comm, const TransformSpec& spec, Precision precision) {
  const auto real_bytes = static_cast<double>(bytes_of(precision) * spec.fields.n_components());
  const double alm =
      static_cast<double>(AlmLayout::full_size(spec.lmax, spec.mmax)) * 2 * real_bytes;
  const double map = static_cast<double>(spec.grid->n_pixels()) * real_bytes;
  require_in_job(comm, alm + map,
                 fmt::format("map ({}) and a_lm ({}) of {} with lmax = {}", bytes_text(map),
                             bytes_text(alm), spec.grid->name(), spec.lmax),
                 "lower --lmax");
}

void require_memory_for(const Communicator& comm, const PointSpec& spec, Precision precision) {
  const auto real_bytes = static_cast<double>(bytes_of(precision) * spec.fields.n_components());
  const double alm =
      static_cast<double>(AlmLayout::full_size(spec.lmax, spec.mmax)) * 2 * real_bytes;
  require_in_job(comm, alm, fmt::format("a_lm ({}) with lmax = {}", bytes_text(alm), spec.lmax),
                 "lower --lmax");
}

void require_memory_for(const Communicator& comm, const RingGrid& grid, std::int64_t n_maps,
                        Precision precision) {
  const double maps =
      static_cast<double>(n_maps * bytes_of(precision)) * static_cast<double>(grid.n_pixels());
  require_in_job(comm, maps,
                 fmt::format("{} maps of {} ({})", n_maps, grid.name(), bytes_text(maps)),
                 "use --precision single");
}

std::string bytes_text(double bytes) {
  constexpr double unit = 1024;
  if (bytes < unit * unit) return fmt::format("{:.1f} KiB", bytes / unit);
  if (bytes < unit * unit * unit) return fmt::format("{:.1f} MiB", bytes / unit / unit);
  return fmt::format("{:.2f} GiB", bytes / unit / unit / unit);
}

}  // namespace ringweave::detail::inline app
