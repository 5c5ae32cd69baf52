// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/host_ring_fft.hpp"

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
  std::int64_t bytes() const {
    return lanes.bytes() + rings.bytes() +
           scratch.size() * static_cast<std::int64_t>(sizeof(double));
  }

  LaneWorker lanes;
  RingWorker rings;
  HostBuffer<double> scratch;
};

class HostRingFft final : public RingFft, public RingSpectra {
 public:
  explicit HostRingFft(RingFftShape shape)
      : shape_(std::move(shape)), plan_(shape_, omp_get_max_threads()) {
    const std::int64_t n_workers = std::min<std::int64_t>(omp_get_max_threads(), all().size());
    for (std::int64_t i = 0; i < n_workers; ++i) workers_.emplace_back(plan_, shape_);
    squares_.allocate(shape_.rings.n_rings() * shape_.n_components);
  }

  void synthesize(ModeView<const double> modes, AnyMapView<> map) override {
    std::visit([&](auto view) { synthesize_map(modes, view); }, map);
  }
  void adjoint(AnyConstMapView<> map, std::span<const double> ring_weights, ModeView<double> modes,
               Step step, const std::function<void()>& meanwhile) override {
    std::visit(
        [&](auto view) { adjoint_map(blocks_of(step), view, ring_weights, modes, meanwhile); },
        map);
  }

  RingSpectra* spectra() noexcept override { return this; }
  void take(AnyMapView<> map) override {
    std::visit([&](auto view) { take_of(view); }, map);
  }
  void adjoint_of_map(AnyConstMapView<> spectra, std::span<const double> ring_weights,
                      ModeView<double> modes) override {
    fold_back(SpectrumOperator::adjoint_of_map, spectra, ring_weights, modes);
  }
  double adjoint_of_residual(AnyConstMapView<> spectra, std::span<const double> ring_weights,
                             ModeView<double> modes) override {
    return fold_back(SpectrumOperator::adjoint_of_residual, spectra, ring_weights, modes);
  }
  void adjoint_of_synthesis(std::span<const double> ring_weights, ModeView<double> modes) override {
    fold_back(SpectrumOperator::adjoint_of_synthesis, {}, ring_weights, modes);
  }

  std::int64_t bytes() const override {
    std::int64_t sum = plan_.bytes() + squares_.size() * static_cast<std::int64_t>(sizeof(double));
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
  Blocks all() const { return {plan_.lane_runs(), plan_.blocks()}; }
  Blocks blocks_of(Step step) const;
  template <class T>
  void synthesize_map(ModeView<const double> modes, MapView<T> map);
  template <class T>
  void adjoint_map(const Blocks& blocks, MapView<const T> map, std::span<const double> ring_weights,
                   ModeView<double> modes, const std::function<void()>& meanwhile);
  template <class T>
  void take_of(MapView<T> map);
  /// Returns the sum of squares of the residual's pixels.
  double fold_back(SpectrumOperator what, AnyConstMapView<> spectra,
                   std::span<const double> ring_weights, ModeView<double> modes) {
    return std::visit([&](auto view) { return fold_back_spectra(what, view, ring_weights, modes); },
                      spectra);
  }
  template <class T>
  double fold_back_spectra(SpectrumOperator what, MapView<const T> spectra,
                           std::span<const double> ring_weights, ModeView<double> modes);
  void check_modes(ModeView<const double> modes) const;
  template <class T>
  void check_map(MapView<const T> map) const;
  void check_weights(std::span<const double> ring_weights) const;
  /// Calls lane_work(worker, run) for the lane runs and work(worker, block) for the other blocks,
  /// distributed over threads; the first thread calls `meanwhile` before each of its own.
  template <class LaneWork, class Work>
  void for_each_block(const Blocks& blocks, const LaneWork& lane_work, const Work& work,
                      const std::function<void()>& meanwhile);
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

HostRingFft::Blocks HostRingFft::blocks_of(Step step) const {
  const std::size_t n_runs = to_size(plan_.n_urgent_lane_runs());
  const std::size_t n_others = to_size(plan_.n_urgent_blocks());
  const Blocks both = all();
  if (step == Step::all) return both;
  if (step == Step::urgent) return {both.lane_runs.first(n_runs), both.others.first(n_others)};
  return {both.lane_runs.subspan(n_runs), both.others.subspan(n_others)};
}

template <class LaneWork, class Work>
void HostRingFft::for_each_block(const Blocks& blocks, const LaneWork& lane_work, const Work& work,
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
        lane_work(workers_[thread].lanes, blocks.lane_runs[to_size(i)]);
      } else {
        work(workers_[thread].rings, blocks.others[to_size(i - n_runs)]);
      }
    }
  }
}

template <class T>
void HostRingFft::synthesize_map(ModeView<const double> modes, MapView<T> map) {
  check_modes(modes);
  check_map<T>(map);
  const auto lane_work = [&](LaneWorker& worker, const LaneRun& run) {
    worker.synthesize(run, modes.data(), map);
  };
  const auto work = [&](RingWorker& worker, const RingBlock& block) {
    worker.synthesize(block, modes.data(), map);
  };
  for_each_block(all(), lane_work, work, [] {});
}

template <class T>
void HostRingFft::adjoint_map(const Blocks& blocks, MapView<const T> map,
                              std::span<const double> ring_weights, ModeView<double> modes,
                              const std::function<void()>& meanwhile) {
  check_modes(modes);
  check_map<T>(map);
  check_weights(ring_weights);
  const auto lane_work = [&](LaneWorker& worker, const LaneRun& run) {
    worker.adjoint(run, map, ring_weights, modes.data());
  };
  const auto work = [&](RingWorker& worker, const RingBlock& block) {
    worker.adjoint(block, map, ring_weights, modes.data());
  };
  for_each_block(blocks, lane_work, work, meanwhile);
}

template <class T>
void HostRingFft::take_of(MapView<T> map) {
  check_map<T>(map);
  const auto lane_work = [&](LaneWorker& worker, const LaneRun& run) {
    worker.to_spectra(run, map);
  };
  const auto work = [&](RingWorker& worker, const RingBlock& block) {
    worker.to_spectra(block, map);
  };
  for_each_block(all(), lane_work, work, [] {});
}

template <class T>
double HostRingFft::fold_back_spectra(SpectrumOperator what, MapView<const T> spectra,
                                      std::span<const double> ring_weights,
                                      ModeView<double> modes) {
  check_modes(modes);
  if (what != SpectrumOperator::adjoint_of_synthesis) check_map<T>(spectra);
  check_weights(ring_weights);
  const auto lane_work = [&](LaneWorker& worker, const LaneRun& run) {
    worker.fold_back(what, run, spectra, ring_weights, modes.data(), squares_.data());
  };
  const auto work = [&](RingWorker& worker, const RingBlock& block) {
    worker.fold_back(what, block, spectra, ring_weights, modes.data(), squares_.data());
  };
  for_each_block(all(), lane_work, work, [] {});
  return what == SpectrumOperator::adjoint_of_residual
             ? std::accumulate(squares_.begin(), squares_.end(), 0.0)
             : 0;
}

}  // namespace

std::unique_ptr<RingFft> make_host_ring_fft(RingFftShape shape) {
  return std::make_unique<HostRingFft>(std::move(shape));
}

}  // namespace ringweave::detail::inline fft
