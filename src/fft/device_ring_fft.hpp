// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "base/view.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave {

/// RingFft where modes and maps lie on a device: nothing touches the host. Calls are put in the
/// order of a stream and return at once; errors of the device come when the stream is waited for.
/// They may be captured into a graph. One call at a time per object.
class DeviceRingFft {
 public:
  using Map = AnyMapView<MemorySpace::device>;
  using ConstMap = AnyConstMapView<MemorySpace::device>;
  template <class T>
  using Modes = ModeView<T, MemorySpace::device>;
  using Weights = View<const double, MemorySpace::device>;

  virtual ~DeviceRingFft() = default;

  /// As RingFft::synthesize; modes begin at a multiple of 16 bytes. Maps of doubles whose
  /// components begin at multiples of 16 bytes go fastest.
  virtual void synthesize(Modes<const double> modes, Map map) = 0;
  /// As RingFft::adjoint; ring_weights  [owned ring], empty: all 1.
  virtual void adjoint(ConstMap map, Weights ring_weights, Modes<double> modes) = 0;

  /// Bytes of tables and workspace held on the device, without what cuFFT keeps for itself.
  virtual std::int64_t device_bytes() const = 0;
};

/// What the rings of a batch may take of the workspace: about the second-level cache of a device,
/// where they stay between its launches (not measured).
inline constexpr std::int64_t ring_fft_workspace_bytes = std::int64_t{48} << 20;

/// On this thread's device; calls go to `stream`, which outlives it. Error  UsageError when this
/// build has no CUDA or the shape contradicts itself, ResourceError from the device or when there
/// is no cuFFT.
std::unique_ptr<DeviceRingFft> make_device_ring_fft(
    RingFftShape shape, const DeviceStream& stream,
    std::int64_t workspace_bytes = ring_fft_workspace_bytes);

/// What the device will hold for it, found without a device. What cuFFT works in is taken for as
/// much as the workspace; it may need less.
std::int64_t device_ring_fft_bytes(const RingFftShape& shape,
                                   std::int64_t workspace_bytes = ring_fft_workspace_bytes);

/// The same for a ring FFT that copies modes and pixels in blocks of rings, within the bytes that
/// the shape allows it of the device. Error  ResourceError when no blocks are small enough.
std::int64_t ring_fft_block_bytes(const RingFftShape& shape);

}  // namespace ringweave
