// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/row_sweep.hpp"

#include <omp.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Returns the number of tasks. At the cut between two, rows are transformed twice, and points
/// looked at twice.
std::int64_t number_of_tasks(std::int64_t n_threads, std::int64_t n_tiles) {
  constexpr std::int64_t tasks_per_thread = 4;
  constexpr std::int64_t least_tiles = 4;
  if (n_threads == 1) return 1;
  return std::clamp(n_tiles / least_tiles, n_threads, tasks_per_thread * n_threads);
}

}  // namespace

RowSweep::RowSweep(PlannedPoints& points, std::vector<std::int64_t> rings, RingRuns& fft)
    : points_(&points),
      taps_(points.taps().get()),
      fft_(&fft),
      rings_(std::move(rings)),
      tasks_(cut_rows(points.tiles(), taps_->grid,
                      number_of_tasks(fft.n_threads(), ssize64(points.tiles())))) {
  const std::int64_t n_workers = std::min<std::int64_t>(fft.n_threads(), ssize64(tasks_));
  for (std::int64_t i = 0; i < n_workers; ++i) {
    workers_.push_back(
        {RowWindow(taps_->grid, rings_, ssize64(taps_->beyond_pole), points.most_rows()), 0, 0});
  }
  points.prepare(n_workers);
}

std::int64_t RowSweep::bytes_of_threads(const FineGrid& grid, std::int64_t n_components,
                                        std::int64_t n_threads, std::int64_t most_rows) {
  constexpr std::int64_t number = sizeof(double);
  return n_threads * number * (RowWindow::size_of(grid, n_components, most_rows) + grid.n_rows);
}

RowTaps RowSweep::taps_in(const RowWindow& window) const {
  return {taps_->grid, taps_->theta.polynomials(), taps_->phi.polynomials(), window.first_value(),
          taps_->beyond_pole};
}

template <class Work>
void RowSweep::for_each_task(StageTimes& times, const Work& work) {
  const Clock::time_point start = Clock::now();
  if (tasks_.empty()) return;
  const int n_threads =
      std::min(checked_cast<int>(ssize64(workers_), "threads"), omp_get_max_threads());
  for (Worker& worker : workers_) worker.row_seconds = worker.point_seconds = 0;
    // Nothing in this region allocates or throws.
#pragma omp parallel for num_threads(n_threads) schedule(dynamic)
  for (std::int64_t t = 0; t < ssize64(tasks_); ++t) work(omp_get_thread_num(), tasks_[to_size(t)]);
  // Threads do both at the same time: each stage gets its share of the seconds.
  double rows = 0;
  double both = 0;
  for (const Worker& worker : workers_) {
    rows += worker.row_seconds;
    both += worker.row_seconds + worker.point_seconds;
  }
  const double seconds = seconds_since(start);
  const double of_rows = both > 0 ? seconds * rows / both : 0;
  times.add("rows", of_rows);
  times.add("points", seconds - of_rows);
}

void RowSweep::interpolate(ModeView<const double> modes, AnyMapView<> values, StageTimes& times) {
  for_each_task(times, [&](int thread, const RowTask& task) {
    interpolate_task(thread, task, modes, values);
  });
}

void RowSweep::spread(AnyConstMapView<> values, ModeView<double> modes, StageTimes& times) {
  for_each_task(times,
                [&](int thread, const RowTask& task) { spread_task(thread, task, values, modes); });
}

void RowSweep::interpolate_task(int thread, const RowTask& task, ModeView<const double> modes,
                                AnyMapView<> values) noexcept {
  const std::span<const PointTile> tiles = points_->tiles();
  Worker& worker = workers_[to_size(thread)];
  RowWindow& window = worker.window;
  window.clear(tiles[to_size(task.first_tile)].rows.begin);
  for (std::int64_t t = task.first_tile; t < task.end_tile; ++t) {
    const RingRange needed = tiles[to_size(t)].rows;
    const Clock::time_point start = Clock::now();
    window.drop_before(needed.begin);
    window.extend(needed.end, [&](RingRange run, const RunPixels& pixels) {
      fft_->synthesize(thread, run, modes, pixels);
    });
    worker.row_seconds += seconds_since(start);
    const Clock::time_point interpolation_start = Clock::now();
    points_->interpolate(thread, t, {taps_in(window), window.values(), window.component_stride()},
                         values);
    worker.point_seconds += seconds_since(interpolation_start);
  }
}

void RowSweep::spread_task(int thread, const RowTask& task, AnyConstMapView<> values,
                           ModeView<double> modes) noexcept {
  const std::span<const PointTile> tiles = points_->tiles();
  Worker& worker = workers_[to_size(thread)];
  RowWindow& window = worker.window;
  const std::int64_t n_components = ssize64(taps_->beyond_pole);
  // No more points touch the rows north of this one.
  const auto finish_before = [&](std::int64_t row) {
    const Clock::time_point start = Clock::now();
    window.for_each_run_before(row, [&](RingRange run, const RunPixels& pixels) {
      fft_->adjoint(thread, run, pixels, modes);
    });
    window.drop_before(row);
    worker.row_seconds += seconds_since(start);
  };
  const auto set_to_zero = [&](RingRange, const RunPixels& pixels) {
    for (double* const ring : pixels.rings) {
      for (std::int64_t c = 0; c < n_components; ++c)
        std::fill_n(ring + c * pixels.component_stride, window.row_size(), 0.0);
    }
  };
  window.clear(task.rows.begin);
  // Points of tiles next to the task may touch its rows, too.
  std::int64_t first = task.first_tile;
  while (first > 0 && tiles[to_size(first - 1)].rows.end > task.rows.begin) --first;
  for (std::int64_t t = first; t < ssize64(tiles); ++t) {
    if (tiles[to_size(t)].rows.begin >= task.rows.end) break;
    const RingRange touched = intersection(tiles[to_size(t)].rows, task.rows);
    if (touched.empty()) continue;
    finish_before(touched.begin);
    const Clock::time_point start = Clock::now();
    window.extend(touched.end, set_to_zero);
    points_->spread(thread, t, task.rows,
                    {taps_in(window), window.values(), window.component_stride()}, values);
    worker.point_seconds += seconds_since(start);
  }
  finish_before(task.rows.end);
}

std::int64_t RowSweep::bytes() const {
  std::int64_t bytes = held_bytes(rings_, tasks_);
  for (const Worker& worker : workers_) bytes += worker.window.bytes();
  return bytes;
}

}  // namespace ringweave::detail::inline nonuniform
