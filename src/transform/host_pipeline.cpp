// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/host_pipeline.hpp"

#include <utility>

#include "distribute/exchange/mode_exchange.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline transform {

std::shared_ptr<HostPipeline> plan_host_pipeline(const Communicator& comm,
                                                 const TransformPlan& plan, int n_passes,
                                                 const SharedStages& shared) {
  OrderPasses passes;
  std::shared_ptr<LegendreStage> legendre;
  agree(comm, [&] {
    passes = plan.order_passes(n_passes, plan.n_host_parts(n_passes));
    legendre = shared.legendre == nullptr
                   ? make_legendre_stage(plan.legendre_shape(shared.fields, passes.by_order),
                                         plan.legendre_backend())
                   : shared.legendre->with_rows(passes.by_order);
  });
  const ExchangeOptions& options = plan.spec.exchange;
  auto exchange =
      std::make_unique<ModeExchange>(comm, passes, shared.fields.n_components(), options,
                                     make_host_transport(options.precision, plan.countable()));
  return std::make_shared<HostPipeline>(
      comm, std::move(passes),
      HostStages(std::move(legendre), shared.ring_fft, plan.spec.backend, shared.times),
      std::move(exchange));
}

}  // namespace ringweave::detail::inline transform
