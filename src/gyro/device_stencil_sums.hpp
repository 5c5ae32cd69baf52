// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/device.hpp"
#include "fft/plane_filter.hpp"
#include "gyro/scheme.hpp"
#include "gyro/side_sums.hpp"
#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::inline gyro {

/// Sums of bilinear and bicubic averages, all but the filters, in device memory. Calls are enqueued
/// on a stream and return at once; device errors are reported when it is synchronized. The same
/// bits in every run.
///
///     [held()] load();  clear(), add() for some radii, filters to sums();  [clear() ...]  finish()
///
/// Several sums of the loaded planes may be formed before finish(), from plane `first` on each.
class DeviceStencilSums {
 public:
  virtual ~DeviceStencilSums() = default;

  virtual double* held() = 0;  ///< [plane][held row][x]
  virtual double* sums() = 0;  ///< [plane][own row][x], of all sums

  /// Makes the tables of one more radius, whose number is how many there were; waits for them.
  virtual void add_tables(const StencilTables& tables) = 0;
  /// Frees all tables, which the stream must not need any more.
  virtual void drop_tables() = 0;
  virtual std::int64_t table_bytes(std::int64_t number) const = 0;

  /// Takes the planes that were copied to held(), which it changes where axes are mirrored.
  virtual void load(Direction direction, std::int64_t n_planes) = 0;
  virtual void clear(Direction direction, std::int64_t n_planes, std::int64_t first) = 0;
  /// Adds weight times the shares of the outermost nodes to sums, with tables of a radius.
  virtual void add(Direction direction, std::int64_t number, double weight, std::int64_t n_planes,
                   std::int64_t first) = 0;
  /// Adds weight times the own rows that are held, where a window has them.
  virtual void add_identity(const FilterWindow& window, double weight, std::int64_t n_planes,
                            std::int64_t first) = 0;
  /// Completes all sums, of n_planes planes together, after the last filter.
  virtual void finish(Direction direction, std::int64_t n_planes) = 0;
};

/// Makes the sums on this thread's device; calls are enqueued on `stream`, which must outlive them.
/// most_planes  of a load
/// most_sums    planes of all sums
/// Error  UsageError when this build has no CUDA, ResourceError from the device.
std::unique_ptr<DeviceStencilSums> make_device_stencil_sums(const SideSums& sides,
                                                            std::int64_t most_planes,
                                                            std::int64_t most_sums,
                                                            const DeviceStream& stream);

}  // namespace ringweave::detail::inline gyro
