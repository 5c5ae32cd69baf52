// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>

#include "app/smooth/smooth_job.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "convolve/ring/ring_convolution_estimate.hpp"

namespace ringweave {

/// Q and U of a polarised map, which go the harmonic way on the bands of the convolution.
struct SpinPart {
  HarmonicWay way;
  std::unique_ptr<SphericalHarmonicTransform> transform;
};

struct RingJob {
  CutKernel cut;
  RingConvolutionPlan plan;
  std::optional<SpinPart> spins;

  std::int64_t n_scalars() const { return plan.spec().n_maps; }
};

/// Of all convolutions, and what the harmonic way without iterations would take for the same
/// fields.
struct RingPrediction {
  int n_convolutions = 1;
  RingConvolutionEstimate stages;  ///< of one convolution
  Estimate total;
  Estimate harmonic;
  Estimate spins;  ///< of Q and U
};

/// Error  UsageError where the kernel, the error and the grid do not go together, ResourceError
/// where maps alone do not fit. Collective.
RingJob plan_rings(Run& run, const SmoothJob& job);
/// Collective.
RingPrediction predict_rings(const Run& run, const SmoothJob& job, const RingJob& rings);
/// Does what was planned. Collective.
int smooth_on_rings(Run& run, SmoothJob& job, RingJob& rings);

}  // namespace ringweave
