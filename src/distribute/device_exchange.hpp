// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/device.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/communicator.hpp"
#include "distribute/device_route.hpp"
#include "distribute/exchange_plan.hpp"
#include "distribute/row_parts.hpp"

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
  DeviceExchange(const Communicator& comm, const ExchangePlan& plan, std::vector<RowPart> parts,
                 std::int64_t n_components, DeviceRoute route, const DeviceStream& stream);
  ~DeviceExchange();

  /// The work is given out in parts, so that modes are copied to the host while others are made.
  /// by_ring is there for what is given to the stream afterwards. What the work throws on one rank
  /// all ranks throw. `times` may be null. Collective.
  void orders_to_rings(const RowWork& make_rows, Modes<const double> by_order,
                       Modes<double> by_ring, StageTimes* times) const;
  void rings_to_orders(Modes<const double> by_ring, Modes<double> by_order, const RowWork& use_rows,
                       StageTimes* times) const;

  /// The staging buffers, pinned memory of the host; else the first call allocates them.
  void allocate() const;
  void release() const noexcept;

  std::int64_t staging_bytes() const;
  std::int64_t bytes_sent() const;  ///< by this rank to others, in one direction

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
