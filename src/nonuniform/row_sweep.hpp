// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/mode_view.hpp"
#include "fft/ring_fft.hpp"
#include "nonuniform/fine_taps.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/planned_points.hpp"
#include "nonuniform/point_rows.hpp"
#include "nonuniform/row_tasks.hpp"
#include "nonuniform/row_window.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// Modes of fine rows <-> sums over the taps of points, without all rows in memory at once: every
/// thread goes through rows of its own from the north to the south, a tile of points after the
/// other, and has only the rows around these. Results are the same bit by bit for any number of
/// threads. Not collective.
class RowSweep final : public PointRows {
 public:
  /// rings  [fine row] its ring of `fft`, -1: another rank's or none
  /// Points and FFT must outlive the object.
  RowSweep(PlannedPoints& points, std::vector<std::int64_t> rings, RingRuns& fft);

  /// Returns the bytes of the rows of so many threads, where points of a tile touch `most_rows`.
  static std::int64_t bytes_of_threads(const FineGrid& grid, std::int64_t n_components,
                                       std::int64_t n_threads, std::int64_t most_rows);

  void interpolate(ModeView<const double> modes, AnyMapView<> values, StageTimes& times) override;
  void spread(AnyConstMapView<> values, ModeView<double> modes, StageTimes& times) override;

  std::int64_t bytes() const override;

 private:
  /// Rows and times of one thread.
  struct Worker {
    RowWindow window;
    double row_seconds = 0;
    double point_seconds = 0;
  };

  void interpolate_task(int thread, const RowTask& task, ModeView<const double> modes,
                        AnyMapView<> values) noexcept;
  void spread_task(int thread, const RowTask& task, AnyConstMapView<> values,
                   ModeView<double> modes) noexcept;
  /// Calls work(thread, task) for all tasks, distributed over threads.
  template <class Work>
  void for_each_task(StageTimes& times, const Work& work);
  RowTaps taps_in(const RowWindow& window) const;

  PlannedPoints* points_;
  const FineTaps* taps_;
  RingRuns* fft_;
  std::vector<std::int64_t> rings_;
  std::vector<RowTask> tasks_;
  std::vector<Worker> workers_;
};

}  // namespace ringweave::detail::inline nonuniform
