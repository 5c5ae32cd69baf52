// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <memory>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "legendre/legendre_problem.hpp"
#include "legendre/shared/resampled_modes.hpp"

namespace ringweave::detail {

inline std::int64_t rows_for(double oversampling, int lmax) {
  auto n = static_cast<std::int64_t>(std::ceil(oversampling * (lmax + 1)) + 3) / 4 * 4;
  while (!has_theta_fft(n)) n += 4;
  return n;
}

/// Rows for an interpolation with a Kaiser-Bessel kernel of so many taps in either direction.
inline DeconvolvedRows kaiser_bessel_rows(double oversampling, int taps, int lmax, int mmax) {
  DeconvolvedRows rows;
  rows.n_rows = rows_for(oversampling, lmax);
  const double beta = 0.97 * std::numbers::pi * taps * (1 - 0.5 / oversampling);
  const auto factor = [&](double frequency) {
    const double turns = std::numbers::pi * taps * frequency;
    const double root = std::sqrt(beta * beta - turns * turns);
    return beta * root / (std::exp(root) - std::exp(-root));
  };
  for (int k = 0; k <= lmax; ++k)
    rows.theta_factors.push_back(factor(k / (2.0 * static_cast<double>(rows.n_rows))));
  for (int m = 0; m <= mmax; ++m)
    rows.order_factors.push_back(factor(m / (2 * oversampling * (mmax + 1))));
  return rows;
}

inline DeconvolvedRows plain_rows(std::int64_t n_rows, int lmax, int mmax) {
  return {n_rows, std::vector<double>(to_size(std::int64_t{lmax} + 1), 1.0),
          std::vector<double>(to_size(std::int64_t{mmax} + 1), 1.0)};
}

/// Some rows of the north, some of the south, with gaps.
inline RingGrid some_rows(std::int64_t n_rows) {
  const RingGrid all = RingGrid::fejer(n_rows);
  std::vector<RingId> kept;
  for (std::int64_t row = n_rows / 9; row < n_rows; ++row) {
    if (row < n_rows / 3 || (row > n_rows / 2 && row % 5 != 0)) kept.push_back(RingId{row});
  }
  return all.subset(kept);
}

inline ModeLimits limits_for(const RingGrid& grid, const DeconvolvedRows& rows,
                             const std::vector<int>& spins) {
  return ModeLimits::of_fine_rows(
      grid, rows.n_rows, static_cast<int>(rows.theta_factors.size()) - 1,
      static_cast<int>(rows.order_factors.size()) - 1, FieldSet(spins).max_spin());
}

/// A Legendre stage that ends at fine rows, and its shape.
struct FineRowProblem : LegendreProblem {
  FineRowProblem(const RingGrid& of, const DeconvolvedRows& fine, const std::vector<int>& spins)
      : LegendreProblem(of, limits_for(of, fine, spins), spins,
                        std::make_shared<const DeconvolvedRows>(fine)),
        shape{grid, limits_for(of, fine, spins), {}, alm_layout, rows, fields} {
    shape.fine_rows = std::make_shared<const DeconvolvedRows>(fine);
  }
  /// Makes the problem on all rows.
  FineRowProblem(const DeconvolvedRows& fine, const std::vector<int>& spins)
      : FineRowProblem(RingGrid::fejer(fine.n_rows), fine, spins) {}

  LegendreShape shape;
};

inline const std::vector<std::vector<int>> spin_batches{{0}, {1},    {2},
                                                        {3}, {0, 2}, {3, 0, 1, 0, 2}};

inline long double inner_product(const std::vector<Complex>& a, const std::vector<Complex>& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<long double>(a[i].real()) * b[i].real() +
           static_cast<long double>(a[i].imag()) * b[i].imag();
  }
  return sum;
}

/// Returns how far the adjoint of a stage with the problem's shape is from the transpose.
template <class Stage>
double adjoint_gap(const LegendreProblem& problem, Stage& stage) {
  const auto alm = random_values(problem.alm_size(), 5);
  const auto values = random_values(problem.modes_size(), 6);
  const auto modes = stage.synthesize(alm);
  const long double gap = inner_product(modes, values) - inner_product(alm, stage.adjoint(values));
  const long double scale = std::sqrt(inner_product(modes, modes) * inner_product(values, values) /
                                      static_cast<long double>(modes.size()));
  return static_cast<double>(std::abs(gap) / scale);
}

}  // namespace ringweave::detail
