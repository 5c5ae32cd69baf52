// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/mode_alltoall.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/checked_cast.hpp"
#include "base/error.hpp"

namespace ringweave {

void expect_fitting_plan(const Communicator& comm, const ExchangePlan& plan) {
  if (ssize64(plan.by_order_blocks) != comm.size()) {
    throw UsageError(fmt::format("the exchange is planned for {} ranks, the communicator has {}",
                                 plan.by_order_blocks.size(), comm.size()));
  }
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> expected;
  for (const auto& block : plan.by_order_blocks) sent.push_back(block.count);
  for (const auto& block : plan.by_ring_blocks) expected.push_back(block.count);
  expect_fitting_counts(comm, sent, expected);
}

ModeAlltoall::Side::Side(const Blocks& blocks, int rank, std::int64_t block_positions) {
  for (const auto& [first, count] : blocks) {
    const std::int64_t padded = (count + block_positions - 1) / block_positions;
    counts.push_back(checked_cast<int>(padded, "count of an exchange"));
    firsts.push_back(checked_cast<int>(first / block_positions, "displacement of an exchange"));
  }
  counts[to_size(rank)] = 0;
}

ModeAlltoall::ModeAlltoall(Communicator comm, const Blocks& by_order, const Blocks& by_ring,
                           std::int64_t block_positions, std::int64_t n_components,
                           ModePrecision precision)
    : comm_(std::move(comm)),
      precision_(precision),
      block_numbers_(
          checked_product(n_components, block_positions, "components per exchanged block")),
      by_order_(by_order, comm_.rank(), block_positions),
      by_ring_(by_ring, comm_.rank(), block_positions) {
  if (comm_.size() == 1) return;
  block_type_ = std::make_unique<ElementType>(block_numbers_, precision_ == ModePrecision::single_
                                                                  ? MPI_C_FLOAT_COMPLEX
                                                                  : MPI_C_DOUBLE_COMPLEX);
}

int ModeAlltoall::move(const Side& from, const void* send, const Side& to, void* receive) const {
  if (comm_.size() == 1) return MPI_SUCCESS;
  const MPI_Datatype type = block_type_->get();
  return MPI_Alltoallv(send, from.counts.data(), from.firsts.data(), type, receive,
                       to.counts.data(), to.firsts.data(), type, mpi_handle(comm_));
}

void ModeAlltoall::expect_done(int code) const {
  end_job_unless_done(comm_, code, "MPI_Alltoallv of ring modes");
}

void ModeAlltoall::orders_to_rings(const void* by_order, void* by_ring) const {
  expect_done(move(by_order_, by_order, by_ring_, by_ring));
}

void ModeAlltoall::rings_to_orders(const void* by_ring, void* by_order) const {
  expect_done(move(by_ring_, by_ring, by_order_, by_order));
}

bool ModeAlltoall::try_orders_to_rings(const void* by_order, void* by_ring) const {
  return move(by_order_, by_order, by_ring_, by_ring) == MPI_SUCCESS;
}

std::int64_t ModeAlltoall::bytes_sent() const {
  std::int64_t blocks = 0;
  for (const int count : by_order_.counts) blocks += count;
  return blocks * block_numbers_ * complex_bytes(precision_);
}

}  // namespace ringweave
