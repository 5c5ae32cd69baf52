// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/device_buffer.hpp"
#include "base/first_error.hpp"
#include "gyro/device_plane_values.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/gyro_plan.hpp"
#include "gyro/loop_plan.hpp"
#include "gyro/scheme.hpp"
#include "gyro/task_shares.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// One worker: its scheme's work, and doubles for planes that are stored as floats or elsewhere.
struct GyroWorker {
  std::unique_ptr<SchemeWork> work;
  int n_threads = 1;
  HostBuffer<double> loaded;
  HostBuffer<double> stored;
  DeviceBuffer<double> on_device;  ///< planes loaded or stored, of data on a device
  std::int64_t loaded_batch = -1;  ///< of fields, by spread()
  double indicator = 0;
  std::int64_t bytes_sent_before = 0;  ///< the last call
  double halo_seconds = 0;             ///< of its scheme, that were reported
  double sides_seconds = 0;
};

/// Goes through the radii and fields of a rank, which is not idle, in one direction or the other.
/// Allocates in the constructor only.
class GyroLoops {
 public:
  /// radius_group  the ranks with the same fields and rows, by radius part
  /// progress      see Gyroaverage
  GyroLoops(GyroPlan plan, const LoopPlan& loops, std::unique_ptr<Scheme> scheme,
            const Communicator& radius_group, const GyroProgress& progress = {});

  /// See Gyroaverage::on_progress().
  void on_progress(GyroProgress progress) { progress_ = std::move(progress); }

  // Views are those of the plan's data.

  /// Averages every field over every radius, times its weight (empty: 1).
  template <class T, MemorySpace Space>
  void spread(Direction direction, ComponentView<const T, Space> in,
              std::span<const double> weights, ComponentView<T, Space> out);
  /// Averages fields of every radius over their radius. May work in place.
  template <class T, MemorySpace Space>
  void pairs(Direction direction, ComponentView<const T, Space> in, ComponentView<T, Space> out);
  /// Sums weighted averages (no weights: 1) of the fields of every radius over all radii of all
  /// ranks, where the plan forms sums. Collective over the radius group: where operators are made
  /// again and one rank lacks the memory, all throw its ResourceError.
  template <class T, MemorySpace Space>
  void sum(Direction direction, ComponentView<const T, Space> in, std::span<const double> weights,
           ComponentView<T, Space> out);

  /// Looks for values in the device's memory that are not finite.
  template <class T>
  NotFinite not_finite(const GyroRows& rows, const PlaneComponents& numbers,
                       ComponentView<const T, MemorySpace::device> planes);

  double indicator() const;         ///< largest of the last call
  std::int64_t bytes_sent() const;  ///< in the last call, without those of a sum
  std::int64_t bytes() const;
  StageTimes& times() { return times_; }

 private:
  using Workers = std::vector<GyroWorker>;
  /// A range of radii.
  struct Radii {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t count() const { return end - begin; }
  };
  /// A range of the rank's fields.
  struct Batch {
    std::int64_t first = 0;
    std::int64_t count = 0;
  };

  void make_tables(const GyroProgress& progress);
  Workers make_workers(int n_workers, int n_threads) const;
  void begin_call();
  Batch batch(std::int64_t number) const;
  /// Calls work(radii) for all radii of the rank, some at a time where operators are made again.
  template <class Work>
  void for_operators(const Work& work);
  /// Calls work(worker, task) for n tasks; those of one worker begin with consecutive ones.
  template <class Work>
  void share(Workers& workers, std::int64_t n, const Work& work);
  /// Splits the seconds of a loop into stages, of which schemes name some.
  void report(Workers& workers, double seconds);
  /// Adds weight times the averages of the worker's planes over a radius, and reports progress.
  void add(GyroWorker& worker, std::int64_t radius, double weight, std::int64_t n_planes);
  template <class T>
  void load(GyroWorker& worker, ComponentView<const T> planes) const;
  template <class T>
  void load(GyroWorker& worker, ComponentView<const T, MemorySpace::device> planes) const;
  template <class T>
  void store(GyroWorker& worker, ComponentView<T> planes) const;
  template <class T>
  void store(GyroWorker& worker, ComponentView<T, MemorySpace::device> planes) const;

  /// Copies planes of the host to the device.
  template <class T>
  void give(GyroWorker& worker, ComponentView<const double> from,
            ComponentView<T, MemorySpace::device> to) const;

  double* block_plane(std::int64_t batch_of_round, std::int64_t block);
  /// Forms the blocks of batches [first, end).
  template <class T, MemorySpace Space>
  void sum_blocks(Direction direction, ComponentView<const T, Space> in,
                  std::span<const double> weights, std::int64_t first, std::int64_t end,
                  std::int64_t plane);
  template <class T, MemorySpace Space>
  void sum_block(GyroWorker& worker, Direction direction, ComponentView<const T, Space> in,
                 std::span<const double> weights, const Batch& batch, const Radii& radii,
                 const Radii& block, ComponentView<double> sums);
  /// Adds the blocks of one batch, in order, on the host.
  template <class T>
  void add_blocks(std::int64_t batch_of_round, ComponentView<T> out);

  GyroPlan plan_;
  LoopPlan loops_;
  std::unique_ptr<Scheme> scheme_;
  Communicator radius_group_;
  std::unique_ptr<DevicePlaneValues> values_;  ///< where data is on a device
  Workers workers_;                            ///< of one thread each
  Workers team_;                               ///< one with all threads, or none
  TaskShares shares_;                          ///< of the workers
  HostBuffer<double> blocks_;
  HostBuffer<double> received_;
  /// The first error of copies of planes, thrown at the end of a call: ranks that share rows or
  /// radii would wait.
  mutable FirstError device_error_;
  StageTimes times_;
  GyroProgress progress_{};
  std::atomic<std::int64_t> n_formed_{0};  ///< averages of this call
};

}  // namespace ringweave::detail::inline gyro
