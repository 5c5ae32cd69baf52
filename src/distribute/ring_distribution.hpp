// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringweave/grid.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline distribute {

/// The rings that each rank owns: some runs of consecutive ring pairs, that is bands of northern
/// rings and their southern mirrors. Plain data, the same on every rank; any number of ranks, even
/// more than pairs (the surplus ranks own no ring).
///
/// A transform's rings are dealt section by section, where a section is a stretch of rings of one
/// kind: from the pole to the equator the rings of many lengths (the cap), then the longest run of
/// rings of one length next to the equator (the belt). The ring FFT takes about 2.6 times as long
/// for a pixel of the cap as for one of the belt, so even cuts of each section balance both memory
/// and time; even cuts of both together balance only memory. Where all rings have one length, or
/// all have different lengths, there is one section. Ranks take the bands of the first section in
/// ascending order, those of the second in descending order: so two pairs of neighbouring bands
/// merge, and with fewer pairs than ranks no rank has two bands while another has none.
class RingDistribution {
 public:
  /// A band and its owner.
  struct OwnedBand {
    RingRange rings;
    int rank = 0;
  };

  /// Distributes rings for a transform: at most two bands and their mirrors per rank. The cuts of
  /// every section balance a transform's FFT work and memory (pixels and modes), not ring counts.
  RingDistribution(std::shared_ptr<const RingGrid> grid, const ModeLimits& limits, int n_ranks);
  /// Distributes rings for sums over neighbouring rings: one section, because halos are smallest
  /// with one band and its mirror per rank. The cuts balance the caller's costs: costs[ring], in
  /// arbitrary units, not negative.
  /// Error  UsageError unless every ring has such a cost, and when their sum exceeds 2^61.
  RingDistribution(std::shared_ptr<const RingGrid> grid, std::span<const std::int64_t> costs,
                   int n_ranks);
  /// The same bands among other ranks: rank r of `few` becomes rank first_rank + r of n_ranks, and
  /// those besides own no ring.
  /// Error  UsageError when ranks that own rings are not among them.
  RingDistribution(const RingDistribution& few, int first_rank, int n_ranks);

  int n_ranks() const { return static_cast<int>(rank_begin_.size()) - 1; }
  const std::shared_ptr<const RingGrid>& grid() const { return grid_; }
  /// All bands from north to south.
  std::span<const OwnedBand> bands() const { return bands_; }
  /// The bands of a rank from north to south; not empty and not adjacent.
  std::span<const RingRange> bands(int rank) const {
    const std::size_t begin = rank_begin_[static_cast<std::size_t>(rank)];
    return std::span(of_ranks_).subspan(begin,
                                        rank_begin_[static_cast<std::size_t>(rank) + 1] - begin);
  }
  std::int64_t n_rings(int rank) const {
    std::int64_t n = 0;
    for (const RingRange& band : bands(rank)) n += band.size();
    return n;
  }
  LocalRings rings(int rank) const { return {grid_, bands(rank)}; }
  int owner(RingId ring) const { return owner_[static_cast<std::size_t>(ring)]; }

 private:
  /// section_cuts[s]: the first pair of section s; the number of pairs at the end
  void deal(std::span<const std::int64_t> costs, std::span<const std::int64_t> section_cuts,
            int n_ranks);
  void collect_bands(int n_ranks);

  std::shared_ptr<const RingGrid> grid_;
  std::vector<int> owner_;               ///< [ring]
  std::vector<OwnedBand> bands_;         ///< north to south
  std::vector<RingRange> of_ranks_;      ///< the same by rank
  std::vector<std::size_t> rank_begin_;  ///< [rank] where its bands begin in of_ranks_
};

}  // namespace ringweave::detail::inline distribute
