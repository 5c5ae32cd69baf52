// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "convolve/split/split_plan.hpp"
#include "io/file_kind.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/files.hpp"
#include "ringweave/points.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {

/// Operations of a run on a transform, as far as they need different memory.
enum class Operation {
  synthesis_consuming,  ///< a_lm freed before the map is complete
  analysis_consuming,   ///< no iterations, map freed before the a_lm are allocated
  analysis_iterating,   ///< Jacobi: map, a_lm; residual map if Analysis::needs_residual_map()
  analysis_conjugate,   ///< conjugate gradients: map, residual map, four a_lm
  smoothing_in_place,   ///< no iterations: map and a_lm
};

/// Pixel weights of an analysis; held: one number per pixel.
enum class PixelWeights { none, held };
enum class MaskSmoothing { no, yes };
enum class ModeLocation { on_host, on_device };

struct MemoryItem {
  std::string name;
  std::int64_t bytes = 0;
};

/// Buffers a run keeps in memory.
struct MemoryUse {
  Operation operation = Operation::synthesis_consuming;
  Precision precision = Precision::double_;
  PixelWeights pixel_weights = PixelWeights::none;
  MaskSmoothing mask = MaskSmoothing::no;  ///< --unseen normalize
  ModeLocation modes = ModeLocation::on_host;
  /// Other buffers that stay in memory, in bytes for each own pixel: a mask, the rms of noise.
  std::vector<MemoryItem> extra_buffers{};
};

/// Memory of this rank at its peak.
struct MemoryEstimate {
  std::vector<MemoryItem> items;
  std::int64_t buffers() const;  ///< without memory resident before
  std::int64_t total() const;
};

/// Returns the phase of a run that needs more memory; items only of the other phase stay in the
/// list with 0 bytes, so that all ranks have the same items.
std::vector<MemoryItem> larger_phase(const std::vector<MemoryItem>& one,
                                     const std::vector<MemoryItem>& other);

/// Returns the memory of the program and its libraries, once all buffers hold data.
MemoryItem program_memory();
/// Adds the program and its libraries to the buffers of a run.
MemoryEstimate with_program(std::vector<MemoryItem> items);

/// Adds other buffers that stay in memory, `per_pixel` bytes for each own pixel.
void add_per_pixel_buffers(const std::vector<MemoryItem>& per_pixel, const LocalRings& rings,
                           std::vector<MemoryItem>& items);

/// Estimates the peak memory. To be called when the transform is planned but nothing large is
/// allocated: memory resident then (program, libraries, tables) is included.
MemoryEstimate estimate_memory(const TransformPlan& plan, const MemoryUse& use);
/// Estimates the same for a transform that may run on a device.
MemoryEstimate estimate_memory(const SphericalHarmonicTransform& transform, const MemoryUse& use);

/// Convolutions on rings of the fields of a map, one after the other.
struct RingMemoryUse {
  std::int64_t n_components = 1;           ///< of the map
  MaskSmoothing mask = MaskSmoothing::no;  ///< --unseen normalize
  /// Plan of scalar fields, or of masks of Q and U; null without them.
  const RingConvolutionPlan* scalars = nullptr;
  const RingConvolutionPlan* spins = nullptr;  ///< of Q and U; null without them
};

/// Estimates them; to be called when nothing large is allocated.
MemoryEstimate estimate_memory(const RingMemoryUse& use);

/// Convolutions of the fields of a map with split kernels, one after the other.
struct SplitMemoryUse {
  std::int64_t n_components = 1;           ///< of the map
  MaskSmoothing mask = MaskSmoothing::no;  ///< --unseen normalize
  Precision precision = Precision::double_;
  /// Null without scalar fields, or masks of Q and U.
  const SplitPlan* scalars = nullptr;
  const SplitPlan* spins = nullptr;  ///< of Q and U; null without them
};

/// Estimates both parts of split kernels: the items of all ranks, 0 for those of other ranks. A
/// harmonic part on a device counts as on the host, which may have to take over.
MemoryEstimate estimate_memory(const SplitMemoryUse& use);

/// Predicts the time the system takes to provide this memory on the slowest rank. Collective.
Estimate predict_allocation(const Communicator& comm, const Machine& machine,
                            const MemoryEstimate& estimate);

/// Large files of a run.
struct FileWork {
  std::int64_t n_read = 0;
  double read_bytes = 0;  ///< per file
  std::int64_t n_written = 0;
  double written_bytes = 0;  ///< per file
};

/// Predicts files read and written one after the other by one rank, as HDF5, the calibrated format.
Estimate predict_files(const Machine& machine, const FileWork& work);

/// Throws a ResourceError on all ranks, with the numbers, when the ranks of a node together need
/// more memory than it has, or one rank more than its own limit. Collective.
void require_memory(const Communicator& comm, const MemoryEstimate& estimate);

/// Returns the bytes that the ranks of a node, or a rank, lack most; 0 or less where all fit.
/// Collective.
std::int64_t largest_shortage(const Communicator& comm, const MemoryEstimate& estimate);
/// Returns whether require_memory() would succeed. Collective.
bool fits_memory(const Communicator& comm, const MemoryEstimate& estimate);

/// Checks before anything is planned, from sizes alone: maps and a_lm of the whole job against the
/// memory of its nodes. Collective.
void require_memory_for(const Communicator& comm, const TransformSpec& spec, Precision precision);
/// Checks a_lm alone. Collective.
void require_memory_for(const Communicator& comm, const PointSpec& spec, Precision precision);
/// Checks maps alone. Collective.
void require_memory_for(const Communicator& comm, const RingGrid& grid, std::int64_t n_maps,
                        Precision precision);

/// Formats bytes as "1.5 GiB".
std::string bytes_text(double bytes);

}  // namespace ringweave::detail::inline app
