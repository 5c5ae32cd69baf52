// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "base/view.hpp"
#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// The one MPI_Alltoallv: ring modes grouped by order <-> grouped by ring, all components of a
/// batch together. What a rank owes itself is copied locally; nothing is packed (see ModeLayout).
class Exchange {
 public:
  /// Keeps counts, displacements and the datatype; the plan may go. Collective.
  /// Error  UsageError on every rank when the plans of two ranks do not fit each other or the
  /// number of ranks.
  Exchange(Communicator comm, const ExchangePlan& plan, std::int64_t n_components);
  ~Exchange();

  /// Synthesis: by_order (send) -> by_ring (receive). Buffers of plan.by_order.size() and
  /// plan.by_ring.size() positions times n_components, not overlapping (on one rank they may be the
  /// same buffer: nothing happens then). What padding holds does not matter and may change.
  /// Collective; MPI failure ends the job.
  void orders_to_rings(ModeView<const double> by_order, ModeView<double> by_ring) const;
  /// Adjoint: by_ring (send) -> by_order (receive).
  void rings_to_orders(ModeView<const double> by_ring, ModeView<double> by_order) const;

  /// Bytes this rank sends to others in one synthesis call, padding included.
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
