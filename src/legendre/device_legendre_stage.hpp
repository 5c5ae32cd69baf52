// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "base/view.hpp"
#include "legendre/legendre_stage.hpp"

namespace ringweave {

/// LegendreStage where a_lm and modes lie on a device: nothing touches the host. Calls are put in
/// the order of a stream and return at once; errors of the device come when the stream is waited
/// for. One call at a time per object, from threads whose device is the one it was made on. The
/// sums do not depend on the device or the moment: every order of additions is fixed by the shape.
class DeviceLegendreStage {
 public:
  using Alm = AnyAlmView<MemorySpace::device>;
  using ConstAlm = AnyConstAlmView<MemorySpace::device>;
  template <class T>
  using Modes = ModeView<T, MemorySpace::device>;
  using Accumulate = LegendreStage::Accumulate;

  virtual ~DeviceLegendreStage() = default;

  // As those of LegendreStage.
  virtual void synthesize(ConstAlm alm, Modes<double> modes, RowRange rows = RowRange::all()) = 0;
  virtual void adjoint(Modes<const double> modes, Alm alm, Accumulate how,
                       RowRange rows = RowRange::all()) = 0;

  /// Bytes of tables and workspace held on the device.
  virtual std::int64_t device_bytes() const = 0;
};

/// How the sums of scalar maps that share a recurrence, two or four, are made: by the multiply-adds
/// of each thread, or as products of matrices by FP64 tensor instructions.
enum class BatchedSums { by_threads, by_matrices };
/// Which is faster has not been measured: `make cuda-check` does, and says what belongs here. Not
/// chosen when a program runs: the same transform gives the same bits, whatever else a device does.
inline constexpr BatchedSums usual_sums = BatchedSums::by_threads;

/// On this thread's device; calls go to `stream`, which outlives the stage. Error  UsageError when
/// this build has no CUDA or the shape is not one plan's, ResourceError from the device.
std::unique_ptr<DeviceLegendreStage> make_device_legendre_stage(LegendreShape shape,
                                                                const DeviceStream& stream,
                                                                BatchedSums sums = usual_sums);

/// device_bytes() of that stage, without a device: any build tells it. Error  UsageError when the
/// shape is not one plan's.
std::int64_t device_legendre_bytes(const LegendreShape& shape, BatchedSums sums = usual_sums);

/// What a LegendreStage with the CUDA backend holds, whose a_lm and modes go through the device in
/// blocks of rows: bounded, whatever they take. Without a device. Error  UsageError.
struct LegendreBlockBytes {
  std::int64_t device_bytes;
  std::int64_t pinned_bytes;  ///< of the host
};
LegendreBlockBytes legendre_block_bytes(const LegendreShape& shape);

}  // namespace ringweave
