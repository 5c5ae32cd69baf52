// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <boost/math/special_functions/binomial.hpp>
#include <boost/math/special_functions/factorials.hpp>
#include <boost/math/special_functions/spherical_harmonic.hpp>
#include <cmath>
#include <complex>
#include <numbers>

#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using Real = long double;
using Complex = std::complex<Real>;

Real sign(int power) { return power % 2 == 0 ? 1 : -1; }

Real binomial(int n, int k) {
  if (k < 0 || k > n) return 0;
  return boost::math::binomial_coefficient<Real>(static_cast<unsigned>(n),
                                                 static_cast<unsigned>(k));
}

Real factorial(int n) { return boost::math::factorial<Real>(static_cast<unsigned>(n)); }

/// Returns _sY_lm(theta, 0), any signs of s and m, small l.
/// From   Goldberg et al. (1967), J. Math. Phys. 8, 2155, Eq. 3.1, times (-1)^m (Condon-Shortley).
Real spin_harmonic(int l, int m, int s, Real theta) {
  if (l < std::abs(s)) return 0;
  Real sum = 0;
  for (int r = 0; r <= l - s; ++r) {
    const int cosines = 2 * r + s - m;
    const Real factor = binomial(l - s, r) * binomial(l + s, r + s - m);
    if (factor == 0) continue;
    sum += factor * sign(l - r - s) * std::pow(std::cos(theta / 2), cosines) *
           std::pow(std::sin(theta / 2), 2 * l - cosines);
  }
  const Real norm = factorial(l + m) * factorial(l - m) * (2 * l + 1) /
                    (4 * std::numbers::pi_v<Real> * factorial(l + s) * factorial(l - s));
  return sign(m) * std::sqrt(norm) * sum;
}

/// The definition: f = sum over l and all m of -(E + i B)_lm _sY_lm, f = Q + i U; for spin 0 f =
/// sum of a_lm Y_lm. Orders m < 0 by a_{l,-m} = (-1)^m conj(a_lm).
MapBuffer<double> directly_synthesized(const SphericalHarmonicTransform& alone,
                                       const AlmBuffer<double>& alm) {
  MapBuffer<double> map = alone.make_map<double>();
  const AlmLayout& layout = alone.alm_layout();
  for (const FieldSet::Field& field : alone.fields().fields()) {
    const std::int64_t c = field.first_component;
    const auto coefficient = [&](std::int64_t component, int l, int m) {
      const std::complex<double> a =
          alm.view().component(component)[layout.index(layout.row_of(std::abs(m)), l)];
      const Complex value(a.real(), m == 0 ? 0.0 : a.imag());
      return m < 0 ? sign(m) * std::conj(value) : value;
    };
    for (std::int64_t r = 0; r < alone.rings().n_rings(); ++r) {
      const Ring& ring = alone.rings().ring(LocalRing{r});
      const Real theta = std::atan2(Real{ring.sin_theta}, Real{ring.cos_theta});
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        const Real phi = ring.phi0 + 2 * std::numbers::pi_v<Real> * static_cast<Real>(j) /
                                         static_cast<Real>(ring.n_phi);
        Complex f = 0;
        for (int l = 0; l <= layout.lmax(); ++l) {
          for (int m = -std::min(l, layout.mmax()); m <= std::min(l, layout.mmax()); ++m) {
            const Complex a =
                field.spin == 0
                    ? coefficient(c, l, m)
                    : -(coefficient(c, l, m) + Complex(0, 1) * coefficient(c + 1, l, m));
            f += a * spin_harmonic(l, m, field.spin, theta) *
                 std::polar(Real{1}, static_cast<Real>(m) * phi);
          }
        }
        const std::int64_t pixel = alone.rings().first_pixel(LocalRing{r}) + j;
        map.view().component(c)[pixel] = static_cast<double>(f.real());
        if (field.spin > 0) map.view().component(c + 1)[pixel] = static_cast<double>(f.imag());
      }
    }
  }
  return map;
}

TEST(SpinHarmonic, OfSpinZeroIsTheSphericalHarmonic) {
  for (int l = 0; l <= 8; ++l) {
    for (int m = -l; m <= l; ++m) {
      const Real theta = 0.9L;
      const Real expected =
          boost::math::spherical_harmonic_r<Real, Real>(static_cast<unsigned>(l), m, theta, 0);
      EXPECT_NEAR(static_cast<double>(spin_harmonic(l, m, 0, theta)), static_cast<double>(expected),
                  1e-15);
    }
  }
}

TEST_P(OnEveryRankCount, SynthesisIsTheSumThatDefinesIt) {
  const std::vector<Case> list = {
      {share(RingGrid::healpix(2)), 8, 8, {0}},
      {share(RingGrid::healpix(3)), 8, 8, {2}},
      {share(RingGrid::healpix(1)), 7, 4, {1, 3}},
      {share(RingGrid::clenshaw_curtis(9, 5)), 8, 8, {0, 2}},
      {share(RingGrid::gauss_legendre(6)), 5, 5, {1}},
      {user_rings(), 6, 6, {3}},
      {user_rings(), 0, 0, {0, 2}},
  };
  for (const Case& chosen : list) {
    SCOPED_TRACE(chosen.name());
    SphericalHarmonicTransform transform(comm(), chosen.spec());
    const SphericalHarmonicTransform alone(Communicator::self(), chosen.spec());
    const MapBuffer<double> expected =
        my_rings_of(transform, alone, directly_synthesized(alone, random_alm(alone)));
    expect_within(relative_error(comm(), synthesized(transform, random_alm(transform)), expected),
                  tolerance::direct_sum);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
