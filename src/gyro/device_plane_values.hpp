// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// The nodes of a plane that are at its edge: at the ends of axes that have some. None by default.
struct PlaneEdge {
  std::int64_t n_x = 1;
  bool x_ends = false;
  bool y_ends = false;
};
/// Returns the edge of whole planes: the ends of axes with boundary zero.
inline PlaneEdge edge_of(const PlaneGrid& grid) {
  return {grid.x.size, grid.x.boundary == PlaneBoundary::zero,
          grid.y.boundary == PlaneBoundary::zero};
}

/// Values of a plane that are not finite, and the largest of the others.
struct PlaneFindings {
  std::int64_t n_not_finite = 0;
  std::int64_t first_not_finite = 0;  ///< where there are some
  double largest = 0;                 ///< magnitude
  double largest_at_edge = 0;
};

/// Converts and inspects planes that a device has in its memory. Calls return when all is done.
class DevicePlaneValues {
 public:
  template <class T>
  using Planes = ComponentView<T, MemorySpace::device>;

  virtual ~DevicePlaneValues() = default;

  /// Copies planes to doubles of the device that follow each other, and back.
  virtual void to_doubles(Planes<const double> planes, double* to) = 0;
  virtual void to_doubles(Planes<const float> planes, double* to) = 0;
  virtual void from_doubles(const double* from, Planes<double> planes) = 0;
  virtual void from_doubles(const double* from, Planes<float> planes) = 0;
  /// Copies doubles of the device to the host's memory, and back.
  virtual void copy_to_host(const double* from, double* to, std::int64_t n) = 0;
  virtual void copy_from_host(const double* from, double* to, std::int64_t n) = 0;

  /// Looks for values that are not finite, and for the largest, also at the edge.
  virtual PlaneFindings inspect(View<const double, MemorySpace::device> plane,
                                const PlaneEdge& edge) = 0;
  virtual PlaneFindings inspect(View<const float, MemorySpace::device> plane,
                                const PlaneEdge& edge) = 0;
};

/// Makes the object for this thread's device. Error  UsageError when this build has no CUDA,
/// ResourceError from the device.
std::unique_ptr<DevicePlaneValues> make_device_plane_values();

/// Bytes of a DevicePlaneValues.
struct PlaneValuesBytes {
  std::int64_t device = 0;
  std::int64_t host = 0;
};
PlaneValuesBytes device_plane_values_bytes();

}  // namespace ringweave::detail::inline gyro
