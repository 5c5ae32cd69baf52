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

#include "distribute/order_moves.hpp"
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
  EXPECT_LE(inverse.evaluations(), 10);
  EXPECT_LT(worst_return(inverse, potential, 997), tolerance::inverse_deflection);
}

TEST(LargeLensing, DelensingLosesWhatTheBandLimitDoes) {
  if (!std::filesystem::exists(path)) GTEST_SKIP() << "RINGWEAVE_TEST_DATA names no folder";
  constexpr int lmax = 1500;
  const Communicator comm = Communicator::world();
  const SkySpectra spectra(lmax);
  const AlmLayout layout(lmax, lmax);
  const AlmBuffer<double> phi = drawn(spectra.phi, 5, layout);
  const auto grid = shared(RingGrid::gauss_legendre(2304));
  const Deflection deflection(comm, grid, {layout, phi.view(), {}});
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
  for (const auto& [lensed_lmax, bound] :
       {std::pair{1500, 2.6e-2}, std::pair{1800, 1.1e-2}, std::pair{2250, 5e-3}}) {
    on_grid.lmax = lensed_lmax;
    SphericalHarmonicTransform analysis(comm, on_grid);
    const AlmBuffer<double> alm = adjoint_of(analysis, map, ring_weights(deflection.rings()));
    spec.lmax = lensed_lmax;
    Lensing delensing(comm, inverse, spec);
    AlmBuffer<double> lensed = delensing.make_alm<double>();
    move_orders<double>(comm, analysis.alm_layout(), alm.view(), delensing.alm_layout(),
                        lensed.view());
    MapBuffer<double> delensed = delensing.make_map<double>();
    delensing.lens(lensed, delensed);
    const double error = relative_error(comm, delensed, expected).rms;
    RecordProperty("error_" + std::to_string(lensed_lmax), std::to_string(error));
    EXPECT_LT(error, bound) << "lensed lmax " << lensed_lmax;
    EXPECT_GT(error, 0.5 * bound) << "lensed lmax " << lensed_lmax;
  }
}

}  // namespace
}  // namespace ringweave::detail::test
