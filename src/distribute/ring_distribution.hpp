// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sphere/local_rings.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave {

/// Which rank owns which rings: some runs of consecutive ring pairs, that is bands of northern
/// rings and their southern mirrors. Plain data, the same on every rank; any number of ranks, also
/// more than there are pairs (the surplus ranks own no ring).
///
/// A transform's rings are dealt section by section, where a section is a stretch of rings of one
/// kind: from the pole to the equator the rings of many lengths (the cap), then the longest run
/// of rings of one length next to the equator (the belt). A pixel of the cap takes the ring FFT
/// about 2.6 times as long as one of the belt, so even cuts of one section balance memory and
/// time alike, even cuts of both together only memory. Where all rings have one length, or all have
/// lengths of their own, there is one section. Ranks take the bands of the first section in
/// ascending order, those of the second in descending order: so two pairs of neighbouring bands
/// are one, and with fewer pairs than ranks nobody has two bands while another has none.
class RingDistribution {
 public:
  /// A band and whose it is.
  struct OwnedBand {
    RingRange rings;
    int rank = 0;
  };

  /// For a transform: at most two bands and their mirrors to a rank. The cuts of every section
  /// balance a transform's FFT work and memory (pixels and modes), not ring counts.
  RingDistribution(std::shared_ptr<const RingGrid> grid, const ModeLimits& limits, int n_ranks);
  /// For sums over neighbouring rings, whose halos want one band and its mirror to a rank, so there
  /// is one section. The cuts balance a cost of the caller's: costs[ring], of arbitrary unit, not
  /// negative.
  /// Error  UsageError unless every ring has such a cost, and when their sum passes 2^61.
  RingDistribution(std::shared_ptr<const RingGrid> grid, std::span<const std::int64_t> costs,
                   int n_ranks);
  /// The same bands among more ranks: rank r of `few` is rank first_rank + r of n_ranks, and the
  /// others own no ring.
  /// Error  UsageError when they are not that many.
  RingDistribution(const RingDistribution& few, int first_rank, int n_ranks);

  int n_ranks() const { return static_cast<int>(rank_begin_.size()) - 1; }
  const std::shared_ptr<const RingGrid>& grid() const { return grid_; }
  /// All bands from north to south.
  std::span<const OwnedBand> bands() const { return bands_; }
  /// The bands of a rank from north to south; none is empty and no two touch.
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

}  // namespace ringweave
