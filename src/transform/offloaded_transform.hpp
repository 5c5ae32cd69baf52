// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "base/device_buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/stream_copies.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"
#include "transform/device_transform.hpp"

namespace ringweave::detail::inline transform {

/// Transform of a_lm and maps on the host when all of it fits on a device: copies the input there,
/// runs a DeviceTransform, and copies the result back. Or of data that are on the device
/// (TransformSpec::data), without copies.
class OffloadedTransform {
 public:
  /// Plans and allocates everything. Collective. Error  as DeviceTransform.
  OffloadedTransform(const Communicator& comm, const TransformPlan& plan);
  ~OffloadedTransform();

  // Collective. Seconds of the stages, "upload" and "download" included, are added to `times`.
  // Error  UsageError on all ranks when a shape is wrong on one; ResourceError from a device.
  template <class T>
  void synthesize(AlmView<const T> alm, MapView<T> map, StageTimes& times);
  template <class T>
  void adjoint(MapView<const T> map, std::span<const double> ring_weights, AlmView<T> alm,
               Accumulate how, StageTimes& times);

  // The same for data on the device, which are there when the call returns.
  template <class T>
  void synthesize(AlmView<const T, MemorySpace::device> alm, MapView<T, MemorySpace::device> map,
                  StageTimes& times);
  template <class T>
  void adjoint(MapView<const T, MemorySpace::device> map, DeviceTransform::Weights ring_weights,
               AlmView<T, MemorySpace::device> alm, Accumulate how, StageTimes& times);

  /// Frees everything except tables; the next call allocates it again. Not collective.
  void release() noexcept;

  std::int64_t device_bytes() const;
  std::int64_t pinned_bytes() const;  ///< on the host
  const DeviceTransform& transform() const { return transform_; }

 private:
  void allocate();
  void require_data_on_host() const;
  template <class T>
  AlmView<T, MemorySpace::device> device_alm();
  template <class T>
  MapView<T, MemorySpace::device> device_map();
  template <class T>
  void upload(ComponentView<const T> from, ComponentView<T, MemorySpace::device> to);
  template <class T>
  void download(ComponentView<T, MemorySpace::device> from, ComponentView<T> to);

  Communicator comm_;
  MemorySpace data_;
  DeviceTransform transform_;
  // For data on the host. Sized for doubles, used for floats too.
  DeviceBuffer<std::complex<double>> alm_;
  DeviceBuffer<double> map_;
  DeviceBuffer<double> weights_;
  std::unique_ptr<StreamCopies> copies_;  ///< in the order of the transform's stream
};

}  // namespace ringweave::detail::inline transform
