// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/block_pipeline.hpp"
#include "base/device.hpp"
#include "base/mode_view.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// RingFft for modes and maps in device memory, without host access. Calls are enqueued on a stream
/// and return at once; device errors are reported when the stream is synchronized. Calls may be
/// captured into a graph. One call at a time per object.
class DeviceRingFft {
 public:
  using Map = AnyMapView<MemorySpace::device>;
  using ConstMap = AnyConstMapView<MemorySpace::device>;
  template <class T>
  using Modes = ModeView<T, MemorySpace::device>;
  using Weights = View<const double, MemorySpace::device>;

  virtual ~DeviceRingFft() = default;

  /// Synthesizes as RingFft::synthesize; modes begin at a multiple of 16 bytes. Fastest for double
  /// maps whose components begin at multiples of 16 bytes.
  virtual void synthesize(Modes<const double> modes, Map map) = 0;
  /// Applies the transpose as RingFft::adjoint; ring_weights  [owned ring], empty: all 1.
  virtual void adjoint(ConstMap map, Weights ring_weights, Modes<double> modes) = 0;

  /// Returns the bytes of tables and workspace on the device, without cuFFT's own memory.
  virtual std::int64_t device_bytes() const = 0;
};

/// Default limit for the rows of a batch of rings. Larger batches are faster, on an H200 by 6 % at
/// most for up to four maps (docs/measurements/2026-11-26-h200.md).
inline constexpr std::int64_t ring_fft_workspace_bytes = std::int64_t{256} << 20;

/// Makes ring FFTs on this thread's device, which share a workspace: calls are enqueued one after
/// the other on `stream`, which must outlive them. The first counts the workspace among its bytes.
/// Error  UsageError when this build has no CUDA or a shape is inconsistent, ResourceError from the
/// device or when there is no cuFFT.
std::vector<std::unique_ptr<DeviceRingFft>> make_device_ring_ffts(
    std::span<const RingFftShape* const> shapes, const DeviceStream& stream,
    std::int64_t workspace_bytes = ring_fft_workspace_bytes);

/// Makes one.
inline std::unique_ptr<DeviceRingFft> make_device_ring_fft(
    const RingFftShape& shape, const DeviceStream& stream,
    std::int64_t workspace_bytes = ring_fft_workspace_bytes) {
  const RingFftShape* const one = &shape;
  return std::move(make_device_ring_ffts({&one, 1}, stream, workspace_bytes).front());
}

/// Returns its device memory without a device. cuFFT's work memory is assumed to be as large as the
/// workspace; it may need less.
std::int64_t device_ring_fft_bytes(const RingFftShape& shape,
                                   std::int64_t workspace_bytes = ring_fft_workspace_bytes);

/// Returns the memory of a ring FFT that copies modes and pixels in blocks of rings, on the device
/// within the limit of the shape. Error  ResourceError when no blocks are small enough.
BlockBytes ring_fft_block_bytes(const RingFftShape& shape);

}  // namespace ringweave::detail::inline fft
