// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdint>

#include "base/cuda/device_machine.cuh"
#include "base/device_buffer.hpp"
#include "base/stream_copies.hpp"
#include "gyro/cuda/radius_sequence.hpp"
#include "gyro/device_radius_field.hpp"

namespace ringweave::detail::inline gyro {
namespace {

using Sequence = gpu::RadiusSequence<gpu::DeviceMachine>;

constexpr std::int64_t number_bytes = sizeof(double);

/// Applies the operator of some targets, or its transpose, to a few planes at a time.
class CudaRadiusField {
 public:
  CudaRadiusField(const RadiusTargets& targets, std::int64_t n_planes)
      : plan_(targets.grid, targets.interpolation, targets.radii, targets.row_begin,
              targets.row_end),
        most_planes_(std::min<std::int64_t>(n_planes, Sequence::averages_together)),
        machine_(stream_),
        copies_(stream_),
        sequence_(plan_, most_planes_, machine_),
        fields_(most_planes_ * plan_.grid.n_nodes()),
        results_(most_planes_ * plan_.grid.n_targets()),
        staging_(std::max(plan_.grid.n_nodes(), plan_.grid.n_targets())) {}
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaRadiusField() { stream_.finish(); }
  CudaRadiusField(const CudaRadiusField&) = delete;
  CudaRadiusField& operator=(const CudaRadiusField&) = delete;

  template <class T>
  void average(ComponentView<const T> fields, ComponentView<T> results,
               const GyroProgress& progress) {
    for (std::int64_t first = 0; first < fields.n_components(); first += most_planes_) {
      const std::int64_t n = std::min(most_planes_, fields.n_components() - first);
      upload(fields.components(first, n), fields_.data());
      sequence_.average(n, fields_.data(), results_.data());
      download(results_.data(), results.components(first, n),
               [](T& to, double value) { to = static_cast<T>(value); });
      if (progress) progress(first + n, fields.n_components());
    }
  }
  template <class T>
  void transpose(ComponentView<const T> results, ComponentView<T> fields,
                 const GyroProgress& progress) {
    for (std::int64_t first = 0; first < fields.n_components(); first += most_planes_) {
      const std::int64_t n = std::min(most_planes_, fields.n_components() - first);
      upload(results.components(first, n), results_.data());
      sequence_.transpose(n, results_.data(), fields_.data());
      download(fields_.data(), fields.components(first, n),
               [](T& to, double value) { to = static_cast<T>(static_cast<double>(to) + value); });
      if (progress) progress(first + n, fields.n_components());
    }
  }

 private:
  template <class T>
  void upload(ComponentView<const T> planes, double* to) {
    for (std::int64_t p = 0; p < planes.n_components(); ++p, to += planes.size()) {
      const View<const T> plane = planes.component(p);
      double* const numbers = staging_.data();
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < plane.size(); ++i) numbers[i] = static_cast<double>(plane[i]);
      copies_.to_device(numbers, to, plane.size() * number_bytes);
    }
  }
  /// Calls put(value of the plane, number) for all numbers.
  template <class T, class Put>
  void download(const double* from, ComponentView<T> planes, const Put& put) {
    for (std::int64_t p = 0; p < planes.n_components(); ++p, from += planes.size()) {
      const View<T> plane = planes.component(p);
      double* const numbers = staging_.data();
      copies_.to_host(from, numbers, plane.size() * number_bytes);
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < plane.size(); ++i) put(plane[i], numbers[i]);
    }
  }

  gpu::RadiusPlan plan_;
  std::int64_t most_planes_;
  DeviceStream stream_;
  gpu::DeviceMachine machine_;
  StreamCopies copies_;
  Sequence sequence_;
  DeviceBuffer<double> fields_;
  DeviceBuffer<double> results_;
  HostBuffer<double> staging_;  ///< a plane
};

}  // namespace

template <class T>
void average_on_device(const RadiusTargets& targets, ComponentView<const T> fields,
                       ComponentView<T> results, const GyroProgress& progress) {
  CudaRadiusField(targets, fields.n_components()).average(fields, results, progress);
}
template <class T>
void transpose_on_device(const RadiusTargets& targets, ComponentView<const T> results,
                         ComponentView<T> fields, const GyroProgress& progress) {
  CudaRadiusField(targets, fields.n_components()).transpose(results, fields, progress);
}

template void average_on_device(const RadiusTargets&, ComponentView<const float>,
                                ComponentView<float>, const GyroProgress&);
template void average_on_device(const RadiusTargets&, ComponentView<const double>,
                                ComponentView<double>, const GyroProgress&);
template void transpose_on_device(const RadiusTargets&, ComponentView<const float>,
                                  ComponentView<float>, const GyroProgress&);
template void transpose_on_device(const RadiusTargets&, ComponentView<const double>,
                                  ComponentView<double>, const GyroProgress&);

}  // namespace ringweave::detail::inline gyro
