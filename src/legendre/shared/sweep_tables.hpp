// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline legendre::sweep {

/// Degrees are summed in steps. Every function of theta obeys p_{k+1} = (a_k x + g_k) p_k +
/// p_{k-1}. Steps are grouped into chunks; coefficients and columns are padded with zeros to whole
/// chunks.
inline constexpr std::int64_t chunk = 4;

/// Doubles per step in the coefficients: a, then g of each function for the distance from the
/// equator (x_equator), then g for the distance from the pole (x_pole). One-degree steps always
/// describe two functions, lambda_{+s} and lambda_{-s}.
inline constexpr std::int64_t stride_by_two = 3;
inline constexpr std::int64_t stride_by_one = 5;

/// Groups of at most this many vectors of pairs go through the phases of the recurrence together,
/// so that independent chains hide the latency.
inline constexpr int max_group_vectors = 4;

/// Returns the pairs of a vector of the instruction set chosen at run time.
std::int64_t lanes();
/// Returns the entries that arrays over pairs have beyond the last pair.
inline std::int64_t padding() { return (max_group_vectors + 1) * lanes(); }

/// Ring pairs of a grid from the poles to the equator. Every array has padding() valid entries
/// beyond the last pair.
struct Pairs {
  const double* log2_sin_high;   ///< log2(sin theta) to 36 bits: its product with an order is exact
  const double* log2_sin_low;    ///< the remainder
  const double* x_equator;       ///< z^2 (scalar), z (spin)
  const double* x_pole;          ///< -sin^2 (two-degree steps), z - 1 (one-degree steps)
  const double* seed_factor[2];  ///< for each spin function: 1 - z, 1 + z
  std::int64_t count;            ///< one more than the last pair to process
  std::int64_t n_polar;          ///< the first pairs, for which x_pole is more precise
};

/// First values of one order: p_0 = prefactor * sin(theta)^sin_power * seed_factor^factor_power for
/// each function.
struct Seed {
  double prefactor[2];
  int sin_power;
  int factor_power;
};

/// A run of rings: its ring i is the northern half of pair first_pair + i, or the southern half of
/// pair first_pair - i.
struct RingRun {
  std::int64_t first_pair;
  std::int64_t count;
  bool south;
};

}  // namespace ringweave::detail::inline legendre::sweep
