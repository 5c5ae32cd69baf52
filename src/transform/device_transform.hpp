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
#include "distribute/exchange/device_route.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"
#include "transform/device_stages.hpp"
#include "transform/field_groups.hpp"
#include "transform/pipeline.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline transform {

/// Sizes of a rank's a_lm, maps and weights of rings.
struct TransformSizes {
  std::int64_t n_components;
  std::int64_t alm;
  std::int64_t n_pixels;
  std::int64_t n_rings;

  /// Throws UsageError, which names `where`, unless a call has these sizes; 0 weights: none.
  template <class Alm, class Map>
  void require(const char* where, const Alm& a, const Map& map, std::int64_t n_weights = 0) const {
    require_planned(where, a.n_components(), n_components, "components of a_lm");
    require_planned(where, a.size(), alm, "coefficients of a component");
    require_planned(where, map.n_components(), n_components, "components of a map");
    require_planned(where, map.size(), n_pixels, "pixels");
    if (n_weights > 0) require_planned(where, n_weights, n_rings, "weights of rings");
  }
};

/// Transform of a_lm and maps on a device, one device per rank (several ranks may share one). Only
/// modes that MPI cannot read on the device are copied to the host.
///
/// On one rank calls are enqueued on stream() and return at once. On several ranks calls are
/// collective, and later work of stream() sees their results. T is the storage type of maps and
/// a_lm, float or double. Groups of fields (TransformSpec::mode_bytes) are transformed one after
/// the other. In single precision every call waits, and throws a DataError on all ranks when a mode
/// was too large. One call at a time per object.
class DeviceTransform {
 public:
  template <class T>
  using Alm = AlmView<T, MemorySpace::device>;
  template <class T>
  using Map = MapView<T, MemorySpace::device>;
  using Weights = DeviceStages::Weights;

  /// Transforms the fields of the plan, in its groups, on this thread's device (choose_device).
  /// Collective. Error  UsageError when this build has no CUDA; ResourceError from the device.
  DeviceTransform(const Communicator& comm, const TransformPlan& plan);
  ~DeviceTransform() { release(); }
  DeviceTransform(const DeviceTransform&) = delete;
  DeviceTransform& operator=(const DeviceTransform&) = delete;

  /// alm  [component][my order][l], read only
  /// map  [component][pixel of my rings], overwritten
  template <class T>
  void synthesize(Alm<const T> alm, Map<T> map);

  /// Applies the exact transpose of synthesize(). ring_weights  [owned ring]; empty: all 1.
  template <class T>
  void adjoint(Map<const T> map, Weights ring_weights, Alm<T> alm,
               Accumulate how = Accumulate::overwrite);

  /// Adds the seconds of later stages to "legendre", "exchange" and "ring_fft" of `times`, which
  /// must outlive the object; calls then return when they are done. Null: stops timing.
  void time_stages(StageTimes* times);

  /// Allocates ring modes and buffers of the exchange, as do the constructor and the first call
  /// after a release. Not collective.
  void allocate();
  void release() noexcept;

  std::int64_t device_bytes() const;
  std::int64_t staging_bytes() const;
  const TransformSizes& sizes() const { return sizes_; }
  DeviceRoute route() const { return route_; }
  const DeviceStream& stream() const { return *stream_; }

 private:
  using DevicePipeline = Pipeline<DeviceStages>;

  DevicePipeline make_pipeline(const TransformPlan& plan, const FieldSet& fields) const;
  DevicePipeline& pipeline_of(const FieldGroup& group) { return pipelines_[to_size(group.shape)]; }
  DeviceStages::Modes modes_of(const FieldGroup& group);

  Communicator comm_;
  TransformSizes sizes_;
  std::vector<FieldGroup> groups_;
  std::unique_ptr<DeviceStream> stream_;
  DeviceRoute route_;
  std::vector<DevicePipeline> pipelines_;     ///< [shape of a group]
  DeviceBuffer<std::complex<double>> modes_;  ///< by ring, and the slots; fits any group
};

}  // namespace ringweave::detail::inline transform
