// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "base/scratch_arena.hpp"
#include "fft/host/lane_worker.hpp"
#include "fft/host/ring_plan.hpp"
#include "fft/host/ring_worker.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

constexpr const char* where = "ring FFT";

/// Workers of one thread. A block of rings uses only one of them at a time, so they share scratch.
struct Worker {
  Worker(const RingPlan& plan, const RingFftShape& shape) : lanes(plan, shape), rings(plan, shape) {
    ScratchArena of_lanes;
    ScratchArena of_rings;
    lanes.place(of_lanes);
    rings.place(of_rings);
    scratch.allocate(std::max(of_lanes.size(), of_rings.size()));
    of_lanes = of_rings = ScratchArena(scratch.data());
    lanes.place(of_lanes);
    rings.place(of_rings);
  }
  std::int64_t bytes() const { return lanes.bytes() + rings.bytes() + held_bytes(scratch); }

  LaneWorker lanes;
  RingWorker rings;
  HostBuffer<double> scratch;
};

class HostRingFft final : public RingFft, public RingSpectra, public RingRuns {
 public:
  explicit HostRingFft(RingFftShape shape)
      : shape_(std::move(shape)), plan_(shape_, omp_get_max_threads()) {
    std::int64_t n_workers = omp_get_max_threads();
    if (shape_.use == RingFftUse::maps) n_workers = std::min(n_workers, all().size());
    for (std::int64_t i = 0; i < n_workers; ++i) workers_.emplace_back(plan_, shape_);
    squares_.allocate(shape_.rings.n_rings() * shape_.n_components);
  }

  void synthesize(ModeView<const double> modes, AnyMapView<> map) override;
  void adjoint(AnyConstMapView<> map, std::span<const double> ring_weights, ModeView<double> modes,
               const AdjointCalls& calls) override;

  RingSpectra* spectra() noexcept override { return this; }
  void from_pixels(AnyMapView<> map) override;
  double apply(SpectrumOperator what, AnyConstMapView<> spectra,
               std::span<const double> ring_weights, ModeView<double> modes) override;

  RingRuns* runs() noexcept override { return shape_.use == RingFftUse::runs ? this : nullptr; }
  int n_threads() const noexcept override { return static_cast<int>(workers_.size()); }
  void synthesize(int thread, RingRange run, ModeView<const double> modes,
                  const RunPixels& pixels) noexcept override {
    workers_[to_size(thread)].lanes.synthesize(lane_run(run), modes.data(), pixels);
  }
  void adjoint(int thread, RingRange run, const RunPixels& pixels,
               ModeView<double> modes) noexcept override {
    workers_[to_size(thread)].lanes.adjoint(lane_run(run), pixels, modes.data());
  }

  std::int64_t bytes() const override {
    std::int64_t sum = plan_.bytes() + held_bytes(squares_);
    for (const Worker& worker : workers_) sum += worker.bytes();
    return sum;
  }

 private:
  /// Consecutive lane runs and blocks of the plan.
  struct Blocks {
    std::span<const LaneRun> lane_runs;
    std::span<const RingBlock> others;
    std::int64_t size() const { return ssize64(lane_runs) + ssize64(others); }
  };
  Blocks all() const { return {plan_.lane_runs, plan_.blocks}; }
  LaneRun lane_run(RingRange run) const noexcept {
    const LocalRing first = shape_.rings.local(RingId{run.begin});
    return {run, index(first), plan_.ring(first).length};
  }
  void check_modes(ModeView<const double> modes) const;
  template <class T>
  void check_map(MapView<const T> map) const;
  void check_weights(std::span<const double> ring_weights) const;
  /// Calls work(worker, rings) for lane runs with a LaneWorker and for the other blocks with a
  /// RingWorker, distributed over threads; the first thread calls `meanwhile` before each of its
  /// own.
  template <class Work>
  void for_each_block(
      const Blocks& blocks, const Work& work, const std::function<void()>& meanwhile = [] {});

  RingFftShape shape_;
  RingPlan plan_;
  std::vector<Worker> workers_;
  HostBuffer<double> squares_;  ///< [owned ring][component]
};

void HostRingFft::check_modes(ModeView<const double> modes) const {
  require_planned(where, modes.size(), shape_.rows.size() * shape_.n_components, "ring modes");
}

template <class T>
void HostRingFft::check_map(MapView<const T> map) const {
  require_planned(where, map.n_components(), shape_.n_components, "components of a map");
  require_planned(where, map.size(), shape_.rings.n_pixels(), "pixels of a component");
}

void HostRingFft::check_weights(std::span<const double> ring_weights) const {
  if (ring_weights.empty()) return;
  require_planned(where, ssize64(ring_weights), shape_.rings.n_rings(), "ring weights");
}

template <class Work>
void HostRingFft::for_each_block(const Blocks& blocks, const Work& work,
                                 const std::function<void()>& meanwhile) {
  const std::int64_t n_runs = ssize64(blocks.lane_runs);
  const std::int64_t n_all = blocks.size();
  if (n_all == 0) return;
  const int n_threads =
      std::min(checked_cast<int>(ssize64(workers_), "threads"), omp_get_max_threads());
  // Nothing in this region allocates or throws.
#pragma omp parallel num_threads(n_threads)
  {
    const auto thread = static_cast<std::size_t>(omp_get_thread_num());
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < n_all; ++i) {
      if (thread == 0) meanwhile();
      if (i < n_runs) {
        work(workers_[thread].lanes, blocks.lane_runs[to_size(i)]);
      } else {
        work(workers_[thread].rings, blocks.others[to_size(i - n_runs)]);
      }
    }
  }
}

void HostRingFft::synthesize(ModeView<const double> modes, AnyMapView<> map) {
  check_modes(modes);
  std::visit(
      [&]<class T>(MapView<T> view) {
        check_map<T>(view);
        for_each_block(all(), [&](auto& worker, const auto& rings) {
          worker.synthesize(rings, modes.data(), view);
        });
      },
      map);
}

void HostRingFft::adjoint(AnyConstMapView<> map, std::span<const double> ring_weights,
                          ModeView<double> modes, const AdjointCalls& calls) {
  const auto n_runs = to_size(plan_.n_urgent_lane_runs);
  const auto n_others = to_size(plan_.n_urgent_blocks);
  const auto [lane_runs, others] = all();
  const Blocks urgent{lane_runs.first(n_runs), others.first(n_others)};
  const Blocks rest{lane_runs.subspan(n_runs), others.subspan(n_others)};
  check_modes(modes);
  std::visit(
      [&]<class T>(MapView<const T> view) {
        check_map<T>(view);
        check_weights(ring_weights);
        const auto work = [&](auto& worker, const auto& rings) {
          worker.adjoint(rings, view, ring_weights, modes.data());
        };
        for_each_block(urgent, work);
        calls.urgent_done();
        for_each_block(rest, work, calls.meanwhile);
      },
      map);
}

void HostRingFft::from_pixels(AnyMapView<> map) {
  std::visit(
      [&]<class T>(MapView<T> view) {
        check_map<T>(view);
        for_each_block(all(),
                       [&](auto& worker, const auto& rings) { worker.to_spectra(rings, view); });
      },
      map);
}

double HostRingFft::apply(SpectrumOperator what, AnyConstMapView<> spectra,
                          std::span<const double> ring_weights, ModeView<double> modes) {
  check_modes(modes);
  std::visit(
      [&]<class T>(MapView<const T> view) {
        if (what != SpectrumOperator::adjoint_of_synthesis) check_map<T>(view);
        check_weights(ring_weights);
        for_each_block(all(), [&](auto& worker, const auto& rings) {
          worker.apply_operator(what, rings, view, ring_weights, modes.data(), squares_.data());
        });
      },
      spectra);
  return what == SpectrumOperator::adjoint_of_residual
             ? std::accumulate(squares_.begin(), squares_.end(), 0.0)
             : 0;
}

}  // namespace

std::unique_ptr<RingFft> make_host_ring_fft(RingFftShape shape) {
  return std::make_unique<HostRingFft>(std::move(shape));
}

}  // namespace ringweave::detail::inline fft
