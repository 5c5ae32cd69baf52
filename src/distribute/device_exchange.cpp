// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/device_exchange.hpp"

#include <fmt/format.h>

#include <complex>
#include <utility>

#include "base/device_buffer.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "distribute/staged_exchange.hpp"

namespace ringweave {
namespace {

using Value = std::complex<double>;

/// A device that works in one stream and copies in another.
class StreamMemory {
 public:
  using Staging = DeviceBuffer<Value, MemorySpace::pinned>;

  explicit StreamMemory(const DeviceStream& work) : work_(&work) {}

  Staging stage(std::int64_t n) const { return Staging(n); }
  void down(const Value* from, Value* to, std::int64_t n) const {
    copy_to_host(from, to, bytes(n), copies_);
  }
  void up(const Value* from, Value* to, std::int64_t n) const {
    copy_to_device(from, to, bytes(n), copies_);
  }
  void keep(const Value* from, Value* to, std::int64_t n) const {
    copy_on_device(from, to, bytes(n), *work_);
  }
  void copies_follow_work() {
    work_done_.record(*work_);
    work_done_.hold(copies_);
  }
  void work_follows_copies() {
    copies_done_.record(copies_);
    copies_done_.hold(*work_);
  }
  void wait_for_copies() const { copies_.synchronize(); }
  void wait_for_work() const { work_->synchronize(); }

 private:
  static std::int64_t bytes(std::int64_t n) { return n * std::int64_t{sizeof(Value)}; }

  const DeviceStream* work_;
  DeviceStream copies_;
  DeviceEvent work_done_;
  DeviceEvent copies_done_;
};

void expect_size(const char* name, std::int64_t size, std::int64_t expected) {
  if (size == expected) return;
  throw UsageError(
      fmt::format("exchange on a device: {} holds {} modes x components, the plan "
                  "needs {}",
                  name, size, expected));
}

}  // namespace

struct DeviceExchange::Impl {
  std::int64_t by_order_size;
  std::int64_t by_ring_size;
  std::unique_ptr<StreamMemory> memory;
  StagedExchange<StreamMemory> exchange;

  Impl(const Communicator& comm, const ExchangePlan& plan, std::vector<RowPart> parts,
       std::int64_t n_components, DeviceRoute route, const DeviceStream& stream)
      : by_order_size(plan.by_order.size() * n_components),
        by_ring_size(plan.by_ring.size() * n_components),
        memory(agreed(comm, [&] { return std::make_unique<StreamMemory>(stream); })),
        exchange(comm, plan, std::move(parts), n_components, route, *memory) {}

  void expect_sizes(std::int64_t by_order, std::int64_t by_ring) const {
    expect_size("by_order", by_order, by_order_size);
    expect_size("by_ring", by_ring, by_ring_size);
  }
};

DeviceExchange::DeviceExchange(const Communicator& comm, const ExchangePlan& plan,
                               std::vector<RowPart> parts, std::int64_t n_components,
                               DeviceRoute route, const DeviceStream& stream)
    : impl_(std::make_unique<Impl>(comm, plan, std::move(parts), n_components, route, stream)) {}

DeviceExchange::~DeviceExchange() = default;

void DeviceExchange::orders_to_rings(const RowWork& make_rows, Modes<const double> by_order,
                                     Modes<double> by_ring, StageTimes* times) const {
  impl_->expect_sizes(by_order.size(), by_ring.size());
  impl_->exchange.orders_to_rings(make_rows, by_order.data(), by_ring.data(), times);
}

void DeviceExchange::rings_to_orders(Modes<const double> by_ring, Modes<double> by_order,
                                     const RowWork& use_rows, StageTimes* times) const {
  impl_->expect_sizes(by_order.size(), by_ring.size());
  impl_->exchange.rings_to_orders(by_ring.data(), by_order.data(), use_rows, times);
}

void DeviceExchange::allocate() const { impl_->exchange.allocate(); }
void DeviceExchange::release() const noexcept { impl_->exchange.release(); }
std::int64_t DeviceExchange::staging_bytes() const { return impl_->exchange.staging_bytes(); }
std::int64_t DeviceExchange::bytes_sent() const { return impl_->exchange.bytes_sent(); }

}  // namespace ringweave
