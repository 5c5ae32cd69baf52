// SPDX-License-Identifier: GPL-3.0-or-later
// Against maps that pixell lensed; its rotation of Q and U is twice the right one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "nonuniform/lensing_problem.hpp"
#include "ringweave/files.hpp"
#include "ringweave/lensing.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

const std::string folder = std::string(RINGWEAVE_TEST_DATA) + "/lensing/";
const std::vector<int> columns{0, 1, 2};

MapBuffer<double> read_map(const Communicator& comm, const std::string& name,
                           const LocalRings& rings) {
  MapBuffer<double> map(3, rings.n_pixels());
  open_map(comm, folder + name)->read(columns, rings, map.view());
  return map;
}

/// Largest difference of a component on the rings that `counts` accepts, over the rms there.
template <class Counts>
double worst_of(const Communicator& comm, const LocalRings& rings, const MapBuffer<double>& map,
                const MapBuffer<double>& expected, std::int64_t component, const Counts& counts) {
  double worst = 0;
  double sums[2] = {0, 0};
  for_each_pixel(rings, [&](std::int64_t i, const Ring& ring, double) {
    if (!counts(ring)) return;
    const double wanted = expected.view().component(component)[i];
    worst = std::max(worst, std::abs(map.view().component(component)[i] - wanted));
    sums[0] += wanted * wanted;
    sums[1] += 1;
  });
  comm.sum(sums, 2);
  return comm.max(worst) / std::sqrt(sums[0] / sums[1]);
}

TEST(LensedMaps, AreThoseOfPixell) {
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "RINGWEAVE_TEST_DATA names no folder";
  const Communicator comm = Communicator::world();
  const auto grid = open_map(comm, folder + "MM_unlensed_071123.fits")->header().grid;
  const auto phi_file = open_alm(comm, folder + "MM_alm_phi_lmax400.fits");
  const AlmLayout layout = layout_in_turn(comm, 400);
  AlmBuffer<double> phi(1, layout.size());
  phi_file->read(std::vector{0}, layout, phi.view());
  const Deflection deflection(comm, grid, {layout, std::as_const(phi).view(), {}});
  const LocalRings& rings = deflection.rings();

  PointSpec spec;
  spec.lmax = 400;
  spec.fields = FieldSet({0, 2});
  spec.epsilon = 1e-13;
  const auto alm_file = open_alm(comm, folder + "MM_alm_TEB_lmax400.fits");
  std::fill_n(phi.view().data(), phi.size(), std::complex<double>(0));
  const Deflection none(comm, grid, {layout, std::as_const(phi).view(), {}});
  const MapBuffer<double> unlensed = read_map(comm, "MM_unlensed_071123.fits", rings);
  const MapBuffer<double> expected = read_map(comm, "MM_lensed_071123.fits", rings);
  const auto map_of = [&](const Deflection& by) {
    Lensing lensing(comm, by, spec, FrameRotation::none);
    AlmBuffer<double> alm = lensing.make_alm<double>();
    alm_file->read(columns, lensing.alm_layout(), alm.view());
    MapBuffer<double> map = lensing.make_map<double>();
    lensing.lens(alm, map);
    return map;
  };

  const auto everywhere = [](const Ring&) { return true; };
  const auto off_poles = [](const Ring& ring) { return ring.sin_theta > 1e-6; };
  const auto below_80 = [](const Ring& ring) {
    return std::abs(ring.cos_theta) < std::sin(79.9 * std::numbers::pi / 180);
  };
  const MapBuffer<double> plain = map_of(none);
  for (const int c : columns)
    EXPECT_LT(worst_of(comm, rings, plain, unlensed, c, everywhere), tolerance::unlensed_by_pixell);

  MapBuffer<double> lensed = map_of(deflection);
  EXPECT_LT(worst_of(comm, rings, lensed, expected, 0, off_poles), tolerance::lensed_by_pixell);
  MapBuffer<double> turn(2, rings.n_pixels());
  deflection.rotation(turn.view().component(0), turn.view().component(1));
  for (std::int64_t i = 0; i < rings.n_pixels(); ++i) {
    const std::complex<double> gamma(turn.view().component(0)[i], turn.view().component(1)[i]);
    double& q = lensed.view().component(1)[i];
    double& u = lensed.view().component(2)[i];
    const std::complex<double> turned = std::complex<double>(q, u) * gamma * gamma * gamma * gamma;
    q = turned.real();
    u = turned.imag();
  }
  for (const int c : {1, 2})
    EXPECT_LT(worst_of(comm, rings, lensed, expected, c, below_80),
              tolerance::lensed_polarisation_by_pixell);
}

}  // namespace
}  // namespace ringweave::detail::test
