// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <string>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/mode_view.hpp"
#include "distribute/exchange/device_transport.hpp"
#include "distribute/queued_memory.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/host_stages.hpp"
#include "transform/pipeline.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

// The device pipeline with the host's stages, on a device that does nothing until it is waited for.
namespace ringweave::detail::test {
namespace {

/// DeviceStages that enqueue the work of HostStages.
class QueuedStages {
 public:
  template <class T>
  using Alm = AlmView<T>;
  template <class T>
  using Map = MapView<T>;
  using Weights = std::span<const double>;
  using Modes = ModePieces<double>;

  QueuedStages(std::unique_ptr<LegendreStage> legendre, std::unique_ptr<RingFft> ring_fft,
               QueuedMemory* device)
      : host_(std::move(legendre), std::move(ring_fft), Backend::host, nullptr), device_(device) {}

  template <class T>
  void synthesize_rows(RowRange rows, Alm<const T> alm, Modes modes) {
    device_->work([=, this] { host_.synthesize_rows<T>(rows, alm, modes); });
  }
  template <class T>
  void adjoint_rows(RowRange rows, Modes modes, Alm<T> alm, Accumulate how) {
    device_->work([=, this] { host_.adjoint_rows<T>(rows, modes, alm, how); });
  }
  template <class T>
  void to_pixels(Modes modes, Map<T> map) {
    device_->work([=, this] { host_.to_pixels<T>(modes, map); });
  }
  template <class T>
  void to_modes(Map<const T> map, Weights weights, Modes modes) {
    device_->work([=, this] { host_.to_modes<T>(map, weights, modes); });
  }
  ModeMemory memory(Modes modes) const { return host_.memory(modes); }
  bool can_fail() const { return true; }
  void lap(const char*) {}
  void finish_laps() { device_->wait_for_work(); }

 private:
  HostStages host_;
  QueuedMemory* device_;
};

class QueuedTransform {
 public:
  QueuedTransform(const Communicator& comm, const TransformPlan& plan, DeviceRoute route,
                  int n_parts)
      : passes_(plan.order_passes(plan.n_passes_within, n_parts)),
        n_components_(plan.spec.fields.n_components()),
        modes_(to_size(passes_.by_order.size() * n_components_)) {
    auto queued = std::make_unique<QueuedMemory>();
    QueuedStages stages(
        make_legendre_stage(plan.legendre_shape(plan.spec.fields, passes_.by_order), Backend::host),
        make_ring_fft(plan.ring_fft_shape(plan.spec.fields), Backend::host), queued.get());
    auto exchange = std::make_unique<ModeExchange>(
        comm, passes_, n_components_, plan.spec.exchange,
        std::make_unique<DeviceTransport<QueuedMemory>>(
            std::move(queued), route, plan.spec.exchange.precision, plan.countable()));
    pipeline_ = std::make_unique<Pipeline<QueuedStages>>(comm, passes_, std::move(stages),
                                                         std::move(exchange));
    pipeline_->allocate();
  }

  void synthesize(AlmView<const double> alm, MapView<double> map) {
    pipeline_->synthesize<double>(alm, modes(), map);
  }
  void adjoint(MapView<const double> map, AlmView<double> alm) {
    pipeline_->adjoint<double>(map, {}, modes(), alm, Accumulate::overwrite);
  }

 private:
  ModePieces<double> modes() {
    const std::int64_t by_ring = passes_.by_ring_size * n_components_;
    return {{modes_.data(), by_ring}, {modes_.data() + by_ring, ssize64(modes_) - by_ring}};
  }

  OrderPasses passes_;
  std::int64_t n_components_;
  std::vector<std::complex<double>> modes_;
  std::unique_ptr<Pipeline<QueuedStages>> pipeline_;
};

void expect_the_hosts_bits(const Communicator& comm, const ExchangeOptions& options) {
  for (const Case& of : telling_cases()) {
    SCOPED_TRACE(of.name());
    TransformSpec spec = of.spec();
    spec.theta = ThetaRoute::direct;  // resampling processes orders together, whole or in parts
    spec.exchange = options;
    SphericalHarmonicTransform host(comm, spec);
    const AlmBuffer<double> alm = random_alm(host);
    const MapBuffer<double> map = random_map(host);
    const MapBuffer<double> expected_map = synthesized(host, alm);
    const AlmBuffer<double> expected_alm = adjoint_of(host, map);
    for (const DeviceRoute route : {DeviceRoute::staged, DeviceRoute::direct}) {
      for (const int n_parts : {1, 5}) {
        QueuedTransform queued(comm, host.plan(), route, n_parts);
        MapBuffer<double> made_map = host.make_map<double>();
        AlmBuffer<double> made_alm = host.make_alm<double>();
        queued.synthesize(alm.view(), made_map.view());
        queued.adjoint(map.view(), made_alm.view());
        EXPECT_TRUE(same_bits(made_map, expected_map)) << n_parts << " parts";
        EXPECT_TRUE(same_bits(made_alm, expected_alm)) << n_parts << " parts";
      }
    }
  }
}

TEST_P(OnEveryRankCount, ADevicePipelineGivesTheBitsOfTheHost) {
  expect_the_hosts_bits(comm(), {});
  expect_the_hosts_bits(comm(), {.schedule = ExchangeSchedule::overlapped});
}
TEST_P(OnEveryRankCount, ADevicePipelineRoundsModesAsTheHostDoes) {
  expect_the_hosts_bits(comm(), {.precision = ModePrecision::single_});
}
TEST_P(OnEveryRankCount, ADevicePipelinePacksModesThatMpiCannotCount) {
  expect_the_hosts_bits(comm(), {.mpi_count_limit = 100});
}

TEST_P(OnEveryRankCount, WithoutADeviceATransformThatAsksForOneSaysSo) {
  if (device_count() > 0) GTEST_SKIP() << "there is a CUDA device";
  TransformSpec spec = telling_cases().front().spec();
  spec.backend = Backend::cuda;
  try {
    SphericalHarmonicTransform transform(comm(), spec);
    ADD_FAILURE() << "it was planned";
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("host backend"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace ringweave::detail::test
