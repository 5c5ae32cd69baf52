// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "base/view.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave {

/// RingFft where modes and pixels lie on a device.
class DeviceRingFft {
 public:
  template <class T>
  using Map = MapView<T, MemorySpace::device>;
  template <class T>
  using Modes = ModeView<T, MemorySpace::device>;
  using Weights = View<const double, MemorySpace::device>;

  virtual ~DeviceRingFft() = default;

  virtual void synthesize(Modes<const double> modes, Map<double> map) = 0;
  virtual void synthesize(Modes<const double> modes, Map<float> map) = 0;
  virtual void adjoint(Map<const double> map, Weights ring_weights, Modes<double> modes) = 0;
  virtual void adjoint(Map<const float> map, Weights ring_weights, Modes<double> modes) = 0;

  virtual std::int64_t device_bytes() const = 0;
};

std::unique_ptr<DeviceRingFft> make_device_ring_fft(RingFftShape shape, const DeviceStream& stream);

/// Of the stage above, computed without a device.
std::int64_t device_ring_fft_bytes(const RingFftShape& shape);

}  // namespace ringweave
