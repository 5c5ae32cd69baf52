// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/block_pipeline.hpp"
#include "base/device.hpp"
#include "base/mode_view.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// LegendreStage for a_lm and modes in device memory, without host access. Calls are enqueued on a
/// stream and return at once; device errors are reported when the stream is synchronized. One call
/// at a time per object, from threads that use the device it was made on. Results do not depend on
/// the device or on timing: the order of all additions is fixed by the shape. Fine rows do to
/// rounding: cuFFT chooses its algorithms by the device and the number of FFTs.
class DeviceLegendreStage {
 public:
  using Alm = AnyAlmView<MemorySpace::device>;
  using ConstAlm = AnyConstAlmView<MemorySpace::device>;
  template <class T>
  using Modes = ModeView<T, MemorySpace::device>;

  virtual ~DeviceLegendreStage() = default;

  // As those of LegendreStage.
  virtual void synthesize(ConstAlm alm, Modes<double> modes, RowRange rows = RowRange::all()) = 0;
  virtual void adjoint(Modes<const double> modes, Alm alm, Accumulate how,
                       RowRange rows = RowRange::all()) = 0;

  /// Returns the bytes of tables and workspace on the device.
  virtual std::int64_t device_bytes() const = 0;
};

/// The way in which the sums of two or four scalar maps that share a recurrence are computed: with
/// the multiply-adds of each thread, as matrix products with FP64 tensor instructions, or in the
/// way that was faster on an H200: a synthesis by threads, an adjoint by matrices.
enum class BatchedSums { by_threads, by_matrices, as_measured };
/// The way that stages use. It is not chosen at run time, so that the same transform always gives
/// the same bits. `make cuda-check` says whether another way is faster on a device.
inline constexpr BatchedSums usual_sums = BatchedSums::as_measured;

/// Makes a stage on this thread's device; calls are enqueued on `stream`, which must outlive the
/// stage. Error  UsageError when this build has no CUDA or the shape is inconsistent, ResourceError
/// from the device, or without cuFFT for fine rows.
std::unique_ptr<DeviceLegendreStage> make_device_legendre_stage(LegendreShape shape,
                                                                const DeviceStream& stream,
                                                                BatchedSums sums = usual_sums);

/// Returns device_bytes() of that stage without a device, in any build, where cuFFT needs no more
/// work memory for fine rows than they take. Error  UsageError when the shape is inconsistent.
std::int64_t device_legendre_bytes(const LegendreShape& shape, BatchedSums sums = usual_sums);

/// Returns the memory of a LegendreStage with the CUDA backend, whose a_lm and modes go through the
/// device in blocks of rows; bounded for any size of the data. Needs no device. Error  UsageError.
BlockBytes legendre_block_bytes(const LegendreShape& shape);

}  // namespace ringweave::detail::inline legendre
