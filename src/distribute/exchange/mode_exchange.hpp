// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/exchange/mode_transport.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

/// Complex numbers in the buffers of a packed pass: sent by order and received by ring, or the
/// reverse.
struct PackedSize {
  std::int64_t by_order = 0;
  std::int64_t by_ring = 0;
  std::int64_t total() const { return by_order + by_ring; }
};
PackedSize packed_size(const OrderPasses& plan, std::int64_t n_components);

/// Ring modes in the memory space of an exchange; positions times n_components.
struct ModeMemory {
  std::complex<double>* by_ring = nullptr;  ///< as in ExchangePlan
  std::int64_t n_by_ring = 0;
  std::complex<double>* slots = nullptr;  ///< as in OrderPasses
  std::int64_t n_slots = 0;
};

/// Exchanges ring modes between the slots of OrderPasses (grouped by order) and the layout of
/// ExchangePlan (grouped by ring), all components of a batch together. One pass is one
/// `MPI_Alltoallv`; several passes are one call each, or messages (see below). Modes that stay on a
/// rank do not move; on one rank nothing happens. A ModeTransport knows the memory space of the
/// modes, and packs them where MPI needs that.
///
/// The steps of a pass, in the same order on all ranks:
///   orders to rings: pack_part() of each part, ready(), begin(), end(), unpack_rings()
///   rings to orders: pack_rings(), ready(), begin(), end(), unpack_part() of each part
/// A pass must end before its slot is used again. From rings to orders passes run from the first to
/// the last, and no mode by ring may change before the last has ended.
/// ExchangeSchedule::overlapped uses `MPI_Ialltoallv`, which advances while progress() is called.
/// Several passes from rings to orders that need no packing use messages, each sent one pass ahead,
/// so that ranks need not keep in step.
class ModeExchange {
 public:
  using Value = std::complex<double>;
  enum class Direction { orders_to_rings, rings_to_orders };

  /// Collective. Error  UsageError on every rank when the plans of two ranks do not match.
  ModeExchange(Communicator comm, const OrderPasses& plan, std::int64_t n_components,
               const ExchangeOptions& options, std::unique_ptr<ModeTransport> transport);
  ~ModeExchange();
  ModeExchange(ModeExchange&&) noexcept;

  int n_passes() const;
  int n_slots() const;  ///< passes that may be in progress at once
  static int n_slots_of(const ExchangeOptions& options);
  /// Returns true if a step does nothing on this communicator.
  bool is_idle() const;
  /// Returns true if modes are on a device, where packing can fail.
  bool on_device() const;

  // Error  UsageError when a size differs from the plan. Not collective.
  void pack_part(int pass, int part, const ModeMemory& modes);
  void pack_rings(int pass, const ModeMemory& modes);
  /// Rounds the modes of the pass that stay on the rank, and waits until MPI may read the others.
  void ready(int pass, const ModeMemory& modes);
  void unpack_rings(int pass, const ModeMemory& modes);
  void unpack_part(int pass, int part, const ModeMemory& modes);

  /// Collective; an MPI failure ends the job. With ExchangeSchedule::overlapped begin() returns at
  /// once.
  void begin(Direction direction, int pass, const ModeMemory& modes);
  void end(int pass);
  /// Advances a non-blocking collective, which makes no progress by itself; to be called now and
  /// then. Not collective.
  void progress();

  /// Throws DataError on all ranks when a mode since the last call was too large for single
  /// precision. Collective where modes are exchanged in single precision; then waits for a device.
  void require_range();

  /// Allocates the transport's buffers, which the first pass needs. Not collective.
  void allocate();
  void release() noexcept;
  TransportBytes bytes() const;

  /// Returns the bytes this rank sends to others in all passes.
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave::detail::inline distribute
