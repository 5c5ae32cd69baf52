// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdlib>

#include "base/device_buffer.hpp"
#include "distribute/exchange/device_transport.hpp"
#include "exchange_steps.hpp"
#include "mode_labels.hpp"
#include "plan_cases.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

/// Sets RINGWEAVE_DEVICE_MPI during its lifetime.
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
  // Labels of one component are whole numbers, which are exact in single precision.
  const std::int64_t n_components = precision == ModePrecision::single_ ? 1 : 2;
  const OrderDistribution orders = of.orders(comm.size());
  const RingDistribution rings = of.rings(comm.size());
  const ExchangePlan whole = plan_exchange(of.limits, of.fold, orders, rings, comm.rank());
  const OrderPasses plan =
      plan_order_passes(of.limits, of.fold, orders, rings, comm.rank(), whole, {.n_parts = 4});
  ModeExchange exchange(comm, plan, n_components, {.precision = precision},
                        make_device_transport(stream, route, precision, true));
  exchange.allocate();
  HostBuffer<Value> modes = buffer_for(plan.by_order, n_components);
  for_each_mode(plan.by_order, n_components,
                [&](std::int64_t i, Value value) { modes[i] = value; });
  DeviceBuffer<Value> there(modes.size());
  const std::int64_t n_by_ring = plan.by_ring_size * n_components;
  const ModeMemory memory{there.data(), n_by_ring, there.data() + n_by_ring,
                          there.size() - n_by_ring};
  const auto nothing = [](const OrderPasses::Part&) {};
  copy_to_device(modes.data(), there.data(), there.bytes(), stream);
  exchange_to_rings(exchange, plan, memory, nothing);
  copy_to_host(there.data(), modes.data(), there.bytes(), stream);
  stream.synchronize();
  EXPECT_EQ(count_wrong(whole.by_ring, n_components, modes), 0);
  zero_device_memory(memory.slots, memory.n_slots * std::int64_t{sizeof(Value)}, stream);
  exchange_to_orders(exchange, plan, memory, nothing);
  copy_to_host(there.data(), modes.data(), there.bytes(), stream);
  stream.synchronize();
  EXPECT_EQ(count_wrong(plan.by_order, n_components, modes), 0);
}

TEST_P(OnEveryRankCount, EveryModeArrivesFromDeviceToDevice) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
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
}  // namespace ringweave::detail::test
