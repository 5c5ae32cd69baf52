// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/mode_limits.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline sphere {
namespace {

/// Returns the highest order that a field of any spin up to max_spin keeps.
int highest_order(double cos_theta, double sin_theta, int lmax, int mmax, int max_spin) {
  const double turning = lmax * sin_theta;
  const double t = turning + 8 + 11 * std::cbrt(turning * cos_theta * cos_theta);
  // Beyond this spin the limit falls again.
  const double s = std::min<double>(max_spin, t * std::abs(cos_theta) / sin_theta);
  // The larger root of m^2 - 2 m s |z| + s^2 = t^2, written with sin^2 = 1 - z^2.
  const double under_root = t * t - s * s * sin_theta * sin_theta;
  const double m = s * std::abs(cos_theta) + std::sqrt(std::max(0.0, under_root));
  return static_cast<int>(std::min<double>(mmax, std::max<double>(m, max_spin) + 0.5));
}

/// Returns the highest order kept on every ring if it were nearer to the equator by an angle.
std::vector<int> highest_orders(const RingGrid& grid, double towards_equator, int lmax, int mmax,
                                int spin) {
  std::vector<int> limits;
  limits.reserve(to_size(grid.n_rings()));
  for (const Ring& ring : grid.rings()) {
    double z = std::abs(ring.cos_theta);
    double sine = ring.sin_theta;
    if (towards_equator > 0) {
      const double latitude = std::max(0.0, std::atan2(z, sine) - towards_equator);
      z = std::sin(latitude);
      sine = std::cos(latitude);
    }
    limits.push_back(highest_order(z, sine, lmax, mmax, spin));
  }
  return limits;
}

}  // namespace

ModeLimits::ModeLimits(const RingGrid& grid, int lmax, int mmax, int max_spin)
    : ModeLimits(highest_orders(grid, 0, lmax, mmax, max_spin), lmax, mmax) {}

ModeLimits ModeLimits::of_fine_rows(const RingGrid& grid, std::int64_t n_rows, int lmax, int mmax,
                                    int max_spin) {
  const double four_rows = 4 * std::numbers::pi / static_cast<double>(n_rows);
  return {highest_orders(grid, four_rows, lmax, mmax, max_spin), lmax, mmax};
}

ModeLimits::ModeLimits(std::vector<int> m_limit, int lmax, int mmax)
    : lmax_(lmax),
      mmax_(mmax),
      m_limit_(std::move(m_limit)),
      kept_(to_size(std::int64_t{mmax} + 1)) {
  const std::int64_t n = n_rings();
  // Make the limits unimodal, so that the rings that keep an order are consecutive.
  const auto summit = std::max_element(m_limit_.begin(), m_limit_.end());
  for (auto it = m_limit_.begin(); it < summit; ++it) *(it + 1) = std::max(*it, *(it + 1));
  for (auto it = m_limit_.end() - 1; it > summit; --it) *(it - 1) = std::max(*it, *(it - 1));

  const int top = *summit;
  std::int64_t begin = 0;
  std::int64_t end = n;
  for (int m = 0; m <= mmax; ++m) {
    if (m > top) {
      kept_[to_size(m)] = {};
      continue;
    }
    while (m_limit_[to_size(begin)] < m) ++begin;
    while (m_limit_[to_size(end - 1)] < m) --end;
    kept_[to_size(m)] = {begin, end};
  }
}

FoldRule FoldRule::for_grid(const RingGrid& grid, int mmax) {
  FoldRule best;
  for (std::int64_t begin = 0; begin < grid.n_rings();) {
    const std::int64_t n_phi = grid.ring(RingId{begin}).n_phi;
    std::int64_t end = begin + 1;
    while (end < grid.n_rings() && grid.ring(RingId{end}).n_phi == n_phi) ++end;
    if (end - begin > best.rings.size()) best = {n_phi, {begin, end}};
    begin = end;
  }
  if (mmax <= best.period / 2) return {};
  return best;
}

FoldRule::Alias FoldRule::alias(int m) const {
  const std::int64_t turns = m / period;
  const std::int64_t rest = m % period;
  if (2 * rest <= period) return {static_cast<int>(rest), turns, false};
  return {static_cast<int>(period - rest), turns + 1, true};
}

}  // namespace ringweave::detail::inline sphere
