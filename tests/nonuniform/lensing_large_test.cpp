// SPDX-License-Identifier: GPL-3.0-or-later
// The inverse deflection and delensing of a sky like that of the CMB.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <sstream>
#include <string>
#include <utility>

#include "nonuniform/lensing_problem.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/spectra.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

const std::string path =
    std::string(RINGWEAVE_TEST_DATA) + "/spectra/FFP10_wdipole_lenspotentialCls.dat";

/// C_l of T and of phi up to a degree.
struct SkySpectra {
  explicit SkySpectra(int lmax) : t(lmax), phi(lmax) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line);
      int l = 0;
      double tt = 0, ee = 0, bb = 0, te = 0, pp = 0;
      if (!(words >> l >> tt >> ee >> bb >> te >> pp) || l > lmax) continue;
      const double scale = 2 * std::numbers::pi / (l * (l + 1.0));
      t.values(Spectra::TT)[to_size(l)] = tt * scale;
      phi.values(Spectra::TT)[to_size(l)] = pp * scale / (l * (l + 1.0));
    }
  }
  Spectra t;
  Spectra phi;
};

AlmBuffer<double> drawn(const Spectra& spectra, std::uint64_t which, const AlmLayout& layout) {
  AlmBuffer<double> alm(1, layout.size());
  draw_alm(spectra, which, layout, alm.view());
  return alm;
}

/// Returns worst_return() of all pixels, with d at their ends from a transform of least epsilon
/// that shares no taps and rows with the field in which the inverse was found.
double worst_return_of_all(const Communicator& comm, const Deflection& inverse,
                           const AlmLayout& all, const AlmBuffer<double>& phi) {
  const PointSpec spec = spec_of(all.lmax(), {1}, 1e-13);
  const Directions ends = positions_of(inverse);
  PointTransform transform(comm, spec, PointSet(comm, spec, ends.theta, ends.phi));
  const AlmLayout& layout = transform.alm_layout();
  AlmBuffer<double> alm = transform.make_alm<double>();
  std::fill_n(alm.view().data(), alm.n_components() * alm.size(), 0.0);
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const int m = layout.order(row);
    for (int l = m; l <= layout.lmax(); ++l) {
      alm.view().component(0)[layout.index(row, l)] =
          std::sqrt(l * (l + 1.0)) * phi.view().component(0)[all.index(all.row_of(m), l)];
    }
  }
  auto d = transform.make_values<double>();
  transform.evaluate(alm, d);
  const auto point = [](double theta, double at_phi) {
    return SpherePoint{std::sin(theta), std::cos(theta), theta, at_phi};
  };
  double worst = 0;
  for_each_pixel(inverse.rings(), [&](std::int64_t i, const Ring& ring, double at_phi) {
    const GeodesicEnd back = follow_geodesic(point(ends.theta[to_size(i)], ends.phi[to_size(i)]),
                                             {d.view().component(0)[i], d.view().component(1)[i]});
    const Tangent gap = geodesic_to({ring.sin_theta, ring.cos_theta, ring.theta, at_phi},
                                    point(back.theta, back.phi));
    const double distance = std::hypot(gap.theta, gap.phi);
    worst = std::max(worst, std::isfinite(distance) ? distance : 1e300);
  });
  return worst;
}

TEST(LargeLensing, TheInverseDeflectionOfTheCmbTakesTenEvaluations) {
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "RINGWEAVE_TEST_DATA names no folder";
  constexpr int lmax = 2047;
  const Communicator comm = Communicator::world();
  const AlmLayout layout(lmax, lmax);
  const AlmBuffer<double> phi = drawn(SkySpectra(lmax).phi, 5, layout);
  const Potential potential{layout, phi.view(), {}};
  const Deflection deflection(comm, shared(RingGrid::healpix(512)), potential);
  const Deflection inverse = deflection.inverse();
  RecordProperty("evaluations", inverse.evaluations());
  EXPECT_LE(inverse.evaluations(), tolerance::inverse_evaluations);
  // By a ring transform, which has no taps, and at all pixels.
  EXPECT_LT(worst_return(inverse, potential, 997), tolerance::inverse_deflection);
  EXPECT_LT(worst_return_of_all(comm, inverse, layout, phi), tolerance::inverse_deflection);
}

/// Returns the mean of the square over skies with a spectrum, times factor(l).
template <class Factor>
double expected_square(const Spectra& spectra, const Factor& factor) {
  double sum = 0;
  for (int l = 0; l <= spectra.lmax(); ++l)
    sum += (2 * l + 1) * factor(l) * spectra(Spectra::TT, l) / (4 * std::numbers::pi);
  return sum;
}

/// Returns the rms of the difference of two maps over the sphere.
double gap_over_sphere(const LocalRings& rings, const MapBuffer<double>& map,
                       const MapBuffer<double>& expected) {
  double sum = 0;
  for_each_pixel(rings, [&](std::int64_t i, const Ring& ring, double) {
    const double gap = map.view().data()[i] - expected.view().data()[i];
    sum += ring.weight * gap * gap;
  });
  return std::sqrt(sum / (4 * std::numbers::pi));
}

TEST(LargeLensing, DelensingLosesWhatTheBandLimitDoes) {
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "RINGWEAVE_TEST_DATA names no folder";
  constexpr int lmax = 1500;
  const Communicator comm = Communicator::world();
  const SkySpectra spectra(lmax);
  const AlmLayout layout(lmax, lmax);
  const auto grid = shared(RingGrid::gauss_legendre(2304));
  // A single sky deflects by 3 % more or less than its spectrum says, and its temperature has
  // another rms.
  AlmBuffer<double> phi = drawn(spectra.phi, 5, layout);
  const double deflects =
      std::sqrt(expected_square(spectra.phi, [](int l) { return l * (l + 1.0); }));
  const double drawn_deflects =
      Deflection(comm, grid, {layout, std::as_const(phi).view(), {}}).rms();
  for (std::int64_t i = 0; i < phi.size(); ++i) phi.view().data()[i] *= deflects / drawn_deflects;
  const double sigma = std::sqrt(expected_square(spectra.t, [](int) { return 1.0; }));
  const Deflection deflection(comm, grid, {layout, std::as_const(phi).view(), {}});
  const Deflection inverse = deflection.inverse();
  PointSpec spec;
  spec.lmax = lmax;
  spec.epsilon = 1e-9;
  TransformSpec on_grid;
  on_grid.grid = grid;
  on_grid.ring_bands = deflection.ring_bands();
  on_grid.lmax = lmax;
  SphericalHarmonicTransform unlensed(comm, on_grid);
  const MapBuffer<double> expected =
      synthesized(unlensed, drawn(spectra.t, 6, unlensed.alm_layout()));
  Lensing lensing(comm, deflection, spec);
  MapBuffer<double> map = lensing.make_map<double>();
  lensing.lens(drawn(spectra.t, 6, lensing.alm_layout()), map);
  for (const auto& [lensed_lmax, bound] : tolerance::delensing_losses) {
    spec.lmax = lensed_lmax;
    Delensing delensing(comm, inverse, spec);
    MapBuffer<double> delensed = lensing.make_map<double>();
    delensing.delens(map, delensed);
    const double error = gap_over_sphere(deflection.rings(), delensed, expected) / sigma;
    RecordProperty("error_" + std::to_string(lensed_lmax), std::to_string(error));
    EXPECT_LT(error, bound) << "lensed lmax " << lensed_lmax;
    EXPECT_GT(error, 0.5 * bound) << "lensed lmax " << lensed_lmax;
  }
}

}  // namespace
}  // namespace ringweave::detail::test
