// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/error.hpp"
#include "support/rank_groups.hpp"
#include "transform/host_pipeline.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::test {
namespace {

/// A Legendre stage that fails where it is told to.
class FailingStage final : public LegendreStage {
 public:
  FailingStage(std::unique_ptr<LegendreStage> stage, const bool* fails)
      : stage_(std::move(stage)), fails_(fails) {}

  void synthesize(AnyConstAlmView<> alm, ModePieces<double> modes, RowRange rows) override {
    fail();
    stage_->synthesize(alm, modes, rows);
  }
  void adjoint(ModePieces<const double> modes, AnyAlmView<> alm, Accumulate how,
               RowRange rows) override {
    fail();
    stage_->adjoint(modes, alm, how, rows);
  }
  std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const override {
    return stage_->with_rows(std::move(rows));
  }
  std::int64_t bytes() const override { return stage_->bytes(); }

 private:
  void fail() const {
    if (*fails_) throw ResourceError("the device is gone");
  }

  std::unique_ptr<LegendreStage> stage_;
  const bool* fails_;
};

TEST_P(OnEveryRankCount, AStageThatFailsOnOneRankFailsOnAllAndWorksAgain) {
  const TransformPlan plan(Case{share(RingGrid::healpix(4)), 8, 8, {0}}.spec(), comm().rank(),
                           comm().size());
  const ExchangeOptions& options = plan.spec.exchange;
  bool fails = false;
  OrderPasses passes = plan.order_passes(1, plan.n_host_parts(1));
  auto stage = std::make_shared<FailingStage>(
      make_legendre_stage(plan.legendre_shape(plan.spec.fields, passes.by_order), Backend::host),
      &fails);
  auto exchange = std::make_unique<ModeExchange>(
      comm(), passes, 1, options, make_host_transport(options.precision, plan.countable()));
  const std::int64_t n_slots = passes.all_slots();
  HostPipeline pipeline(
      comm(), std::move(passes),
      HostStages(std::move(stage), make_host_ring_fft(plan.ring_fft_shape(plan.spec.fields)),
                 Backend::host, nullptr),
      std::move(exchange));
  pipeline.allocate();

  AlmBuffer<double> alm(1, plan.alm.size());
  std::fill_n(alm.view().data(), alm.size(), std::complex<double>(1));
  MapBuffer<double> map(1, plan.rings.n_pixels());
  std::vector<std::complex<double>> rings(to_size(plan.exchange.by_ring.size()));
  std::vector<std::complex<double>> slots(to_size(n_slots));
  const HostStages::Modes modes{{rings.data(), ssize64(rings)}, {slots.data(), n_slots}};
  const auto synthesize = [&] {
    pipeline.synthesize<double>(std::as_const(alm).view(), modes, map.view());
  };
  const auto adjoint = [&] {
    pipeline.adjoint<double>(std::as_const(map).view(), {}, modes, alm.view(),
                             Accumulate::overwrite);
  };
  for (const int failing : {0, comm().size() - 1}) {
    fails = comm().rank() == failing;
    EXPECT_THROW(synthesize(), ResourceError);
    EXPECT_THROW(adjoint(), ResourceError);
    fails = false;
    EXPECT_NO_THROW(synthesize());
    EXPECT_NO_THROW(adjoint());
  }
}

}  // namespace
}  // namespace ringweave::detail::test
