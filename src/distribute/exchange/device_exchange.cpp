// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_exchange.hpp"

#include <fmt/format.h>

#include <complex>
#include <memory>
#include <utility>

#include "base/device_buffer.hpp"
#include "base/error.hpp"
#include "distribute/exchange/device_mode_rounding.hpp"
#include "distribute/exchange/staged_exchange.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {
namespace {

using Value = std::complex<double>;
using Single = std::complex<float>;

/// A device that works in one stream and copies in another.
class StreamMemory {
 public:
  using Staging = DeviceBuffer<char, MemorySpace::pinned>;
  using Buffer = DeviceBuffer<char>;

  StreamMemory(const DeviceStream& work, ModePrecision precision) : work_(&work) {
    if (precision == ModePrecision::single_) rounding_ = std::make_unique<DeviceModeRounding>(work);
  }

  Staging stage(std::int64_t bytes) const { return Staging(bytes); }
  Buffer buffer(std::int64_t bytes) const { return Buffer(bytes); }
  void down(const void* from, void* to, std::int64_t bytes) const {
    copy_to_host(from, to, bytes, copies_);
  }
  void up(const void* from, void* to, std::int64_t bytes) const {
    copy_to_device(from, to, bytes, copies_);
  }
  void keep(const void* from, void* to, std::int64_t bytes) const {
    copy_on_device(from, to, bytes, *work_);
  }
  void narrow(const Value* from, Single* to, std::int64_t n) const {
    rounding_->narrow(from, to, n);
  }
  void widen(const Single* from, Value* to, std::int64_t n) const { rounding_->widen(from, to, n); }
  void round_to_single(const Value* from, Value* to, std::int64_t n) const {
    rounding_->round_to_single(from, to, n);
  }
  double take_largest() const { return rounding_->take_largest(); }
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
  const DeviceStream* work_;
  std::unique_ptr<DeviceModeRounding> rounding_;  ///< in single precision
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

  Impl(const Communicator& comm, StagedExchangeShape shape, const DeviceStream& stream)
      : by_order_size(shape.plan.by_order.size() * shape.n_components),
        by_ring_size(shape.plan.by_ring.size() * shape.n_components),
        memory(
            agreed(comm, [&] { return std::make_unique<StreamMemory>(stream, shape.precision); })),
        exchange(comm, std::move(shape), *memory) {}

  void expect_sizes(std::int64_t by_order, std::int64_t by_ring) const {
    expect_size("by_order", by_order, by_order_size);
    expect_size("by_ring", by_ring, by_ring_size);
  }
};

DeviceExchange::DeviceExchange(const Communicator& comm, StagedExchangeShape shape,
                               const DeviceStream& stream)
    : impl_(std::make_unique<Impl>(comm, std::move(shape), stream)) {}

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

void DeviceExchange::round_alone(Modes<double> modes) const {
  impl_->expect_sizes(modes.size(), modes.size());
  impl_->exchange.round_alone(modes.data());
}

void DeviceExchange::require_range() const { impl_->exchange.require_range(); }

void DeviceExchange::allocate() const { impl_->exchange.allocate(); }
void DeviceExchange::release() const noexcept { impl_->exchange.release(); }
std::int64_t DeviceExchange::staging_bytes() const { return impl_->exchange.staging_bytes(); }
std::int64_t DeviceExchange::device_bytes() const { return impl_->exchange.device_bytes(); }
std::int64_t DeviceExchange::bytes_sent() const { return impl_->exchange.bytes_sent(); }

}  // namespace ringweave
