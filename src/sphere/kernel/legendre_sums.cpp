// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/legendre_sums.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline sphere {
namespace {

constexpr std::size_t width = 32;
using Lanes = std::array<double, width>;
/// Degrees per partial sum: the rounding error of a single long sum would grow like the root of its
/// length.
constexpr std::size_t part_degrees = 128;

/// P_l at several points, advanced degree by degree.
class LegendreLanes {
 public:
  /// Points beyond the end of chord_squared repeat z = 1.
  LegendreLanes(std::span<const double> chord_squared, std::size_t first) {
    const std::size_t n = std::min(width, chord_squared.size() - first);
    for (std::size_t i = 0; i < n; ++i) one_minus_z_[i] = chord_squared[first + i] / 2;
    p_.fill(1);
  }

  const Lanes& p() const { return p_; }

  /// (l + 1) (P_{l+1} - P_l) = l (P_l - P_{l-1}) - (2 l + 1) (1 - z) P_l
  void advance(double l) {
    const double inverse = 1 / (l + 1);
    const double a = l * inverse;
    const double b = (2 * l + 1) * inverse;
    for (std::size_t i = 0; i < width; ++i) {
      difference_[i] = a * difference_[i] - b * (one_minus_z_[i] * p_[i]);
      p_[i] += difference_[i];
    }
  }

 private:
  alignas(64) Lanes one_minus_z_{};
  alignas(64) Lanes p_{};
  alignas(64) Lanes difference_{};
};

void add_multiple(double factor, const Lanes& p, Lanes& sum) {
  for (std::size_t i = 0; i < width; ++i) sum[i] += factor * p[i];
}

/// Adds pairwise, to shorten the dependency chain.
double dot(const Lanes& a, const Lanes& b) {
  Lanes sum;
  for (std::size_t i = 0; i < width; ++i) sum[i] = a[i] * b[i];
  for (std::size_t half = width / 2; half > 0; half /= 2) {
    for (std::size_t i = 0; i < half; ++i) sum[i] += sum[half + i];
  }
  return sum[0];
}

std::int64_t n_blocks(std::size_t n_points) {
  return static_cast<std::int64_t>((n_points + width - 1) / width);
}

}  // namespace

LegendreSeriesValues sum_legendre_series(std::span<const double> coefficient,
                                         std::span<const double> chord_squared) {
  const std::size_t n = chord_squared.size();
  LegendreSeriesValues values{std::vector<double>(n), std::vector<double>(n)};
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t block = 0; block < n_blocks(n); ++block) {
    const std::size_t first = to_size(block) * width;
    LegendreLanes legendre(chord_squared, first);
    alignas(64) std::array<Lanes, 2> sum{};  // even and odd degrees
    for (std::size_t begin = 0; begin < coefficient.size(); begin += part_degrees) {
      const std::size_t end = std::min(begin + part_degrees, coefficient.size());
      alignas(64) std::array<Lanes, 2> part{};
      for (std::size_t l = begin; l < end; ++l) {
        add_multiple(coefficient[l], legendre.p(), part[l % 2]);
        legendre.advance(static_cast<double>(l));
      }
      for (std::size_t parity = 0; parity < 2; ++parity) add_multiple(1, part[parity], sum[parity]);
    }
    for (std::size_t i = 0; i < std::min(width, n - first); ++i) {
      values.near[first + i] = sum[0][i] + sum[1][i];
      values.far[first + i] = sum[0][i] - sum[1][i];
    }
  }
  return values;
}

std::vector<double> project_on_legendre(std::span<const double> chord_squared,
                                        std::span<const double> value, int lmax) {
  // The number of partial sums is fixed, so that the result does not depend on the thread count.
  constexpr std::int64_t n_parts = 16;
  const std::size_t n = chord_squared.size();
  const std::size_t n_degrees = to_size(std::int64_t{lmax} + 1);
  std::vector<double> parts(n_degrees * n_parts, 0.0);
#pragma omp parallel for schedule(static)
  for (std::int64_t part = 0; part < n_parts; ++part) {
    double* sums = parts.data() + to_size(part) * n_degrees;
    for (std::int64_t block = part; block < n_blocks(n); block += n_parts) {
      const std::size_t first = to_size(block) * width;
      LegendreLanes legendre(chord_squared, first);
      alignas(64) Lanes factor{};
      for (std::size_t i = 0; i < std::min(width, n - first); ++i) factor[i] = value[first + i];
      for (std::size_t l = 0; l < n_degrees; ++l) {
        sums[l] += dot(factor, legendre.p());
        legendre.advance(static_cast<double>(l));
      }
    }
  }
  std::vector<double> result(n_degrees, 0.0);
  for (std::int64_t part = 0; part < n_parts; ++part) {
    for (std::size_t l = 0; l < n_degrees; ++l) result[l] += parts[to_size(part) * n_degrees + l];
  }
  return result;
}

}  // namespace ringweave::detail::inline sphere
