// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/exchange/device_exchange.hpp"
#include "distribute/mpi/communicator.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "transform/field_groups.hpp"
#include "transform/graph_cache.hpp"
#include "transform/stream_stages.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// The line of the program where a_lm and maps lie on a device, one device to a rank (several
/// ranks may share one): nothing touches the host but what MPI cannot take from a device.
///
/// On one rank calls are put in the order of stream() and return at once. On several ranks calls
/// are collective, and results are there for what is put on stream() afterwards. The work of a call
/// that is made again with the same memory is replayed as graphs of launches, one for each stage
/// and, with several ranks, each part of the rows. T is the storage type of maps and a_lm, float or
/// double. Groups of fields (TransformSpec::mode_bytes) go through one after the other. Ring modes
/// that travel in single precision are rounded there, on one rank too, and every call then waits:
/// it ends with a DataError on all ranks where they were too large. One call at a time per object.
class DeviceTransform {
 public:
  template <class T>
  using Alm = AlmView<T, MemorySpace::device>;
  template <class T>
  using Map = MapView<T, MemorySpace::device>;
  using Weights = DeviceRingFft::Weights;
  using Accumulate = LegendreStage::Accumulate;

  /// For the fields of the plan, in its groups, on this thread's device (choose_device).
  /// Collective. Error  UsageError when this build has no CUDA, ResourceError from the device.
  DeviceTransform(const Communicator& comm, const TransformPlan& plan);
  ~DeviceTransform() { release(); }
  DeviceTransform(const DeviceTransform&) = delete;
  DeviceTransform& operator=(const DeviceTransform&) = delete;

  /// alm  [component][my order][l], read only
  /// map  [component][pixel of my rings], overwritten
  template <class T>
  void synthesize(Alm<const T> alm, Map<T> map);

  /// The exact transpose. ring_weights  [owned ring]; empty: all 1.
  template <class T>
  void adjoint(Map<const T> map, Weights ring_weights, Alm<T> alm,
               Accumulate how = Accumulate::overwrite);

  /// From now on the seconds of every stage are added to "legendre", "exchange", "ring_fft" of
  /// `times`, which outlives the object, and calls return when they are done; null: no more. On
  /// one rank nothing waits between the stages, on several ranks each is waited for.
  void time_stages(StageTimes* times) { times_ = times; }

  /// Ring modes and staging buffers: the constructor allocates them, and the next call after a
  /// release. Not collective.
  void allocate();
  void release() noexcept;

  std::int64_t device_bytes() const;
  std::int64_t staging_bytes() const;
  DeviceRoute route() const { return route_; }
  const DeviceStream& stream() const { return *stream_; }

 private:
  using Modes = DeviceBuffer<std::complex<double>>;
  using ModesThere = ModeView<double, MemorySpace::device>;
  /// What is planned for the fields of a group.
  struct Stages {
    std::int64_t n_components = 0;
    std::unique_ptr<DeviceLegendreStage> legendre{};
    std::unique_ptr<DeviceRingFft> ring_fft{};
    std::unique_ptr<DeviceExchange> exchange{};
  };
  /// Work that is replayed: a stage of a call, or some rows of it, and what it reads and writes.
  /// Equal ones give the device the same.
  struct GraphKey {
    enum class Stage {
      synthesis_rows,
      adjoint_rows,
      adjoint_rows_adding,
      to_pixels,
      to_modes
    } stage;
    int shape;  ///< of the group, whose stages do it
    std::int64_t bytes_of_number;
    const void* values;  ///< a_lm or a map
    std::int64_t stride;
    const void* weights;
    std::int64_t first_row;
    std::int64_t n_rows;
    friend bool operator==(const GraphKey&, const GraphKey&) = default;
  };

  bool alone() const { return comm_.size() == 1; }
  bool in_single() const { return precision_ == ModePrecision::single_; }
  Stages plan_stages(const TransformPlan& plan, const FieldSet& fields) const;
  Stages& stages_of(const FieldGroup& group) { return stages_[to_size(group.shape)]; }
  ModesThere ring_modes(const Stages& stages) {
    return {ring_modes_.data(), ring_positions_ * stages.n_components};
  }
  ModesThere order_modes(const Stages& stages) {
    if (alone()) return ring_modes(stages);
    return {order_modes_.data(), order_positions_ * stages.n_components};
  }
  template <class T>
  void require(const Alm<const T>& alm, const Map<const T>& map) const;
  void submit(const GraphKey& key, const std::function<void()>& work) {
    graphs_.submit(key, *stream_, work);
  }
  void give_synthesis(Stages& stages, const DeviceExchange::RowWork& legendre,
                      const std::function<void()>& fft);
  void give_synthesis_alone(Stages& stages, const DeviceExchange::RowWork& legendre,
                            const std::function<void()>& fft);
  void give_adjoint(Stages& stages, const std::function<void()>& fft,
                    const DeviceExchange::RowWork& legendre);
  void give_adjoint_alone(Stages& stages, const std::function<void()>& fft,
                          const DeviceExchange::RowWork& legendre);
  void give_all_rows(Stages& stages, const DeviceExchange::RowWork& legendre);
  void round_alone(Stages& stages);
  void require_range();
  /// On one rank, where stages follow each other in the stream.
  void begin_stages();
  void end_stage(const char* stage);
  void add_stages();
  void wait_if_timed() const;

  Communicator comm_;
  std::int64_t n_components_;
  std::int64_t alm_size_;
  std::int64_t n_pixels_;
  std::int64_t n_rings_;
  ModePrecision precision_;
  std::int64_t order_positions_;  ///< of the modes of a component
  std::int64_t ring_positions_;
  std::vector<FieldGroup> groups_;
  std::unique_ptr<DeviceStream> stream_;
  DeviceRoute route_;
  std::vector<Stages> stages_;  ///< [shape of a group]
  // Large enough for any group.
  Modes ring_modes_;
  Modes order_modes_;
  StageTimes* times_ = nullptr;
  StreamStages<> stage_marks_;
  GraphCache<GraphKey> graphs_;
};

}  // namespace ringweave
