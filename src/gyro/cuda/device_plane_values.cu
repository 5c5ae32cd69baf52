// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdint>
#include <memory>

#include "base/cuda/device_machine.cuh"
#include "base/device_buffer.hpp"
#include "base/stream_copies.hpp"
#include "gyro/cuda/plane_values.hpp"
#include "gyro/device_plane_values.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr std::int64_t most_blocks = 32;  // that inspect a plane; not measured
constexpr std::int64_t most_parts = most_blocks * gpu::block_threads;

class CudaPlaneValues final : public DevicePlaneValues {
 public:
  CudaPlaneValues() : machine_(stream_), copies_(stream_), parts_(most_parts), found_(most_parts) {}
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaPlaneValues() override { stream_.finish(); }

  void take(Planes<const double> planes, double* to) override { take_planes(planes, to); }
  void take(Planes<const float> planes, double* to) override { take_planes(planes, to); }
  void give(const double* from, Planes<double> planes) override { give_planes(from, planes); }
  void give(const double* from, Planes<float> planes) override { give_planes(from, planes); }
  void copy_to_host(const double* from, double* to, std::int64_t n) override {
    copies_.to_host(from, to, n * std::int64_t{sizeof(double)});
    stream_.synchronize();
  }
  void copy_from_host(const double* from, double* to, std::int64_t n) override {
    copies_.to_device(from, to, n * std::int64_t{sizeof(double)});
    stream_.synchronize();
  }
  PlaneFindings inspect(const PlaneGrid& grid,
                        View<const double, MemorySpace::device> plane) override {
    return inspect_plane(grid, plane);
  }
  PlaneFindings inspect(const PlaneGrid& grid,
                        View<const float, MemorySpace::device> plane) override {
    return inspect_plane(grid, plane);
  }

 private:
  template <class T>
  void take_planes(Planes<const T> planes, double* to) {
    const gpu::RowPieces pieces{planes.n_components(), planes.size()};
    machine_.launch(
        gpu::ConvertPlanes<T, double>{pieces, planes.data(), planes.stride(), to, planes.size()},
        pieces.n_blocks());
    stream_.synchronize();
  }
  template <class T>
  void give_planes(const double* from, Planes<T> planes) {
    const gpu::RowPieces pieces{planes.n_components(), planes.size()};
    machine_.launch(
        gpu::ConvertPlanes<double, T>{pieces, from, planes.size(), planes.data(), planes.stride()},
        pieces.n_blocks());
    stream_.synchronize();
  }
  template <class T>
  PlaneFindings inspect_plane(const PlaneGrid& grid, View<const T, MemorySpace::device> plane) {
    if (plane.size() == 0) return {};
    const std::int64_t n_blocks = std::min(most_blocks, gpu::RowPieces{1, plane.size()}.n_blocks());
    const std::int64_t n_parts = n_blocks * gpu::block_threads;
    machine_.launch(
        gpu::InspectPlane<T>{plane.size(), grid.x.size, grid.x.boundary == PlaneBoundary::zero,
                             grid.y.boundary == PlaneBoundary::zero, plane.data(), n_parts,
                             parts_.data()},
        n_blocks);
    detail::copy_to_host(parts_.data(), found_.data(),
                         n_parts * std::int64_t{sizeof(gpu::PartOfFindings)}, stream_);
    stream_.synchronize();
    PlaneFindings findings;
    findings.first_not_finite = plane.size();
    for (std::int64_t i = 0; i < n_parts; ++i) {
      const gpu::PartOfFindings& part = found_.data()[i];
      findings.n_not_finite += part.n_not_finite;
      findings.first_not_finite = std::min(findings.first_not_finite, part.first_not_finite);
      findings.largest = std::max(findings.largest, part.largest);
      findings.largest_at_edge = std::max(findings.largest_at_edge, part.largest_at_edge);
    }
    return findings;
  }

  DeviceStream stream_;
  gpu::DeviceMachine machine_;
  StreamCopies copies_;
  DeviceBuffer<gpu::PartOfFindings> parts_;
  DeviceBuffer<gpu::PartOfFindings, MemorySpace::pinned> found_;
};

}  // namespace

std::unique_ptr<DevicePlaneValues> make_device_plane_values() {
  return std::make_unique<CudaPlaneValues>();
}

std::int64_t device_plane_values_bytes() {
  return most_parts * std::int64_t{sizeof(gpu::PartOfFindings)};
}

}  // namespace ringweave::detail::inline gyro
