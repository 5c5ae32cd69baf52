// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "distribute/halo/ring_transfer_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// Treatment of received pixels.
enum class Arrival { overwrite, add };

struct RingTransferOptions {
  Arrival arrival = Arrival::overwrite;
  /// Longer messages are split; pixels to be added arrive in two buffers of this size.
  std::int64_t message_bytes = std::int64_t{4} << 20;
};

/// Moves maps from the owners of their rings to other owners, point to point between ranks whose
/// rings overlap. Nothing is packed: messages are sent from the rings in place, and received in
/// place or (Arrival::add) added there chunk by chunk, so that no second map is needed.
class RingTransfer {
 public:
  /// Needs MPI. Collective.
  /// Error  UsageError on every rank when the distributions do not match each other or the number
  /// of ranks, or the ranks disagree on any argument.
  RingTransfer(Communicator comm, const RingDistribution& before, const RingDistribution& after,
               std::int64_t n_components, const RingTransferOptions& options = {});

  const RingTransferPlan& plan() const { return plan_; }
  /// Returns the size of the buffers of such a transfer on this rank.
  static std::int64_t buffer_bytes(const RingTransferPlan& plan,
                                   const RingTransferOptions& options);

  /// Returns when `from` may change and `to` is complete. Each pixel of `to` gets one value, so the
  /// result does not depend on the order of arrival.
  /// from  [component][pixel], plan().size_before pixels; read only
  /// to    [component][pixel], plan().size_after pixels; must not overlap `from`
  /// A view without pixels may have any number of components. T is float or double, the same on all
  /// ranks. Collective.
  /// Error  UsageError on all ranks when a shape is wrong on one; an MPI failure ends the job.
  template <class T>
  void move(ComponentView<const T> from, ComponentView<T> to);

 private:
  Communicator comm_;
  std::int64_t n_components_;
  RingTransferOptions options_;
  RingTransferPlan plan_;
  HostBuffer<std::byte> buffers_;  ///< two chunks, where received pixels are added
};

}  // namespace ringweave::detail::inline distribute
