// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/device.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/exchange/staged_exchange_shape.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Exchange where the modes lie on a device (StagedExchange, which tests run on the host). On one
/// rank both layouts are the same and so may be the buffers: nothing moves then, and nothing is
/// waited for.
class DeviceExchange {
 public:
  template <class T>
  using Modes = ModeView<T, MemorySpace::device>;
  /// Gives the device the work that makes, or uses, the rows [first, first + count) of by_order
  /// that fold into no other, and those that fold into them.
  using RowWork = std::function<void(std::int64_t first, std::int64_t count)>;

  /// `stream` is where the device works, and outlives the exchange. Collective. Error  as Exchange,
  /// ResourceError from the device.
  DeviceExchange(const Communicator& comm, StagedExchangeShape shape, const DeviceStream& stream);
  ~DeviceExchange();

  /// The work is given out in parts, so that modes are copied to the host while others are made.
  /// by_ring is there for what is given to the stream afterwards. What the work throws on one rank
  /// all ranks throw. `times` may be null. Collective.
  void orders_to_rings(const RowWork& make_rows, Modes<const double> by_order,
                       Modes<double> by_ring, StageTimes* times) const;
  void rings_to_orders(Modes<const double> by_ring, Modes<double> by_order, const RowWork& use_rows,
                       StageTimes* times) const;

  /// On one rank modes that should travel in single precision are rounded where they are. Not
  /// collective.
  void round_alone(Modes<double> modes) const;
  /// DataError on all ranks when a mode since the last call was too large for single precision.
  /// Waits for the stream, and is collective, where modes travel in it; else nothing happens.
  void require_range() const;

  /// The staging buffers, pinned memory of the host, and those of the device for single precision;
  /// else the first call allocates them.
  void allocate() const;
  void release() const noexcept;

  std::int64_t staging_bytes() const;
  std::int64_t device_bytes() const;
  std::int64_t bytes_sent() const;  ///< by this rank to others, in one direction

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
