// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "distribute/halo/halo_plan.hpp"

namespace ringweave::detail::inline app {

/// Work and halos per rank of a convolution with a kernel of some support, from halo plans alone.
/// "Largest": on the rank that has most.
struct HaloScaling {
  int n_ranks = 1;
  double support = 0;               ///< radians
  double narrowest_band = 0;        ///< radians of colatitude; a rank has one or two bands
  int largest_peers = 0;            ///< ranks that send to one rank
  std::int64_t largest_values = 0;  ///< halo values of one component
  double mean_values = 0;
  double largest_share = 0;  ///< halo rings of a rank divided by its halo and own rings
  double mean_share = 0;
  /// Products of a value of an output ring with one of an input ring within its support: the
  /// operations of a convolution per order, or per pixel and tap.
  double largest_products = 0;
  double mean_products = 0;

  /// Returns whether all bands are at least twice as wide as the support, so that no halo is larger
  /// than its band.
  bool within_band_limit() const { return narrowest_band >= 2 * support; }
  /// Returns the best possible speedup divided by the number of ranks, limited by the balance of
  /// bands.
  double balance() const { return largest_products > 0 ? mean_products / largest_products : 1; }
};

/// Returns the products per ring [ring], as above, by which a convolution balances its bands. Error
/// UsageError when a number exceeds 64 bits; as rings_within() and plan_halo().
std::vector<std::int64_t> ring_products(const RingGrid& grid, double support,
                                        const RingPayload& payload);

/// Evaluates a distribution of rings.
/// Cost   O(n_rings log n_rings + n_ranks (log n_rings + peers)). Not collective. Errors as
///        plan_halo().
HaloScaling halo_scaling(const RingDistribution& rings, double support, const RingPayload& payload);

/// Returns the distribution of the rings over a number of ranks.
using DistributeRings = std::function<RingDistribution(int n_ranks)>;

/// Returns the largest number of ranks whose bands are all at least twice as wide as the support;
/// at least 1, at most `most_ranks` and the pairs of rings. From  Sutter et al. (2012),
/// arXiv:1211.3556, section 4, who expect nearly ideal scaling up to there (their example has bands
/// as wide as the support).
int ranks_at_band_limit(const DistributeRings& distribute, double support, int most_ranks = 16384);

/// Evaluates 1, 2, 4, ... ranks below the limit, the limit itself, and up to `beyond` doublings of
/// it that leave every rank a ring.
std::vector<HaloScaling> halo_scaling_to_limit(const DistributeRings& distribute, double support,
                                               const RingPayload& payload, int beyond = 2);

/// Formats the rows as a table below two lines of headings; megabytes are of all components.
std::string halo_scaling_table(std::span<const HaloScaling> rows, std::int64_t n_components,
                               std::int64_t bytes_per_value);

}  // namespace ringweave::detail::inline app
