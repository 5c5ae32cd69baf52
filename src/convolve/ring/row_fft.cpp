// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/row_fft.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Returns true if short FFTs have butterflies for all factors of n.
bool is_smooth(std::int64_t n) {
  for (const std::int64_t prime : {2, 3, 5, 7, 11, 13}) {
    while (n % prime == 0) n /= prime;
  }
  return n == 1;
}

/// Returns the sets of a group of classes: orders up to the Nyquist in order, the rest reversed.
OrderBlock group_of_classes(const RowFft& fft, std::int64_t first_class) {
  OrderBlock block;
  block.first_class = first_class;
  block.n_by_fft = fft.points;
  const std::int64_t end = std::min(orders_together, fft.n_classes() - first_class);
  for (std::int64_t k = 0; k < fft.points; ++k) {
    const std::int64_t first = fft.stride() * k + first_class;
    if (2 * k < fft.points) {
      block.sets.push_back({first, 1, 0, end});
    } else {
      // Class 0 is its own mirror.
      const bool has_been = first_class == 0 && 2 * k > fft.points;
      block.sets.push_back({fft.samples - first, -1, has_been ? 1 : 0, end});
    }
  }
  return block;
}

}  // namespace

std::int64_t RowFft::n_groups() const {
  return (n_classes() + orders_together - 1) / orders_together;
}

double RowFft::nanoseconds(const ConvolutionRates& rates, double n_samples) const {
  const double columns = static_cast<double>(n_groups() * orders_together);
  const double all_points = static_cast<double>(points);
  return columns * (n_samples * rates.row_fold +
                    all_points * (rates.row_point + rates.row_pass * std::log2(all_points)));
}

std::vector<OrderBlock> order_blocks(const RowFft& fft, int mmax) {
  std::vector<OrderBlock> blocks;
  if (!fft.exists()) {
    for (std::int64_t m = 0; m <= mmax; m += orders_together) {
      OrderBlock& block = blocks.emplace_back();
      block.sets.push_back({m, 1, 0, std::min(orders_together, mmax + 1 - m)});
    }
    return blocks;
  }
  for (std::int64_t s = 0; s < fft.n_classes(); s += orders_together)
    blocks.push_back(group_of_classes(fft, s));
  if (fft.stride() % 2 != 0) return blocks;
  // The class halfway is its own mirror too, and would leave a vector almost empty.
  const std::int64_t n_left = (fft.points + 1) / 2;
  for (std::int64_t k = 0; k < n_left; k += orders_together) {
    blocks.back().sets.push_back({fft.stride() / 2 + fft.stride() * k, fft.stride(), 0,
                                  std::min(orders_together, n_left - k)});
  }
  return blocks;
}

RowFft fastest_row_fft(const ConvolutionRates& rates, std::span<const std::int64_t> allowed,
                       double share_of_ring, std::int64_t most_points) {
  RowFft best;
  double least = 0;
  for (const std::int64_t samples : allowed) {
    for (std::int64_t points = 2; points <= std::min(samples, most_points); ++points) {
      if (samples % points != 0 || !is_smooth(points)) continue;
      const RowFft fft{samples, points};
      const double cost = fft.nanoseconds(rates, share_of_ring * static_cast<double>(samples) + 1);
      if (best.exists() && cost >= least) continue;
      best = fft;
      least = cost;
    }
  }
  return best;
}

}  // namespace ringweave::detail::inline convolve
