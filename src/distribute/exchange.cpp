// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange_mpi.hpp"

namespace ringweave {
namespace {

using Blocks = std::vector<ExchangePlan::Block>;

/// One side of the exchange in MPI's integers; nothing towards the rank itself.
struct Side {
  std::int64_t size = 0;  ///< elements of the whole buffer
  ExchangePlan::Block self;
  std::vector<int> counts;  ///< [peer], in blocks
  std::vector<int> firsts;  ///< [peer], in blocks

  Side(const ModeLayout& layout, const Blocks& blocks, int rank, std::int64_t block_positions,
       std::int64_t n_components)
      : size(checked_product(layout.size(), n_components, "ring modes of one rank")),
        self(blocks[to_size(rank)]) {
    for (const auto& [first, count] : blocks) {
      const std::int64_t padded = (count + block_positions - 1) / block_positions;
      counts.push_back(checked_cast<int>(padded, "count of an exchange"));
      firsts.push_back(checked_cast<int>(first / block_positions, "displacement of an exchange"));
    }
    counts[to_size(rank)] = 0;
  }
};

void expect_equal_groups(const Communicator& comm, const ExchangePlan& plan) {
  if (ssize64(plan.by_order_blocks) == comm.size()) return;
  throw UsageError(fmt::format("the exchange is planned for {} ranks, the communicator has {}",
                               plan.by_order_blocks.size(), comm.size()));
}

void expect_size(const char* name, std::int64_t size, std::int64_t expected) {
  if (size == expected) return;
  throw UsageError(fmt::format("exchange: {} holds {} modes x components, the plan needs {}", name,
                               size, expected));
}

}  // namespace

struct Exchange::Impl {
  Communicator comm;
  std::int64_t n_components;
  std::int64_t block_positions;
  Side by_order;
  Side by_ring;
  std::unique_ptr<ElementType> block_type;  ///< none on one rank

  Impl(Communicator c, const ExchangePlan& plan, std::int64_t components)
      : comm(std::move(c)),
        n_components(components),
        block_positions(plan.block_positions),
        by_order(plan.by_order, plan.by_order_blocks, comm.rank(), block_positions, components),
        by_ring(plan.by_ring, plan.by_ring_blocks, comm.rank(), block_positions, components) {
    if (comm.size() > 1) {
      block_type = std::make_unique<ElementType>(
          checked_product(n_components, block_positions, "components per exchanged block"),
          MPI_C_DOUBLE_COMPLEX);
    }
  }

  void move(const Side& from, const std::complex<double>* send, const Side& to,
            std::complex<double>* receive) const {
    if (comm.size() == 1 && send == receive) return;
    std::copy_n(send + from.self.first * n_components, from.self.count * n_components,
                receive + to.self.first * n_components);
    if (comm.size() == 1) return;
    const int code =
        MPI_Alltoallv(send, from.counts.data(), from.firsts.data(), block_type->get(), receive,
                      to.counts.data(), to.firsts.data(), block_type->get(), mpi_handle(comm));
    end_job_unless_done(comm, code, "MPI_Alltoallv of ring modes");
  }
};

Exchange::Exchange(Communicator comm, const ExchangePlan& plan, std::int64_t n_components) {
  expect_equal_groups(comm, plan);
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> expected;
  for (const auto& block : plan.by_order_blocks) sent.push_back(block.count);
  for (const auto& block : plan.by_ring_blocks) expected.push_back(block.count);
  expect_fitting_counts(comm, sent, expected);
  impl_ = std::make_unique<Impl>(std::move(comm), plan, n_components);
}

Exchange::~Exchange() = default;

void Exchange::orders_to_rings(ModeView<const double> by_order, ModeView<double> by_ring) const {
  expect_size("by_order", by_order.size(), impl_->by_order.size);
  expect_size("by_ring", by_ring.size(), impl_->by_ring.size);
  impl_->move(impl_->by_order, by_order.data(), impl_->by_ring, by_ring.data());
}

void Exchange::rings_to_orders(ModeView<const double> by_ring, ModeView<double> by_order) const {
  expect_size("by_ring", by_ring.size(), impl_->by_ring.size);
  expect_size("by_order", by_order.size(), impl_->by_order.size);
  impl_->move(impl_->by_ring, by_ring.data(), impl_->by_order, by_order.data());
}

std::int64_t Exchange::bytes_sent() const {
  std::int64_t blocks = 0;
  for (const int count : impl_->by_order.counts) blocks += count;
  return blocks * impl_->block_positions * impl_->n_components *
         static_cast<std::int64_t>(sizeof(std::complex<double>));
}

}  // namespace ringweave
