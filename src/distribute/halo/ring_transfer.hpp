// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/buffer.hpp"
#include "base/view.hpp"
#include "distribute/halo/ring_transfer_plan.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// What is done with pixels where they arrive.
enum class Arrival { overwrite, add };

struct RingTransferOptions {
  Arrival arrival = Arrival::overwrite;
  /// Longer messages go in parts; what is added arrives in two buffers of this size.
  std::int64_t message_bytes = std::int64_t{4} << 20;
};

/// Takes maps from the owners of their rings to other owners, point to point between ranks whose
/// rings overlap. Nothing is packed: messages leave from the rings where they lie and arrive at
/// their place, or (Arrival::add) are added there part by part, so that no second map is needed.
class RingTransfer {
 public:
  /// Needs MPI. Collective.
  /// Error  UsageError on every rank when the distributions do not fit each other or the number of
  /// ranks, or the ranks disagree on any argument.
  RingTransfer(Communicator comm, const RingDistribution& before, const RingDistribution& after,
               std::int64_t n_components, const RingTransferOptions& options = {});

  const RingTransferPlan& plan() const { return plan_; }
  /// Of the buffers of such a transfer on this rank.
  static std::int64_t buffer_bytes(const RingTransferPlan& plan,
                                   const RingTransferOptions& options);

  /// Returns when `from` may change and `to` is there. Each pixel of `to` gets one value, so the
  /// result depends on no order of arrival.
  /// from  [component][pixel], plan().size_before pixels; read only
  /// to    [component][pixel], plan().size_after pixels; other memory than `from`
  /// A view without pixels may have any number of components. T is float or double, the same on all
  /// ranks. Collective.
  /// Error  UsageError on all ranks when a shape is wrong on one; MPI failure ends the job.
  template <class T>
  void move(ComponentView<const T> from, ComponentView<T> to);

 private:
  Communicator comm_;
  std::int64_t n_components_;
  RingTransferOptions options_;
  RingTransferPlan plan_;
  HostBuffer<std::byte> buffers_;  ///< two parts, where something arrives to be added
};

}  // namespace ringweave
