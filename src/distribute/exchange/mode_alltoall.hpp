// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/mpi/communicator.hpp"
#include "distribute/mpi/exchange_mpi.hpp"

namespace ringweave {

/// UsageError unless the plan is one for the ranks of `comm`, and on every rank where the plans of
/// two ranks do not fit each other. Collective.
void expect_fitting_plan(const Communicator& comm, const ExchangePlan& plan);

/// The one MPI_Alltoallv of ring modes, in MPI's integers: what goes to other ranks. What a rank
/// owes itself is the caller's. Buffers are whatever MPI reads and writes.
class ModeAlltoall {
 public:
  using Blocks = std::vector<ExchangePlan::Block>;

  /// Blocks [peer] in positions of either buffer, each beginning at a multiple of
  /// `block_positions`; numbers of `precision`. Not collective.
  ModeAlltoall(Communicator comm, const Blocks& by_order, const Blocks& by_ring,
               std::int64_t block_positions, std::int64_t n_components,
               ModePrecision precision = ModePrecision::double_);

  /// Collective; nothing happens on one rank. MPI failure ends the job.
  void orders_to_rings(const void* by_order, void* by_ring) const;
  void rings_to_orders(const void* by_ring, void* by_order) const;
  /// orders_to_rings() for who can do without it: whether MPI did it. Collective.
  bool try_orders_to_rings(const void* by_order, void* by_ring) const;

  /// Bytes this rank sends to others from its orders, padding included.
  std::int64_t bytes_sent() const;

 private:
  /// In blocks; nothing towards the rank itself.
  struct Side {
    std::vector<int> counts;  ///< [peer]
    std::vector<int> firsts;  ///< [peer]
    Side(const Blocks& blocks, int rank, std::int64_t block_positions);
  };
  /// MPI's answer.
  int move(const Side& from, const void* send, const Side& to, void* receive) const;
  void expect_done(int code) const;

  Communicator comm_;
  ModePrecision precision_;
  std::int64_t block_numbers_;
  Side by_order_;
  Side by_ring_;
  std::unique_ptr<ElementType> block_type_;  ///< none on one rank
};

}  // namespace ringweave
