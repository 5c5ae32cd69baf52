// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "sphere/local_rings.hpp"

namespace ringweave {

/// Quadrature weight of every owned ring: the grid's own weight, times `northern` (2 nside HEALPix
/// ring weights w, not w - 1, one for each northern ring and the equator, used for the mirror too)
/// unless empty. Error  UsageError when the grid has no weights (user rings without), or the length
/// is wrong.
std::vector<double> ring_weights(const LocalRings& rings, std::span<const double> northern = {});

/// HEALPix full-pixel weights for the owned pixels, w (not w - 1), from the compressed table of w -
/// 1
/// ((nside + 1)(3 nside + 1) / 4 numbers: one octant's pixels up to the equator; the rest by
/// symmetry). Error  UsageError when the grid is not HEALPix or the length is wrong.
std::vector<double> expand_pixel_weights(const LocalRings& rings,
                                         std::span<const double> compressed);

}  // namespace ringweave
