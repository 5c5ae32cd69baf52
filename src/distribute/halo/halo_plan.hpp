// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribute/ring_distribution.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline distribute {

/// Returns the rings within the angle `support` (radians) of any ring of `band`, the band included;
/// empty for an empty band. Generous by 1e-12 in the angle and, near pi, in the chord, so that
/// rounding excludes no pixel that a test on the distance accepts. Symmetric: s is within r exactly
/// when r is within s. From pi on the whole sphere. Cost  O(log n_rings).
/// Error  UsageError when the support is negative or not a number.
RingRange rings_within(const RingGrid& grid, RingRange band, double support);

/// Numbers of values that are exchanged for each ring.
class RingPayload {
 public:
  static RingPayload pixels(const RingGrid& grid);  ///< n_phi
  static RingPayload modes(const RingGrid& grid);   ///< n_phi / 2 + 1, all a real ring has
  /// values[ring] >= 0; may include padding and several fields side by side.
  /// Error  UsageError naming the ring when a number is negative, or when the sum exceeds 64 bits.
  explicit RingPayload(std::span<const std::int64_t> values);

  std::int64_t n_rings() const { return static_cast<std::int64_t>(before_.size()) - 1; }
  std::int64_t values(RingRange rings) const {
    return rings.empty() ? 0
                         : before_[static_cast<std::size_t>(rings.end)] -
                               before_[static_cast<std::size_t>(rings.begin)];
  }
  std::int64_t values(RingId ring) const { return values({index(ring), index(ring) + 1}); }

 private:
  std::vector<std::int64_t> before_;  ///< [ring] values of all rings north of it
};

/// The rings of other ranks that one rank needs next to its own, and the messages that deliver
/// them, as plain data computed without MPI. Whole rings are exchanged; counts and offsets are in
/// values (RingPayload) of one component.
struct HaloPlan {
  /// Consecutive halo rings.
  struct Run {
    RingRange rings;
    std::int64_t first_ring = 0;  ///< number of its first ring among the halo rings
  };
  /// Rings that are consecutive both in the owner's memory and in the receive buffer.
  struct Message {
    int peer = 0;
    RingRange rings;
    std::int64_t first = 0;  ///< value in the sender's own rings, or in the receive buffer
    std::int64_t count = 0;  ///< values
  };

  int rank = 0;
  int n_ranks = 1;
  /// Number of values of the rank's own rings, ordered as in LocalRings, without gaps.
  std::int64_t own_size = 0;
  std::int64_t n_own_rings = 0;
  /// Number of values of the receive buffer: the halo rings from north to south, without gaps.
  std::int64_t halo_size = 0;
  std::vector<Run> runs;              ///< from north to south, at most two for each band
  std::vector<std::int64_t> offsets;  ///< [halo ring] value it begins at; [n_halo_rings()] the end
  // Grouped by peer ascending, rings ascending; a rank sends another what that one expects.
  std::vector<Message> sends;
  std::vector<Message> receives;

  std::int64_t n_halo_rings() const { return static_cast<std::int64_t>(offsets.size()) - 1; }
  bool contains(RingId ring) const { return run_of(ring) != nullptr; }
  /// Returns where a halo ring begins in the receive buffer.
  std::int64_t first(RingId ring) const {
    const Run& run = *run_of(ring);
    return offsets[static_cast<std::size_t>(run.first_ring + index(ring) - run.rings.begin)];
  }
  /// Returns the bytes of the receive buffer, equal to the bytes received.
  std::int64_t halo_bytes(std::int64_t n_components, std::int64_t bytes_per_value) const;
  std::int64_t sent_bytes(std::int64_t n_components, std::int64_t bytes_per_value) const;

 private:
  const Run* run_of(RingId ring) const {
    for (const Run& run : runs)
      if (run.rings.contains(index(ring))) return &run;
    return nullptr;
  }
};

/// Returns the halo rings of a rank, those within `support` of any ring it owns and not its own, as
/// runs from north to south. Cost  O(log n_rings).
std::vector<RingRange> halo_rings(const RingDistribution& rings, int rank, double support);

/// Returns the owners of the rings of some runs, each once, ascending.
std::vector<int> owners_of(const RingDistribution& rings, std::span<const RingRange> runs);

/// Throws UsageError unless the payload has a number for every ring of the grid.
void expect_payload_of(const RingGrid& grid, const RingPayload& payload);

/// Plans one rank; the plans of all ranks match when made from equal arguments. Any support from
/// nothing to the whole sphere, any number of ranks.
/// Cost   O(halo rings + peers log n_rings). Not collective.
/// Error  UsageError when the payload is for another number of rings; as rings_within().
HaloPlan plan_halo(const RingDistribution& rings, int rank, double support,
                   const RingPayload& payload);

}  // namespace ringweave::detail::inline distribute
