// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_exchange.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/device_buffer.hpp"
#include "base/error.hpp"
#include "mode_labels.hpp"
#include "plan_cases.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::test {
namespace {

/// RINGWEAVE_DEVICE_MPI while it lives.
class Override {
 public:
  explicit Override(const char* value) { setenv(name, value, 1); }
  ~Override() { unsetenv(name); }
  Override(const Override&) = delete;
  Override& operator=(const Override&) = delete;

 private:
  static constexpr const char* name = "RINGWEAVE_DEVICE_MPI";
};

TEST(DeviceRoute, AnOverrideIsStrongerThanWhatMpiSays) {
  {
    const Override yes("1");
    EXPECT_TRUE(mpi_should_take_device_memory());
  }
  {
    const Override no("0");
    EXPECT_FALSE(mpi_should_take_device_memory());
  }
  const Override unset("");
  EXPECT_EQ(mpi_should_take_device_memory(), mpi_says_it_takes_device_memory());
}

TEST(DeviceRoute, AnotherWordIsAUsageError) {
  const Override word("yes");
  EXPECT_THROW(mpi_should_take_device_memory(), UsageError);
}

void expect_every_mode_arrives(const PlanCase& of, const Communicator& comm, DeviceRoute route,
                               ModePrecision precision, const DeviceStream& stream) {
  SCOPED_TRACE(of.name);
  // Labels of one component are whole numbers, which single precision holds.
  const std::int64_t n_components = precision == ModePrecision::single_ ? 1 : 2;
  const OrderDistribution orders = of.orders(comm.size());
  const RingDistribution rings = of.rings(comm.size());
  const ExchangePlan plan =
      plan_exchange(of.limits, of.fold, orders, rings, comm.rank(), n_components);
  const DeviceExchange exchange(
      comm,
      {plan, plan_row_parts(of.limits, of.fold, orders, rings, comm.rank(), plan, Folding::fold, 4),
       n_components, route, precision},
      stream);
  HostBuffer<Value> by_order = buffer_for(plan.by_order, n_components);
  HostBuffer<Value> by_ring = buffer_for(plan.by_ring, n_components);
  for_each_mode(plan.by_order, n_components,
                [&](std::int64_t i, Value value) { by_order[i] = value; });
  DeviceBuffer<Value> order_modes(by_order.size());
  DeviceBuffer<Value> ring_modes(by_ring.size());
  const auto nothing = [](std::int64_t, std::int64_t) {};
  copy_to_device(by_order.data(), order_modes.data(), order_modes.bytes(), stream);
  exchange.orders_to_rings(nothing, order_modes.view(), ring_modes.view(), nullptr);
  copy_to_host(ring_modes.data(), by_ring.data(), ring_modes.bytes(), stream);
  zero_device_memory(order_modes.data(), order_modes.bytes(), stream);
  exchange.rings_to_orders(ring_modes.view(), order_modes.view(), nothing, nullptr);
  copy_to_host(order_modes.data(), by_order.data(), order_modes.bytes(), stream);
  stream.synchronize();
  EXPECT_EQ(count_wrong(plan.by_ring, n_components, by_ring), 0);
  EXPECT_EQ(count_wrong(plan.by_order, n_components, by_order), 0);
}

TEST_P(OnEveryRankCount, EveryModeArrivesFromDeviceToDevice) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_obstacle();
  choose_device(comm().node_local().rank());
  const DeviceStream stream;
  for (const PlanCase& plan_case : small_cases()) {
    for (const ModePrecision precision : {ModePrecision::double_, ModePrecision::single_}) {
      expect_every_mode_arrives(plan_case, comm(), DeviceRoute::staged, precision, stream);
      expect_every_mode_arrives(plan_case, comm(), find_device_route(comm(), stream), precision,
                                stream);
    }
  }
}

}  // namespace
}  // namespace ringweave::test
