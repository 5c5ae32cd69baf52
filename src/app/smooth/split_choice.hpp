// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "app/run.hpp"
#include "app/smooth/smooth_job.hpp"
#include "convolve/split/split_plan.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/convolution.hpp"

namespace ringweave::detail::inline app {

/// The split of a kernel, and who does which part of it.
struct SplitSearch {
  KernelSplit split;
  SplitMaps maps;
  SplitPlan plan;
  std::vector<double> k_l;

  bool has_harmonic_on_device() const {
    return plan.harmonic && plan.harmonic->spec.backend == Backend::cuda;
  }
  bool has_rings_on_device() const { return plan.rings.spec().backend == Backend::cuda; }
};

/// The splits of a job's kernel, for maps on the same rings.
struct SplitSearches {
  std::optional<SplitSearch> spins{};    ///< of Q and U
  std::optional<SplitSearch> scalars{};  ///< of scalar fields, or of masks of Q and U
};

/// Highest degree of a job's kernel.
int lmax_of(const SmoothJob& job);

/// Predicts the search of fastest_splits(). Not collective.
Estimate predict_search(const Run& run, const SmoothJob& job);

/// Searches for the splits that are fastest on one core, or takes that of --split. --backend auto
/// compares all places of their parts where the machine file has costs of a device. Collective.
/// Error  UsageError where the job does not allow a split or none keeps --error, ResourceError
/// where maps alone do not fit.
SplitSearches fastest_splits(Run& run, const SmoothJob& job);

/// Predicted seconds of all maps of a job, with the masks'.
struct SplitPrediction {
  Estimate rings;
  Estimate harmonic;
  Estimate sending;
  Estimate total;
};
/// Collective.
SplitPrediction predict_splits(const Run& run, const SmoothJob& job, const SplitSearches& found);

/// Names the rings in messages on devices.
inline constexpr const char* rings_of_a_split = "the rings of a split kernel";

// Bytes on this rank's device: of the fields that need most, or where masks need both, of both. Not
// collective.

std::int64_t harmonic_on_device(const SmoothJob& job, const SplitSearches& found);
std::int64_t rings_on_device(const SmoothJob& job, const SplitSearches& found);

}  // namespace ringweave::detail::inline app
