// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <optional>

#include "base/checked_cast.hpp"
#include "legendre/direct_harmonics.hpp"
#include "legendre/legendre_problem.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

using LongComplex = std::complex<long double>;

/// Computes ring modes by direct summation of every kept mode.
std::vector<Complex> direct_modes(const LegendreProblem& problem, const std::vector<Complex>& alm) {
  std::vector<Complex> modes(to_size(problem.modes_size()));
  const int lmax = problem.alm_layout.lmax();
  const auto coefficient = [&](std::int64_t component, std::int64_t row, int l) {
    return LongComplex(
        alm[to_size(component * problem.alm_layout.size() + problem.alm_layout.index(row, l))]);
  };
  for (const FieldSet::Field& field : problem.fields.fields()) {
    const std::int64_t c = field.first_component;
    std::int64_t known_row = -1;
    std::optional<DirectHarmonics> scalar;
    std::optional<DirectSpinModes> spins;
    problem.for_each_mode([&](std::int64_t row, std::int64_t number, std::int64_t mode) {
      const int m = problem.alm_layout.order(row);
      const Ring& ring = problem.grid->ring(RingId{number});
      if (row != known_row) {
        known_row = row;
        if (field.spin == 0) {
          scalar.emplace(lmax, m, 0);
        } else {
          spins.emplace(lmax, m, field.spin);
        }
      }
      LongComplex first = 0;
      LongComplex second = 0;
      if (field.spin == 0) {
        const auto lambda = scalar->at(ring);
        for (int l = m; l <= lmax; ++l) first += coefficient(c, row, l) * lambda[to_size(l)];
      } else {
        const LongComplex i(0, 1);
        const auto lambda = spins->at(ring);
        for (int l = m; l <= lmax; ++l) {
          const LongComplex e = coefficient(c, row, l);
          const LongComplex b = coefficient(c + 1, row, l);
          first += lambda[to_size(l)].gradient * e + i * lambda[to_size(l)].curl * b;
          second += lambda[to_size(l)].gradient * b - i * lambda[to_size(l)].curl * e;
        }
        modes[to_size(mode + c + 1)] = Complex(second);
      }
      modes[to_size(mode + c)] = Complex(first);
    });
  }
  return modes;
}

struct Case {
  int lmax;
  int spin;
};

/// The sums run in quad precision: few rings at high lmax, and the poles in a separate test.
std::vector<std::string> grids_for(int lmax) {
  if (lmax <= 127) return {"healpix:3", "clenshaw:14"};
  return {"healpix:2", "fejer:6"};
}

class OnSmallProblems : public testing::TestWithParam<Case> {};

TEST_P(OnSmallProblems, SynthesisIsTheDirectSum) {
  const auto [lmax, spin] = GetParam();
  for (const std::string& grid : grids_for(lmax)) {
    const LegendreProblem problem(RingGrid::from_name(grid), lmax, lmax, {spin});
    const auto alm = random_values(problem.alm_size(), 7);
    const RelativeError error = relative_error(problem.synthesize(alm), direct_modes(problem, alm));
    EXPECT_LE(error.rms, tolerance::direct_sum) << grid;
    EXPECT_LE(error.max, tolerance::direct_sum * tolerance::max_over_rms) << grid;
  }
}

// The adjoint of a ring mode that is 1 on one ring is lambda_lm there: every degree and order is
// tested separately.
TEST_P(OnSmallProblems, AdjointOfOneRingIsEveryHarmonicOnIt) {
  const auto [lmax, spin] = GetParam();
  const LegendreProblem problem(RingGrid::healpix(lmax <= 127 ? 3 : 1), lmax, lmax, {spin});
  // [ring][index of the alm]
  std::vector<std::vector<Complex>> expected(to_size(problem.grid->n_rings()),
                                             std::vector<Complex>(to_size(problem.alm_size())));
  for (int m = 0; m <= lmax; ++m) {
    const DirectHarmonics scalar(lmax, m, 0);
    const DirectSpinModes spins(lmax, m, spin);
    for (std::int64_t ring = 0; ring < problem.grid->n_rings(); ++ring) {
      std::vector<Complex>& on_ring = expected[to_size(ring)];
      const Ring& at = problem.grid->ring(RingId{ring});
      const auto of_spin_0 = spin == 0 ? scalar.at(at) : std::vector<long double>();
      const auto of_spin = spin == 0 ? std::vector<SpinMode>() : spins.at(at);
      for (int l = m; l <= lmax; ++l) {
        const std::size_t i = to_size(problem.alm_layout.index(m, l));
        if (spin == 0) {
          on_ring[i] = static_cast<double>(of_spin_0[to_size(l)]);
        } else {
          on_ring[i] = static_cast<double>(of_spin[to_size(l)].gradient);
          on_ring[i + to_size(problem.alm_layout.size())] = {
              0, -static_cast<double>(of_spin[to_size(l)].curl)};
        }
      }
    }
  }
  for (std::int64_t ring = 0; ring < problem.grid->n_rings(); ++ring) {
    std::vector<Complex> modes(to_size(problem.modes_size()));
    problem.for_each_mode([&](std::int64_t, std::int64_t r, std::int64_t mode) {
      if (r == ring) modes[to_size(mode)] = 1;
    });
    const RelativeError error = relative_error(problem.adjoint(modes), expected[to_size(ring)]);
    EXPECT_LE(error.rms, tolerance::direct_sum) << "ring " << ring;
    EXPECT_LE(error.max, tolerance::direct_sum * tolerance::max_over_rms) << "ring " << ring;
  }
}

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int lmax : {0, 1, 2, 5, 32, 127}) {
    for (const int spin : {0, 1, 2, 3, 5}) all.push_back({lmax, spin});
  }
  for (const int spin : {0, 1, 2, 3}) all.push_back({256, spin});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Legendre, OnSmallProblems, testing::ValuesIn(cases()), [](const auto& of) {
  return fmt::format("lmax{}spin{}", of.param.lmax, of.param.spin);
});

// On a pole all power is in m = spin, where rounding errors grow along the recurrence as next to a
// pole: l^1.5 ulp of the mode itself (reference_test.cpp).
TEST(Legendre, ModesOnThePolesAreAsGoodAsTheirRecurrence) {
  const int lmax = 256;
  const double bound = std::pow(lmax, 1.5) * std::numeric_limits<double>::epsilon();
  for (const int spin : {0, 1, 2, 3}) {
    const LegendreProblem problem(RingGrid::clenshaw_curtis(2), lmax, lmax, {spin});
    const auto alm = random_values(problem.alm_size(), 7);
    EXPECT_LE(relative_error(problem.synthesize(alm), direct_modes(problem, alm)).rms, bound)
        << spin;
  }
}

TEST(Legendre, FieldsOfMixedSpinsAreTheDirectSums) {
  const LegendreProblem problem(RingGrid::healpix(6), 20, 20, {0, 2, 0, 1, 0, 0, 0, 2});
  const auto alm = random_values(problem.alm_size(), 3);
  EXPECT_LE(relative_error(problem.synthesize(alm), direct_modes(problem, alm)).rms,
            tolerance::direct_sum);
}

TEST(Legendre, RingsWithoutAMirrorAreTheDirectSums) {
  const LegendreProblem problem(
      RingGrid::from_rings(
          {{0.3, 0, 8, 0}, {1.1, 0, 8, 0}, {1.9, 0.1, 8, 0}, {2.2, 0, 8, 0}, {3.0, 0, 8, 0}}),
      30, 12, {0, 2});
  const auto alm = random_values(problem.alm_size(), 4);
  EXPECT_LE(relative_error(problem.synthesize(alm), direct_modes(problem, alm)).rms,
            tolerance::direct_sum);
}

// The result must not depend on the terms that pruning or the sweep skip.
TEST(Legendre, PrunedModesAreTheDirectSums) {
  for (const int spin : {0, 2}) {
    const LegendreProblem problem(
        RingGrid::from_rings({{0.02, 0, 8, 0}, {0.2, 0, 8, 0}, {1.2, 0, 8, 0}, {3.1, 0, 8, 0}}),
        250, 250, {spin});
    const auto alm = random_values(problem.alm_size(), 5);
    EXPECT_LE(relative_error(problem.synthesize(alm), direct_modes(problem, alm)).rms,
              tolerance::direct_sum);
  }
}

// The first values of these orders are between 2^-80 and 2^-60 on all rings, but ten degrees later
// they are a million times larger.
TEST(Legendre, FirstDegreesCountWhereAllValuesOfTheFirstAreSmall) {
  std::vector<RingSpec> rings;
  for (int i = 0; i < 64; ++i) rings.push_back({0.9 + 0.0016 * i, 0, 8, 0});
  for (const int spin : {0, 2}) {
    const LegendreProblem problem(RingGrid::from_rings(rings), 255, 255, {spin},
                                  LegendreProblem::Fold::no, {244, 246, 248, 250});
    const auto alm = random_values(problem.alm_size(), 6);
    EXPECT_LE(relative_error(problem.synthesize(alm), direct_modes(problem, alm)).rms,
              tolerance::direct_sum);
  }
}

// The signs, independent of any shared derivation: Y_11, and Q and U of E_22 = 1 after HEALPix.
TEST(Legendre, FirstHarmonicsHaveTheSignsOfHealpix) {
  const LegendreProblem scalar(RingGrid::from_rings({{0.7, 0, 8, 0}}), 1, 1, {0});
  EXPECT_NEAR(scalar.synthesize<double>({0, 0, 1})[1].real(),
              -std::sqrt(3 / (8 * M_PI)) * std::sin(0.7), 1e-15);

  const LegendreProblem spin(RingGrid::from_rings({{0.7, 0, 8, 0}}), 2, 2, {2});
  std::vector<Complex> alm(12);
  alm[5] = 1;
  const auto modes = spin.synthesize(alm);
  const double z = std::cos(0.7);
  const double norm = std::sqrt(5 / (64 * M_PI));
  EXPECT_NEAR(modes[4].real(), -norm * (1 + z * z), 1e-15);
  EXPECT_NEAR(modes[5].imag(), -norm * 2 * z, 1e-15);
}

}  // namespace
}  // namespace ringweave::detail
