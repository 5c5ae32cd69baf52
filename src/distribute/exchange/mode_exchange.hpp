// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/view.hpp"
#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// The exchange of ring modes: grouped by order in the slots of OrderPasses <-> grouped by ring as
/// in ExchangePlan, all components of a batch together. In one pass it is one `MPI_Alltoallv`; in
/// several, each is a call of its own. Nothing is packed (see ModeLayout), and modes that stay on a
/// rank do not move; on one rank nothing happens.
///
/// A pass begins, and ends before its slot is used again; begin and end are called in the same
/// order on all ranks. ExchangeSchedule::overlapped takes `MPI_Ialltoallv`. Several passes from
/// rings to orders go as messages, each sent one pass ahead, so that ranks need not keep in step.
/// ModePrecision::single_ converts what travels in small buffers, by all threads, and rounds what
/// stays where it is. Modes that are more than MPI can count are copied through such buffers too.
class ModeExchange {
 public:
  /// Collective. Error  UsageError on every rank when the plans of two ranks do not fit.
  ModeExchange(Communicator comm, const OrderPasses& plan, std::int64_t n_components,
               const ExchangeOptions& options);
  ~ModeExchange();

  int n_passes() const;
  int n_slots() const;  ///< passes that may be under way at once
  static int n_slots_of(const ExchangeOptions& options);

  /// `overlapped`: returns at once, and the modes move while progress() is called. Buffers of
  /// plan.all_slots() and plan.by_ring_size positions times n_components; of the pass the sender's
  /// must not change and the receiver's not be read until end(pass). From rings to orders passes go
  /// from the first to the last, and nothing of by_ring may change until the last has ended.
  /// Collective; MPI failure ends the job.
  void begin_orders_to_rings(int pass, ModeView<const double> slots, ModeView<double> by_ring);
  void begin_rings_to_orders(int pass, ModeView<double> by_ring, ModeView<double> slots);
  void end(int pass);
  /// A non-blocking collective does not move by itself: call it now and then. Not collective.
  void progress();

  /// DataError on all ranks when a mode since the last call was too large for single precision.
  /// Collective where modes travel in single precision.
  void require_range();

  /// What the conversion buffers of these arguments take. Not collective.
  static std::int64_t buffer_bytes(const OrderPasses& plan, std::int64_t n_components,
                                   const ExchangeOptions& options);
  /// The conversion buffers; the first begin allocates them otherwise.
  void allocate();
  void release() noexcept;

  /// Bytes this rank sends to others in all passes.
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
