// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "convolve/split/cap_multipoles.hpp"
#include "convolve/split/triangular_fit.hpp"
#include "ringweave/convolution.hpp"

namespace ringweave::detail::inline convolve {

/// Data shared by all splits of one kernel: weights by which the square of the error is a sum
/// over degrees.
struct SplitWeights {
  explicit SplitWeights(const KernelSplitSpec& spec);

  int lmax = 0;
  int last = 0;             ///< degree up to which aliases are told apart, 4 nside
  std::vector<double> k_l;  ///< [l] up to last, 0 above lmax and below the spin
  /// [l] up to last: root of (2l+1) C_l over sum (2l+1) C_l K_l^2, aliased C_l above lmax
  std::vector<double> weight;
  /// The same for all degrees above last, without its (2l+1): the mean C_l of the map.
  double beyond = 0;
};

/// The compact part for one support.
struct CompactFit {
  SplitCandidate candidate;
  std::vector<double> coefficient;  ///< of CapPolynomials; empty unless found
};

/// Finds the least l_cut for which the best compact part of this support keeps the bound.
/// Cost  a tenth of a second at 240 arcmin, lmax 4096.
CompactFit search_l_cut(const KernelSplitSpec& spec, const SplitWeights& weights, double theta_cut);

}  // namespace ringweave::detail::inline convolve
