// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "transform/host_stages.hpp"
#include "transform/pipeline.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline transform {

using HostPipeline = Pipeline<HostStages>;

/// Fields, stages and times that several pipelines share.
struct SharedStages {
  FieldSet fields;
  std::shared_ptr<RingFft> ring_fft;
  const LegendreStage* legendre;  ///< for another number of passes; null: none yet
  StageTimes* times;              ///< must outlive the pipelines
};

/// Plans the pipeline of some fields of a transform, with the exchange in so many passes.
/// Collective.
std::shared_ptr<HostPipeline> plan_host_pipeline(const Communicator& comm,
                                                 const TransformPlan& plan, int n_passes,
                                                 const SharedStages& shared);

}  // namespace ringweave::detail::inline transform
