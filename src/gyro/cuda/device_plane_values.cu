// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <memory>

#include "base/cuda/device_machine.cuh"
#include "base/device_buffer.hpp"
#include "base/stream_copies.hpp"
#include "gyro/cuda/plane_values.hpp"
#include "gyro/device_plane_values.hpp"

namespace ringweave::detail::inline gyro {
namespace {

using Inspection = gpu::PlaneInspection<gpu::DeviceMachine>;

constexpr std::int64_t bytes_of_parts =
    Inspection::most_parts * std::int64_t{sizeof(gpu::PartOfFindings)};

class CudaPlaneValues final : public DevicePlaneValues {
 public:
  CudaPlaneValues()
      : machine_(stream_),
        copies_(stream_),
        inspection_(machine_),
        found_(Inspection::most_parts) {}
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaPlaneValues() override { stream_.finish(); }

  void to_doubles(Planes<const double> planes, double* to) override {
    planes_to_doubles(planes, to);
  }
  void to_doubles(Planes<const float> planes, double* to) override {
    planes_to_doubles(planes, to);
  }
  void from_doubles(const double* from, Planes<double> planes) override {
    doubles_to_planes(from, planes);
  }
  void from_doubles(const double* from, Planes<float> planes) override {
    doubles_to_planes(from, planes);
  }
  void copy_to_host(const double* from, double* to, std::int64_t n) override {
    copies_.to_host(from, to, n * std::int64_t{sizeof(double)});
    stream_.synchronize();
  }
  void copy_from_host(const double* from, double* to, std::int64_t n) override {
    copies_.to_device(from, to, n * std::int64_t{sizeof(double)});
    stream_.synchronize();
  }
  PlaneFindings inspect(View<const double, MemorySpace::device> plane,
                        const PlaneEdge& edge) override {
    return inspect_plane(plane, edge);
  }
  PlaneFindings inspect(View<const float, MemorySpace::device> plane,
                        const PlaneEdge& edge) override {
    return inspect_plane(plane, edge);
  }

 private:
  template <class T>
  void planes_to_doubles(Planes<const T> planes, double* to) {
    const gpu::RowPieces pieces{planes.n_components(), planes.size()};
    machine_.launch(
        gpu::ConvertPlanes<T, double>{pieces, planes.data(), planes.stride(), to, planes.size()},
        pieces.n_blocks());
    stream_.synchronize();
  }
  template <class T>
  void doubles_to_planes(const double* from, Planes<T> planes) {
    const gpu::RowPieces pieces{planes.n_components(), planes.size()};
    machine_.launch(
        gpu::ConvertPlanes<double, T>{pieces, from, planes.size(), planes.data(), planes.stride()},
        pieces.n_blocks());
    stream_.synchronize();
  }
  template <class T>
  PlaneFindings inspect_plane(View<const T, MemorySpace::device> plane, const PlaneEdge& edge) {
    if (plane.size() == 0) return {};
    const std::int64_t n_parts = inspection_.begin(plane.data(), plane.size(), edge);
    detail::copy_to_host(inspection_.parts(), found_.data(),
                         n_parts * std::int64_t{sizeof(gpu::PartOfFindings)}, stream_);
    stream_.synchronize();
    return gpu::together(found_.data(), n_parts, plane.size());
  }

  DeviceStream stream_;
  gpu::DeviceMachine machine_;
  StreamCopies copies_;
  Inspection inspection_;
  DeviceBuffer<gpu::PartOfFindings, MemorySpace::pinned> found_;
};

}  // namespace

std::unique_ptr<DevicePlaneValues> make_device_plane_values() {
  return std::make_unique<CudaPlaneValues>();
}

PlaneValuesBytes device_plane_values_bytes() {
  return {bytes_of_parts, bytes_of_parts + StreamCopies::bytes_of_all};
}

}  // namespace ringweave::detail::inline gyro
