// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "convolve/split/split_plan.hpp"
#include "io/file_kind.hpp"
#include "perf_models/estimate.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {

/// What a run does with a transform, as far as memory is concerned.
enum class Operation {
  synthesis_consuming,  ///< a_lm freed before the map is complete
  analysis_consuming,   ///< no iterations, map freed before the a_lm are allocated
  analysis_iterating,   ///< Jacobi: map, a_lm; residual map if Analysis::needs_residual_map()
  analysis_conjugate,   ///< conjugate gradients: map, residual map, four a_lm
  smoothing_in_place,   ///< no iterations: map and a_lm
};

/// Of an analysis: held is one number a pixel.
enum class PixelWeights { none, held };
enum class MaskSmoothing { no, yes };
enum class ModeLocation { on_host, on_device };

/// What a run keeps in memory.
struct MemoryUse {
  Operation operation = Operation::synthesis_consuming;
  Precision precision = Precision::double_;
  PixelWeights pixel_weights = PixelWeights::none;
  MaskSmoothing mask = MaskSmoothing::no;  ///< --unseen normalize
  ModeLocation modes = ModeLocation::on_host;
};

struct MemoryItem {
  std::string name;
  std::int64_t bytes = 0;
};

/// What this rank holds at its fullest moment.
struct MemoryEstimate {
  std::vector<MemoryItem> items;
  std::int64_t buffers() const;  ///< without what was resident before
  std::int64_t total() const;
};

/// Made when the transform is planned but nothing large is allocated: what is resident then
/// (program, libraries, tables) counts as it is.
MemoryEstimate estimate_memory(const TransformPlan& plan, const MemoryUse& use);
/// The same for a transform that may have its line on a device.
MemoryEstimate estimate_memory(const SphericalHarmonicTransform& transform, const MemoryUse& use);

/// What a convolution on rings is part of.
struct RingMemoryUse {
  std::int64_t n_components = 1;            ///< of the map, those that are not convolved included
  MaskSmoothing mask = MaskSmoothing::no;   ///< --unseen normalize
  const TransformPlan* harmonic = nullptr;  ///< of the others, after the convolution
  MemoryUse harmonic_use;
};

/// Made when nothing large is allocated.
MemoryEstimate estimate_memory(const RingConvolutionPlan& plan, const RingMemoryUse& use);
/// The same for both parts of a split kernel: the items of all ranks, 0 where another has them. A
/// harmonic part on a device counts as on the host, which may have to do it.
MemoryEstimate estimate_memory(const SplitPlan& plan, MaskSmoothing mask, Precision precision);

/// A transform of all fields at once or, where memory is too short for that, in the fewest groups
/// that fit, which it says. Where none fits, all at once. `backend` is the --backend that spec's
/// was chosen for: with `auto` the host takes over where the device fails. Collective.
std::unique_ptr<SphericalHarmonicTransform> plan_transform(Run& run, const TransformSpec& spec,
                                                           const MemoryUse& use,
                                                           const std::string& backend);

/// What the system is predicted to take for handing over this memory, on the slowest rank.
/// Collective.
Estimate predict_memory(const Run& run, const MemoryEstimate& estimate);

/// Writes bytes and predicted seconds into the report's plan. Collective.
void record_memory(Run& run, const MemoryEstimate& estimate);

/// ResourceError on all ranks, with the numbers, when the ranks of a node together need more than
/// it has, or one rank more than its own limit. Collective.
void require_memory(const Run& run, const MemoryEstimate& estimate);

/// Whether require_memory() would be content. Collective.
bool fits_memory(const Run& run, const MemoryEstimate& estimate);

/// The same before anything is planned, from the sizes alone: maps and a_lm of the whole job
/// against the memory of its nodes. Collective.
void require_memory_for(const Run& run, const TransformSpec& spec, Precision precision);
/// The same for maps alone. Collective.
void require_memory_for(const Run& run, const RingGrid& grid, std::int64_t n_maps,
                        Precision precision);

/// "1.5 GiB".
std::string bytes_text(double bytes);

}  // namespace ringweave
