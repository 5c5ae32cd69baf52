// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include "distribute/exchange/staged_exchange.hpp"
#include "distribute/queued_memory.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

// The order of a device's line - rows in parts, copies, exchange, ring FFT - with the host's stages
// on a device that does nothing until somebody waits.
namespace ringweave::test {
namespace {

class StagedLine {
 public:
  StagedLine(const Communicator& comm, const TransformPlan& plan, DeviceRoute route, int n_parts)
      : comm_(comm),
        legendre_(make_legendre_stage(plan.legendre_shape(plan.spec.fields, plan.exchange.by_order),
                                      Backend::host)),
        ring_fft_(make_ring_fft({plan.rings, plan.exchange.by_ring, n_of(plan)}, Backend::host)),
        exchange_(comm,
                  {plan.exchange,
                   plan_row_parts(plan.limits, plan.fold, plan.orders, plan.ring_bands, plan.rank,
                                  plan.exchange, plan.spec.exchange.folding, n_parts),
                   n_of(plan), route, plan.spec.exchange.precision},
                  device_),
        by_order_(to_size(plan.exchange.by_order.size() * n_of(plan))),
        by_ring_(to_size(plan.exchange.by_ring.size() * n_of(plan))) {}

  void synthesize(AlmView<const double> alm, MapView<double> map) {
    exchange_.orders_to_rings(
        [&](std::int64_t first, std::int64_t count) {
          device_.work([=, this] { legendre_->synthesize_rows(first, count, alm, order_modes()); });
        },
        order_modes().data(), ring_modes().data(), nullptr);
    device_.work([=, this] { ring_fft_->synthesize(ring_modes(), map); });
    device_.wait_for_work();
  }
  void adjoint(MapView<const double> map, AlmView<double> alm) {
    device_.work([=, this] { ring_fft_->adjoint(map, {}, ring_modes()); });
    exchange_.rings_to_orders(
        ring_modes().data(), order_modes().data(),
        [&](std::int64_t first, std::int64_t count) {
          device_.work([=, this] {
            legendre_->adjoint_rows(first, count, order_modes(), alm, Accumulate::overwrite);
          });
        },
        nullptr);
    device_.wait_for_work();
  }

 private:
  static std::int64_t n_of(const TransformPlan& plan) { return plan.spec.fields.n_components(); }
  ModeView<double> ring_modes() { return {by_ring_.data(), ssize64(by_ring_)}; }
  ModeView<double> order_modes() {
    return comm_.size() == 1 ? ring_modes()
                             : ModeView<double>(by_order_.data(), ssize64(by_order_));
  }

  Communicator comm_;
  std::unique_ptr<LegendreStage> legendre_;
  std::unique_ptr<RingFft> ring_fft_;
  QueuedMemory device_;
  StagedExchange<QueuedMemory> exchange_;
  std::vector<std::complex<double>> by_order_;
  std::vector<std::complex<double>> by_ring_;
};

void expect_the_hosts_bits(const Communicator& comm, ModePrecision precision) {
  for (const Case& of : telling_cases()) {
    SCOPED_TRACE(of.name());
    TransformSpec spec = of.spec();
    spec.theta = ThetaRoute::direct;  // resampling takes orders together, whole or in parts
    spec.exchange.precision = precision;
    SphericalHarmonicTransform host(comm, spec);
    const AlmBuffer<double> alm = random_alm(host);
    const MapBuffer<double> map = random_map(host);
    const MapBuffer<double> expected_map = synthesized(host, alm);
    const AlmBuffer<double> expected_alm = adjoint_of(host, map);
    for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
      for (const int n_parts : {1, 5}) {
        StagedLine line(comm, host.plan(), route, n_parts);
        MapBuffer<double> made_map = host.make_map<double>();
        AlmBuffer<double> made_alm = host.make_alm<double>();
        line.synthesize(alm.view(), made_map.view());
        line.adjoint(map.view(), made_alm.view());
        EXPECT_TRUE(same_bits(made_map, expected_map)) << n_parts << " parts";
        EXPECT_TRUE(same_bits(made_alm, expected_alm)) << n_parts << " parts";
      }
    }
  }
}

TEST_P(OnEveryRankCount, AStagedLineIsTheHostsBitByBit) {
  expect_the_hosts_bits(comm(), ModePrecision::double_);
}
TEST_P(OnEveryRankCount, AStagedLineRoundsModesAsTheHostDoes) {
  expect_the_hosts_bits(comm(), ModePrecision::single_);
}

}  // namespace
}  // namespace ringweave::test
