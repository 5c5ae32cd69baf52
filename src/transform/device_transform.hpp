// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/exchange/device_route.hpp"
#include "distribute/mpi/communicator.hpp"
#include "transform/device_stages.hpp"
#include "transform/field_groups.hpp"
#include "transform/pipeline.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// Transform of a_lm and maps that lie on a device, one device to a rank (several ranks may share
/// one). Only modes that MPI cannot read on the device are copied to the host.
///
/// On one rank calls are put in the order of stream() and return at once. On several ranks calls
/// are collective, and results are there for later work of stream(). T is the storage type of maps
/// and a_lm, float or double. Groups of fields (TransformSpec::mode_bytes) follow one another. In
/// single precision every call waits: it ends with a DataError on all ranks where a mode was too
/// large. One call at a time per object.
class DeviceTransform {
 public:
  template <class T>
  using Alm = AlmView<T, MemorySpace::device>;
  template <class T>
  using Map = MapView<T, MemorySpace::device>;
  using Weights = DeviceStages::Weights;
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
  /// `times`, which outlives the object, and calls return when they are done; null: no more.
  void time_stages(StageTimes* times);

  /// Ring modes and buffers of the exchange: the constructor allocates them, and the next call
  /// after a release. Not collective.
  void allocate();
  void release() noexcept;

  std::int64_t device_bytes() const;
  std::int64_t staging_bytes() const;
  DeviceRoute route() const { return route_; }
  const DeviceStream& stream() const { return *stream_; }

 private:
  using DevicePipeline = Pipeline<DeviceStages>;

  DevicePipeline make_pipeline(const TransformPlan& plan, const FieldSet& fields) const;
  DevicePipeline& pipeline_of(const FieldGroup& group) { return pipelines_[to_size(group.shape)]; }
  DeviceStages::Modes modes_of(const FieldGroup& group);
  template <class T>
  void require(const Alm<const T>& alm, const Map<const T>& map) const;

  Communicator comm_;
  std::int64_t n_components_;
  std::int64_t alm_size_;
  std::int64_t n_pixels_;
  std::int64_t n_rings_;
  std::vector<FieldGroup> groups_;
  std::unique_ptr<DeviceStream> stream_;
  DeviceRoute route_;
  std::vector<DevicePipeline> pipelines_;     ///< [shape of a group]
  DeviceBuffer<std::complex<double>> modes_;  ///< by ring and slots; large enough for any group
};

}  // namespace ringweave
