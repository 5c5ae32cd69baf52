// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/ring_tables.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline legendre {
namespace {

// Rounding errors of two-degree steps grow like lmax / z towards the equator.
constexpr double equatorial_z_per_degree = 0.01 / 8192;
// Below this degree they are accurate enough on every ring.
constexpr int least_lmax_for_equator = 1000;

/// Returns log2(sin theta). A power m of sin(theta) multiplies its relative error by m; near the
/// equator the sine is therefore computed from z, which has the digits there.
long double log2_of_sine(double z, double sine) {
  // Smaller than the log of any term that could count, but finite, so that its product with order 0
  // is 0.
  constexpr long double log2_at_the_pole = -30000;
  if (sine <= 0) return log2_at_the_pole;
  if (sine * sine < 0.5) return std::log2(static_cast<long double>(sine));
  const long double cosine = z;
  return 0.5L * std::log1p(-cosine * cosine) / std::log(2.0L);
}

}  // namespace

// Padded to whole cache lines, so that consecutive arrays over pairs stay aligned.
PairTables::PairTables(const RingGrid& grid)
    : count_(grid.n_pairs()), padded_((grid.n_pairs() + sweep::padding() + 7) / 8 * 8) {
  for (HostBuffer<double>* table :
       {&log2_sin_high_, &log2_sin_low_, &z_, &z_squared_, &minus_sin_squared_, &z_minus_one_,
        &one_minus_z_, &one_plus_z_}) {
    table->allocate(padded_);
  }
  for (std::int64_t i = 0; i < padded_; ++i) {
    const RingPair& pair = grid.pairs()[to_size(std::min(i, count_ - 1))];
    const double z = pair.cos_theta;
    const double sine = pair.sin_theta;
    const long double log2_sine = log2_of_sine(z, sine);
    // 16 fractional bits and at most 20 integer bits: the product with any order below 2^17 is
    // exact.
    const double high = static_cast<double>(std::nearbyint(log2_sine * 65536)) / 65536;
    log2_sin_high_[i] = high;
    log2_sin_low_[i] = static_cast<double>(log2_sine - static_cast<long double>(high));
    const bool polar = sine * sine < 0.5;
    if (polar && i < count_) n_polar_ = i + 1;
    z_[i] = z;
    z_squared_[i] = z * z;
    minus_sin_squared_[i] = -sine * sine;
    one_minus_z_[i] = polar ? sine * sine / (1 + z) : 1 - z;
    z_minus_one_[i] = -one_minus_z_[i];
    one_plus_z_[i] = 1 + z;
  }
}

std::int64_t PairTables::first_equatorial(int lmax) const {
  if (lmax < least_lmax_for_equator) return count_;
  const double* end = z_.data() + count_;
  const std::int64_t first =
      std::lower_bound(z_.data(), end, equatorial_z_per_degree * lmax, std::greater<>()) -
      z_.data();
  return first == count_ ? count_ : first / sweep::lanes() * sweep::lanes();
}

sweep::Pairs PairTables::by_two() const {
  return {.log2_sin_high = log2_sin_high_.data(),
          .log2_sin_low = log2_sin_low_.data(),
          .x_equator = z_squared_.data(),
          .x_pole = minus_sin_squared_.data(),
          .seed_factor = {nullptr, nullptr},
          .count = count_,
          .n_polar = n_polar_};
}

sweep::Pairs PairTables::by_one_from(std::int64_t first) const {
  return {.log2_sin_high = log2_sin_high_.data() + first,
          .log2_sin_low = log2_sin_low_.data() + first,
          .x_equator = z_.data() + first,
          .x_pole = z_minus_one_.data() + first,
          .seed_factor = {one_minus_z_.data() + first, one_plus_z_.data() + first},
          .count = count_ - first,
          .n_polar = n_polar_ - first};
}

std::int64_t PairTables::bytes() const {
  return held_bytes(log2_sin_high_, log2_sin_low_, z_, z_squared_, minus_sin_squared_, z_minus_one_,
                    one_minus_z_, one_plus_z_);
}

PairIndex::PairIndex(const RingGrid& grid)
    : pair_(grid.n_rings()), south_(grid.n_rings()), run_end_(grid.n_rings()) {
  for (std::int64_t i = 0; i < grid.n_pairs(); ++i) {
    const RingPair& pair = grid.pairs()[to_size(i)];
    for (const auto& [ring, south] : {std::pair{pair.north, false}, std::pair{pair.south, true}}) {
      if (ring == RingPair::none) continue;
      pair_[ring] = i;
      south_[ring] = south;
    }
  }
  for (std::int64_t r = grid.n_rings() - 1; r >= 0; --r) {
    const bool goes_on = r + 1 < grid.n_rings() && south_[r + 1] == south_[r] &&
                         pair_[r + 1] == pair_[r] + (south_[r] ? -1 : 1);
    run_end_[r] = goes_on ? run_end_[r + 1] : r + 1;
  }
}

std::int64_t PairIndex::first_pair(RingRange rings) const {
  // Pairs descend in z on both sides of the equator, so the ends of a run of rings are nearest to
  // the poles.
  return std::min(pair_[rings.begin], pair_[rings.end - 1]);
}

std::int64_t PairIndex::bytes() const { return held_bytes(pair_, south_, run_end_); }

FoldPhases::FoldPhases(const RingGrid& grid, const FoldRule& fold, int mmax) : rings_(fold.rings) {
  if (!fold.active()) return;
  const std::int64_t n_turns = mmax / fold.period + 1;
  phases_.allocate(n_turns * rings_.size());
  for (std::int64_t k = 1; k <= n_turns; ++k) {
    for (std::int64_t ring = rings_.begin; ring < rings_.end; ++ring) {
      const long double angle = static_cast<long double>(k) *
                                static_cast<long double>(fold.period) *
                                static_cast<long double>(grid.ring(RingId{ring}).phi0);
      phases_[(k - 1) * rings_.size() + ring - rings_.begin] = {
          static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
    }
  }
}

std::int64_t FoldPhases::bytes() const { return held_bytes(phases_); }

}  // namespace ringweave::detail::inline legendre
