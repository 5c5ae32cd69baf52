// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/memory_estimate.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <numeric>

#include "base/error.hpp"
#include "base/memory_meter.hpp"
#include "perf_models/transform_model.hpp"

namespace ringweave {
namespace {

std::string bytes_text(double bytes) {
  constexpr double unit = 1024;
  if (bytes < unit * unit) return fmt::format("{:.1f} KiB", bytes / unit);
  if (bytes < unit * unit * unit) return fmt::format("{:.1f} MiB", bytes / unit / unit);
  return fmt::format("{:.2f} GiB", bytes / unit / unit / unit);
}

std::int64_t sum_of(const std::vector<MemoryItem>& items) {
  return std::accumulate(items.begin(), items.end(), std::int64_t{0},
                         [](std::int64_t sum, const MemoryItem& item) { return sum + item.bytes; });
}

/// The phase of a run that needs most; what it lacks stays in the list with 0 bytes, so that all
/// ranks have the same items.
std::vector<MemoryItem> fuller(const std::vector<MemoryItem>& one,
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

}  // namespace

std::int64_t MemoryEstimate::total() const { return sum_of(items); }

std::int64_t MemoryEstimate::buffers() const { return total() - items.front().bytes; }

MemoryEstimate estimate_memory(const SphericalHarmonicTransform& transform, Operation operation,
                               Precision precision) {
  const std::int64_t real_bytes = precision == Precision::single_ ? 4 : 8;
  const std::int64_t n = transform.fields().n_components();
  const MemoryItem map{"map", n * transform.rings().n_pixels() * real_bytes};
  const MemoryItem residual{"residual map", map.bytes};
  const MemoryItem alm{"a_lm", n * transform.alm_layout().size() * 2 * real_bytes};
  const TransformPlan& plan = transform.plan();
  const MemoryItem modes{"ring modes", plan.by_ring_bytes()};
  // With several ranks the modes by order lie in the map's memory, if they fit.
  const bool extra = plan.n_ranks > 1 && plan.by_order_bytes() > map.bytes;
  const MemoryItem orders{"ring modes by order", extra ? plan.by_order_bytes() : 0};

  MemoryEstimate estimate;
  switch (operation) {
    case Operation::synthesis_consuming:
      estimate.items = plan.n_ranks == 1 ? fuller({alm, modes}, {modes, map})
                                         : fuller({alm, map, orders}, {map, modes, orders});
      break;
    case Operation::analysis_consuming:
      estimate.items = plan.n_ranks == 1 ? fuller({alm, modes}, {modes, map})
                                         : fuller({alm, map, orders}, {map, modes, orders});
      break;
    case Operation::analysis_iterating: estimate.items = {map, residual, alm, modes, orders}; break;
    case Operation::analysis_conjugate:
      estimate.items = {
          map, residual, {"a_lm (solution and three vectors)", 4 * alm.bytes}, modes, orders};
      break;
    case Operation::smoothing_in_place: estimate.items = {map, alm, modes, orders}; break;
  }
  estimate.items.insert(estimate.items.begin(), {"program, libraries, tables", resident_bytes()});
  return estimate;
}

void require_memory(const Run& run, const MemoryEstimate& estimate) {
  const Communicator node = run.comm.node_local();
  const auto needed = static_cast<double>(node.sum(estimate.buffers()));
  const auto available = static_cast<double>(node.min(available_bytes()));
  // Every rank must give the same verdict: the worst node speaks for all.
  const double excess = run.comm.max(needed - available);
  if (excess <= 0) return;
  throw ResourceError(
      fmt::format("this run needs {} more on one node, which has {} less than that; use more "
                  "nodes, --precision single, a lower "
                  "--lmax or no iterations (--dry-run shows what needs how much)",
                  bytes_text(run.comm.max(needed)), bytes_text(excess)));
}

void require_memory_for(const Run& run, const TransformSpec& spec, Precision precision) {
  const double real_bytes = precision == Precision::single_ ? 4 : 8;
  const auto n = static_cast<double>(spec.fields.n_components());
  const double alm =
      n * static_cast<double>(AlmLayout::full_size(spec.lmax, spec.mmax)) * 2 * real_bytes;
  const double map = n * static_cast<double>(spec.grid->n_pixels()) * real_bytes;
  const Communicator node = run.comm.node_local();
  const double nodes = run.comm.sum(1.0 / node.size());
  const auto available = static_cast<double>(run.comm.min(available_bytes())) * nodes;
  if (alm + map <= available) return;
  throw ResourceError(
      fmt::format("map ({}) and a_lm ({}) of {} with lmax = {} do not fit the {} that {:.0f} "
                  "node(s) have; lower --lmax or use more "
                  "nodes",
                  bytes_text(map), bytes_text(alm), spec.grid->name(), spec.lmax,
                  bytes_text(available), nodes));
}

void print_plan(Run& run, const SphericalHarmonicTransform& transform,
                const MemoryEstimate& estimate, int n_transforms) {
  const TransformPlan& plan = transform.plan();
  const Communicator& comm = run.comm;
  const auto spread = [&](const std::string& name, double value, bool is_bytes) {
    const double least = comm.min(value);
    const double mean = comm.sum(value) / comm.size();
    const double most = comm.max(value);
    const auto text = [&](double x) { return is_bytes ? bytes_text(x) : fmt::format("{:.0f}", x); };
    run.say(fmt::format("  {:<36}{:>14}{:>14}{:>14}{:>14}", name, text(least), text(mean),
                        text(most), text(mean * comm.size())));
  };
  run.say(fmt::format(
      "plan: {}, lmax {}, mmax {}, {} component(s), {} rank(s) x {} thread(s), {} transform(s)",
      plan.spec.grid->name(), plan.spec.lmax, plan.spec.mmax, plan.spec.fields.n_components(),
      comm.size(), omp_get_max_threads(), n_transforms));
  run.say(fmt::format("  {:<36}{:>14}{:>14}{:>14}{:>14}", "per rank", "min", "mean", "max", "sum"));
  spread("rings", static_cast<double>(plan.rings.n_rings()), false);
  spread("pixels", static_cast<double>(plan.rings.n_pixels()), false);
  spread("orders m", static_cast<double>(plan.alm.n_orders()), false);
  spread("sent per transform", static_cast<double>(plan.bytes_sent()), true);
  for (const MemoryItem& item : estimate.items) {
    if (comm.sum(item.bytes) > 0) spread(item.name, static_cast<double>(item.bytes), true);
  }
  spread("memory high-water", static_cast<double>(estimate.total()), true);

  TransformWork work;
  work.legendre_flops = plan.legendre_flops();
  work.fft_bytes =
      plan.by_ring_bytes() + plan.rings.n_pixels() * plan.spec.fields.n_components() * 8;
  work.exchange_bytes = plan.bytes_sent();
  work.n_ranks = comm.size();
  work.n_threads = omp_get_max_threads();
  const TransformSeconds seconds = predict_transform(work);
  const double predicted = comm.max(seconds.total()) * n_transforms;
  run.say(fmt::format(
      "  predicted: about {:.2g} s in transforms (Legendre {:.2g}, ring FFT {:.2g}, exchange "
      "{:.2g})",
      predicted, comm.max(seconds.legendre) * n_transforms,
      comm.max(seconds.ring_fft) * n_transforms, comm.max(seconds.exchange) * n_transforms));
  run.report["plan"] = {{"memory_high_water_bytes", comm.sum(estimate.total())},
                        {"buffers_high_water_bytes", comm.sum(estimate.buffers())},
                        {"predicted_seconds", predicted}};
}

}  // namespace ringweave
