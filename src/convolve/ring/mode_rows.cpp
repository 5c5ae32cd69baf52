// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/mode_rows.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// The multipoles of a kernel neglected above its highest degree, relative to its rms, where no
/// error is allowed.
constexpr double mode_rounding = 1e-13;

/// Computes `kept` from `m_limit`.
void find_kept(ModeRows& rows) {
  const int mmax = *std::max_element(rows.m_limit.begin(), rows.m_limit.end());
  rows.kept.assign(to_size(std::int64_t{mmax} + 1), RingRange{});
  std::vector<std::int64_t> ending(rows.kept.size(), 0);  // [m] rings whose highest order it is
  int seen = -1;
  for (std::int64_t i = 0; i < rows.zone.size(); ++i) {
    const int limit = rows.m_limit[to_size(i)];
    ++ending[to_size(limit)];
    for (; seen < limit; ++seen) rows.kept[to_size(seen + 1)].begin = rows.zone.begin + i;
  }
  seen = -1;
  for (std::int64_t i = rows.zone.size() - 1; i >= 0; --i) {
    const int limit = rows.m_limit[to_size(i)];
    for (; seen < limit; ++seen) rows.kept[to_size(seen + 1)].end = rows.zone.begin + i + 1;
  }
  std::int64_t count = 0;
  for (std::int64_t m = mmax; m >= 0; --m) {
    count += ending[to_size(m)];
    if (count == rows.kept[to_size(m)].size()) continue;
    throw UsageError(
        "ring convolution: the plain mode needs rings whose lengths do not shrink towards the "
        "equator; use the exact mode");
  }
}

/// Returns a number of samples around a ring that resolves orders up to `limit`; one of few
/// different ones, because each has a table.
int samples_for(int limit) {
  constexpr double ladder = 1.04;
  double samples = 16;
  while (samples < 2.0 * limit + 2) samples = std::ceil(samples * ladder / 2) * 2;
  return static_cast<int>(samples);
}

/// Returns the highest degree of one kernel, or 0.
int highest_degree(const std::vector<double>& k_l, int spin, double error) {
  double all = 0;
  for (std::size_t l = 0; l < k_l.size(); ++l)
    all += (2.0 * static_cast<double>(l) + 1) * k_l[l] * k_l[l];
  // Multipoles below this are mode_rounding errors.
  const double noise = 5e-15 * std::abs(k_l[to_size(spin)]);
  const double allowed = std::pow(std::max(error, mode_rounding), 2) * all;
  double tail = 0;
  std::size_t degree = k_l.size() - 1;
  for (; degree > 0; --degree) {
    const double value = std::abs(k_l[degree]) > noise ? k_l[degree] : 0;
    tail += (2.0 * static_cast<double>(degree) + 1) * value * value;
    if (tail > allowed) break;
  }
  // A tail that ends with the list is not known to fall.
  return degree * 20 > k_l.size() * 19 ? 0 : static_cast<int>(std::max<std::size_t>(degree, 1));
}

}  // namespace

int highest_degree(const RingGrid& grid, const std::vector<RadialKernel>& kernels, double error) {
  const int lmax = checked_cast<int>(grid.longest_ring() + 64, "degrees of a kernel");
  int degree = 0;
  for (const RadialKernel& kernel : kernels) {
    const int own = highest_degree(kernel.multipoles(lmax), kernel.spin(), error);
    if (own == 0) return 0;
    degree = std::max(degree, own);
  }
  return degree;
}

ModeRows band_limited_rows(const RingGrid& grid, int degree, int spin) {
  ModeRows rows;
  rows.kind = ModeRows::Kind::band_limited;
  rows.zone = {0, grid.n_rings()};
  const ModeLimits limits(grid, degree, degree, spin);
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
    rows.m_limit.push_back(limits.m_limit(RingId{r}));
    rows.n_samples.push_back(samples_for(rows.m_limit.back()));
  }
  find_kept(rows);
  return rows;
}

ModeRows circulant_rows(const RingGrid& grid, RingRange rings) {
  ModeRows rows;
  rows.kind = ModeRows::Kind::circulant;
  rows.zone = rings;
  const int n = checked_cast<int>(grid.ring(RingId{rings.begin}).n_phi, "pixels of a ring");
  rows.m_limit.assign(to_size(rings.size()), n / 2);
  rows.n_samples.assign(to_size(rings.size()), n);
  find_kept(rows);
  return rows;
}

ModeRows plain_rows(const RingGrid& grid) {
  ModeRows rows;
  rows.kind = ModeRows::Kind::plain;
  rows.zone = {0, grid.n_rings()};
  const int n = checked_cast<int>(grid.longest_ring(), "pixels of a ring");
  for (const Ring& ring : grid.rings()) {
    rows.m_limit.push_back(static_cast<int>(ring.n_phi / 2));
    rows.n_samples.push_back(n + n % 2);
  }
  find_kept(rows);
  return rows;
}

std::int64_t ModeRows::n_modes() const {
  std::int64_t sum = 0;
  for (const RingRange& rings : kept) sum += rings.size();
  return sum;
}

}  // namespace ringweave::detail::inline convolve
