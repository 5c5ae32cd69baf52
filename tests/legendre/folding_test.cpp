// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>

#include "base/checked_cast.hpp"
#include "legendre/legendre_problem.hpp"
#include "ringweave/execution.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

/// Returns pixel j of one component: Re Delta_0 + 2 Re sum_{m >= 1} Delta_m e^{i m phi_j}, over the
/// modes of a layout.
std::vector<Complex> pixels(const LegendreProblem& problem, const std::vector<Complex>& modes,
                            std::int64_t component) {
  std::vector<Complex> values(to_size(problem.grid->n_pixels()));
  problem.for_each_mode([&](std::int64_t row, std::int64_t r, std::int64_t mode) {
    const Ring& ring = problem.grid->ring(RingId{r});
    const int m = problem.alm_layout.order(row);
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      const long double phi =
          ring.phi0 + 2 * std::acos(-1.0L) * static_cast<long double>(j) / ring.n_phi;
      const std::complex<long double> turn = std::polar(1.0L, m * phi);
      const auto term = std::complex<long double>(modes[to_size(mode + component)]) * turn;
      values[to_size(ring.first_pixel + j)] += static_cast<double>((m == 0 ? 1 : 2) * term.real());
    }
  });
  return values;
}

/// Computes the modes of the analysis, G_m = sum_j f_j e^{-i m phi_j}, of a layout.
std::vector<Complex> analysis_modes(const LegendreProblem& problem,
                                    const std::vector<Complex>& map) {
  std::vector<Complex> modes(to_size(problem.modes_size()));
  const std::int64_t n_components = problem.fields.n_components();
  problem.for_each_mode([&](std::int64_t row, std::int64_t r, std::int64_t mode) {
    const Ring& ring = problem.grid->ring(RingId{r});
    const int m = problem.alm_layout.order(row);
    for (std::int64_t c = 0; c < n_components; ++c) {
      std::complex<long double> sum = 0;
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        const long double phi =
            ring.phi0 + 2 * std::acos(-1.0L) * static_cast<long double>(j) / ring.n_phi;
        sum += static_cast<long double>(
                   map[to_size(c * problem.grid->n_pixels() + ring.first_pixel + j)].real()) *
               std::polar(1.0L, -m * phi);
      }
      modes[to_size(mode + c)] = Complex(sum);
    }
  });
  return modes;
}

class Folding : public testing::TestWithParam<const char*> {
 protected:
  // Orders beyond 3 / 2 of the period fold directly, mirrored, and onto order 0.
  static constexpr int lmax = 60;
  LegendreProblem folded{
      RingGrid::from_name(GetParam()), lmax, lmax, {0, 2}, LegendreProblem::Fold::yes};
  LegendreProblem plain{RingGrid::from_name(GetParam()), lmax, lmax, {0, 2}};
};

TEST_P(Folding, LeavesEveryPixelAsItWas) {
  ASSERT_TRUE(folded.fold_rule.active());
  ASSERT_LT(folded.rows.size(), plain.rows.size());
  const auto alm = random_values(plain.alm_size(), 21);
  const auto folded_modes = folded.synthesize(alm);
  const auto plain_modes = plain.synthesize(alm);
  for (std::int64_t c = 0; c < plain.fields.n_components(); ++c) {
    const RelativeError error =
        relative_error(pixels(folded, folded_modes, c), pixels(plain, plain_modes, c));
    EXPECT_LE(error.rms, tolerance::direct_sum) << "component " << c;
  }
}

TEST_P(Folding, LeavesEveryCoefficientAsItWas) {
  const auto map = random_values(plain.grid->n_pixels() * plain.fields.n_components(), 22);
  const auto from_folded = folded.adjoint(analysis_modes(folded, map));
  const auto from_plain = plain.adjoint(analysis_modes(plain, map));
  EXPECT_LE(relative_error(from_folded, from_plain).rms, tolerance::direct_sum);
}

// Even and odd numbers of pixels, arbitrary first longitudes.
INSTANTIATE_TEST_SUITE_P(Legendre, Folding,
                         testing::Values("healpix:4", "fejer:12,17", "clenshaw:9,8"));

}  // namespace
}  // namespace ringweave::detail
