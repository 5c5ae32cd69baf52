// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/exchange.hpp"

#include <fmt/format.h>

#include <complex>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "distribute/exchange/mode_alltoall.hpp"
#include "distribute/exchange/mode_rounding.hpp"

namespace ringweave {
namespace {

void expect_size(const char* name, std::int64_t size, std::int64_t expected) {
  if (size == expected) return;
  throw UsageError(fmt::format("exchange: {} holds {} modes x components, the plan needs {}", name,
                               size, expected));
}

}  // namespace

struct Exchange::Impl {
  Communicator comm;
  std::int64_t n_components;
  std::int64_t by_order_size;  ///< elements of the whole buffer
  std::int64_t by_ring_size;
  ExchangePlan::Block own_by_order;
  ExchangePlan::Block own_by_ring;
  ModeAlltoall alltoall;

  Impl(Communicator c, const ExchangePlan& plan, std::int64_t components)
      : comm(std::move(c)),
        n_components(components),
        by_order_size(checked_product(plan.by_order.size(), components, "ring modes of one rank")),
        by_ring_size(checked_product(plan.by_ring.size(), components, "ring modes of one rank")),
        own_by_order(plan.by_order_blocks[to_size(comm.rank())]),
        own_by_ring(plan.by_ring_blocks[to_size(comm.rank())]),
        alltoall(comm, plan.by_order_blocks, plan.by_ring_blocks, plan.block_positions,
                 components) {}

  void keep_own(const ExchangePlan::Block& from, const std::complex<double>* source,
                const ExchangePlan::Block& to, std::complex<double>* target) const {
    if (comm.size() == 1 && source == target) return;
    const CopyRun run{from.first * n_components, to.first * n_components,
                      from.count * n_components};
    copy_modes(source, target, {&run, 1});
  }
};

Exchange::Exchange(Communicator comm, const ExchangePlan& plan, std::int64_t n_components) {
  expect_fitting_plan(comm, plan);
  impl_ = std::make_unique<Impl>(std::move(comm), plan, n_components);
}

Exchange::~Exchange() = default;

void Exchange::orders_to_rings(ModeView<const double> by_order, ModeView<double> by_ring) const {
  expect_size("by_order", by_order.size(), impl_->by_order_size);
  expect_size("by_ring", by_ring.size(), impl_->by_ring_size);
  impl_->keep_own(impl_->own_by_order, by_order.data(), impl_->own_by_ring, by_ring.data());
  impl_->alltoall.orders_to_rings(by_order.data(), by_ring.data());
}

void Exchange::rings_to_orders(ModeView<const double> by_ring, ModeView<double> by_order) const {
  expect_size("by_ring", by_ring.size(), impl_->by_ring_size);
  expect_size("by_order", by_order.size(), impl_->by_order_size);
  impl_->keep_own(impl_->own_by_ring, by_ring.data(), impl_->own_by_order, by_order.data());
  impl_->alltoall.rings_to_orders(by_ring.data(), by_order.data());
}

std::int64_t Exchange::bytes_sent() const { return impl_->alltoall.bytes_sent(); }

}  // namespace ringweave
