// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/split/split_placement.hpp"
#include "distribute/halo/ring_transfer.hpp"
#include "ringweave/convolution.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline convolve {

/// The work of every rank in a split convolution, as plain data made without MPI. Placed as the
/// split is: side by side the maps lie on the ranks that convolve, the last ranks own no ring of
/// them.
struct SplitPlan {
  /// Plans the work of one rank. Error  UsageError when the split has no parts, is for another
  /// grid, or is placed on more ranks than there are.
  SplitPlan(const KernelSplit& split, const SplitMaps& maps, int rank, int n_ranks);

  int rank;
  int n_ranks;
  SplitPlacement placement;
  /// Plan of this rank in the group that convolves; elsewhere that of the group's first rank.
  RingConvolutionPlan rings;
  /// Likewise of the harmonic part; none where the compact part is the whole kernel.
  std::optional<TransformPlan> harmonic;
  RingDistribution bands;           ///< of the maps, over all ranks
  RingDistribution harmonic_bands;  ///< of the harmonic part, over all ranks
  LocalRings own;                   ///< rings of the maps this rank has
  bool at_once;                     ///< both parts on each rank, see SplitBackends::concurrent

  /// Returns whether a thread of its own does the rings, and not the harmonic part, at once.
  bool has_rings_aside() const { return at_once && rings.spec().backend == Backend::cuda; }
  bool does_rings() const { return placement.does_rings(rank, n_ranks); }
  bool does_harmonic() const { return harmonic && placement.does_harmonic(rank, n_ranks); }
  /// Bytes of the buffer in which ranks that convolve receive the harmonic part.
  std::int64_t buffer_bytes() const;
  static constexpr RingTransferOptions there{Arrival::overwrite};
  static constexpr RingTransferOptions back{Arrival::add};
};

}  // namespace ringweave::detail::inline convolve
