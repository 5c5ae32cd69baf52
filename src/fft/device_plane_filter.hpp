// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/device.hpp"
#include "fft/plane_filter.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// Planes in device memory, [plane][row][x].
template <class T>
struct DevicePlanes {
  T* values = nullptr;
  std::int64_t count = 0;
  std::int64_t plane_stride = 0;
  std::int64_t row_stride = 0;
};

/// PlaneFilter for planes in device memory, several at a time. Calls are enqueued on a stream and
/// return at once; device errors are reported when it is synchronized. One call at a time per
/// object. The same bits in every run.
class DevicePlaneFilter {
 public:
  using Complex = std::complex<double>;

  virtual ~DevicePlaneFilter() = default;

  /// Returns the complex numbers of the spectrum of a plane.
  virtual std::int64_t spectrum_size() const = 0;

  /// planes   of y.size rows of x.size values
  /// spectra  [plane], spectrum_size() numbers each, overwritten
  virtual void forward(const DevicePlanes<const double>& planes, const FilterWindow& window,
                       Complex* spectra) = 0;
  /// Adds weight * multiplier * spectrum to each of the sums, or overwrites them.
  /// multiplier  of MultiplierForm::whole, in device memory; as PlaneFilter::multiply()
  virtual void multiply(const double* multiplier, double weight, std::int64_t n_planes,
                        const Complex* spectra, Complex* sums, Accumulate how) = 0;
  /// sums    their contents are lost
  /// planes  of y.size_out rows of x.size_out values; overwritten or added to
  virtual void backward(Complex* sums, const DevicePlanes<double>& planes, Accumulate how) = 0;

  /// Returns the bytes of its tables on the device.
  virtual std::int64_t device_bytes() const = 0;
};

/// The axes of a filter.
struct PlaneFilterAxes {
  FilterAxis x;
  FilterAxis y;
};

/// Planes that filters transform at once; memory is theirs for so many.
constexpr std::int64_t planes_together = 8;

/// Makes filters that share memory for padded planes and FFTs, on this thread's device; calls are
/// enqueued on `stream`, which must outlive them.
/// most_planes  of a call
/// Error  UsageError when this build has no CUDA, ResourceError from the device.
std::vector<std::unique_ptr<DevicePlaneFilter>> make_device_plane_filters(
    std::span<const PlaneFilterAxes> axes, std::int64_t most_planes, const DeviceStream& stream);

/// Returns the bytes of padded planes that these filters take, without cuFFT's own memory.
std::int64_t device_plane_filter_bytes(std::span<const PlaneFilterAxes> axes,
                                       std::int64_t most_planes);

}  // namespace ringweave::detail::inline fft
