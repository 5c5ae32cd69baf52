// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "convolve/split/split_costs.hpp"
#include "convolve/split/split_placement.hpp"
#include "ringweave/kernel.hpp"

namespace ringweave::detail::inline convolve {

struct CompactFit;
struct SplitWeights;

/// Specification of a split: the kernel, the maps and the allowed error.
struct KernelSplitSpec {
  std::vector<double> k_l;  ///< l = 0..lmax, not all 0
  /// C_l of the maps, l = 0..lmax or more; empty: white up to lmax, no power above. What is given
  /// above lmax (up to 4 nside) is power that the harmonic method would drop: pixels of independent
  /// noise have C_l to 4 nside.
  std::vector<double> cl{};
  std::int64_t nside = 0;  ///< of the HEALPix maps; lmax at most 3 nside - 1
  /// Bound on SplitError::total.
  double error = 1e-5;
  /// Times what the fit leaves, as in Eq. 6 of the paper, where 5 stands for all that a convolution
  /// adds. Ours adds little: 2 is what the largest measured error takes, of a CMB map whose lowest
  /// degrees happened to be weak (docs/kernel_splitting.md).
  double alpha = measured_alpha;
  static constexpr double measured_alpha = 2;
  static constexpr double papers_alpha = 5;
  /// Rounding of the ring convolution, relative to its result: single precision.
  double convolver_error = 1e-7;
  /// Radians, ascending; empty: every 36 / lmax (30 arcmin at lmax 4096) up to twenty times that,
  /// and an eighth, a quarter, a half and three quarters of it.
  std::vector<double> theta_cuts{};
  /// Empty functions: predicted_split_costs() on this machine.
  SplitCosts costs{};
  SplitMachine machine{};
  /// Ranks of the machine that do the harmonic part beside the others, fewer than all of them; 0:
  /// all do both parts; none: whichever is predicted to be fastest.
  std::optional<int> n_harmonic{};
};

/// Predicted rms of the error over the rms of the convolved map, and what it is made of.
struct SplitError {
  double fit = 0;       ///< Eq. 2 over the denominator of Eq. 6: what is missed in degrees <= lmax
  double aliased = 0;   ///< degrees above lmax of the compact part, met by what pixels alias there
  double rounding = 0;  ///< of the ring convolution: what both parts have but their sum has not
  double total = 0;     ///< root of (alpha fit)^2 + aliased^2 + rounding^2
};

/// One support of the search.
struct SplitCandidate {
  double theta_cut = 0;  ///< radians
  /// The least within the bound; -1: the compact part is enough. Meaningless unless found.
  int l_cut = 0;
  bool is_found = false;
  double error = 0;  ///< SplitError::total as the fit has it; unless found, at l_cut = lmax - 1
  SplitPlacement placement{};
  // Predicted.
  Estimate harmonic{};
  Estimate rings{};
  Estimate sending{};  ///< between the ranks of both parts
  Estimate total{};    ///< as place_split() has it
};

/// K_l split into a part with degrees l <= l_cut, to be applied to a_lm, and a compact one with
/// theta <= theta_cut, for rings: K_l = harmonic_l + (Legendre transform of compact)_l. Of all
/// supports and placements the one with the least predicted time within the error bound. Not
/// collective, OpenMP over supports; the same for any number of threads.
///
/// The harmonic part takes up whatever the compact part has in degrees <= l_cut, so only degrees
/// above are fitted: K(theta) as a sum of CapPolynomials, least squares with the weights
/// (2l+1) C_l. What a kernel could hide from those weights, it pays for: power below l_cut
/// that both parts cancel (times convolver_error), and power above lmax (times what the grid
/// aliases).
/// From  Sutter, Wandelt & Elsner (2012), arXiv:1211.3556 (scytale), Sect. 2, with the C_l that Eq.
/// 6 lacks
class KernelSplit {
 public:
  /// Error  UsageError when the specification contradicts itself.
  explicit KernelSplit(const KernelSplitSpec& spec);

  enum class Verdict {
    split,     ///< is predicted to be fastest
    rings,     ///< the compact part is the whole kernel and fastest
    harmonic,  ///< no split keeps the bound, or none is faster than the a_lm of all degrees
  };
  Verdict verdict() const { return verdict_; }
  /// Why, for people.
  const std::string& reason() const { return reason_; }

  /// Whether a split keeps the bound; what follows is about the fastest one and throws UsageError
  /// where there is none.
  bool has_parts() const { return compact_.has_value(); }
  const SplitCandidate& best() const;
  /// K_l, l = 0..l_cut; empty where l_cut = -1.
  const std::vector<double>& harmonic() const;
  const RadialKernel& compact() const;
  /// Error of the actual parts, with K(theta) as tabulated.
  const SplitError& error() const;

  /// Candidates of all supports, ascending.
  const std::vector<SplitCandidate>& scan() const { return scan_; }
  /// Predicted for the a_lm of all degrees.
  const Estimate& harmonic_only() const { return harmonic_only_; }

 private:
  void require_parts() const;
  /// Makes the parts of a fit, again with a smaller bound where they miss it.
  void take(const KernelSplitSpec& spec, const SplitWeights& weights, CompactFit fit);

  Verdict verdict_ = Verdict::harmonic;
  std::string reason_;
  std::vector<SplitCandidate> scan_;
  std::optional<SplitCandidate> best_;
  std::optional<RadialKernel> compact_;
  std::vector<double> harmonic_;
  SplitError error_;
  Estimate harmonic_only_;
};

}  // namespace ringweave::detail::inline convolve
