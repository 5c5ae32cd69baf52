// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "nonuniform/lensing_problem.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

/// A potential with a single coefficient.
AlmBuffer<double> single(const AlmLayout& layout, int l, int m, std::complex<double> value) {
  AlmBuffer<double> alm(1, layout.size());
  std::fill_n(alm.view().data(), layout.size(), std::complex<double>(0));
  const std::int64_t row = layout.row_of(m);
  if (row >= 0) alm.view().data()[layout.index(row, l)] = value;
  return alm;
}

TEST(Deflection, IsTheGradientOfPhiAndTheCurlOfOmega) {
  on_every_rank_count([](const Communicator& comm) {
    const AlmLayout layout = layout_in_turn(comm, 2);
    const auto zero = single(layout, 0, 0, 0);
    const double c0 = std::sqrt(3 / (4 * std::numbers::pi));
    const double c1 = std::sqrt(3 / (2 * std::numbers::pi));
    const auto y10 = single(layout, 1, 0, 0.1);  // 0.1 c0 cos(theta)
    const auto y11 = single(layout, 1, 1, 0.1);  // -0.1 c1 sin(theta) cos(phi)
    const auto grid = shared(RingGrid::healpix(4));
    for (const bool is_curl : {false, true}) {
      for (const int m : {0, 1}) {
        const AlmBuffer<double>& given = m == 0 ? y10 : y11;
        const Deflection deflection(comm, grid,
                                    {layout, is_curl ? zero.view() : given.view(),
                                     is_curl ? given.view() : AlmView<const double>()});
        double worst = 0;
        double most = 0;
        for_each_pixel(deflection.rings(), [&](std::int64_t i, const Ring& ring, double phi) {
          const double st = ring.sin_theta;
          const double ct = ring.cos_theta;
          // The derivative to the south, and that to the east.
          const double south = 0.1 * (m == 0 ? -c0 * st : -c1 * ct * std::cos(phi));
          const double east = 0.1 * (m == 0 ? 0 : c1 * std::sin(phi));
          const double d_theta = is_curl ? -east : south;
          const double d_phi = is_curl ? south : east;
          worst = std::max(worst, std::hypot(deflection.vectors().component(0)[i] - d_theta,
                                             deflection.vectors().component(1)[i] - d_phi));
          most = std::max(most, std::hypot(d_theta, d_phi));
        });
        EXPECT_LT(comm.max(worst), tolerance::deflection_of_a_mode)
            << "m = " << m << (is_curl ? ", Omega" : ", phi");
        EXPECT_NEAR(deflection.largest(), comm.max(most), tolerance::deflection_of_a_mode);
        EXPECT_NEAR(deflection.rms(), 0.1 * std::sqrt(2 * (m + 1) / (4 * std::numbers::pi)),
                    tolerance::deflection_rms);
      }
    }
  });
}

TEST(Deflection, IsTheSameOnAnyNumberOfRanks) {
  on_every_rank_count([](const Communicator& comm) {
    const auto grid = shared(RingGrid::healpix(8));
    const Deflection together(comm, grid, RandomPotential(comm, 20, 0.05).view());
    const Deflection alone(Communicator::self(), grid,
                           RandomPotential(Communicator::self(), 20, 0.05).view());
    const Directions ends = positions_of(together);
    const Directions all = positions_of(alone);
    double worst = 0;
    for (const PixelSlab& slab : together.rings().slabs()) {
      for (std::int64_t i = 0; i < slab.count; ++i) {
        const std::size_t mine = to_size(slab.first_local + i);
        const std::size_t other = to_size(slab.first_global + i);
        worst = std::max(worst, std::hypot(ends.theta[mine] - all.theta[other],
                                           ends.phi[mine] - all.phi[other]));
      }
    }
    EXPECT_LT(worst, tolerance::geodesic);
    EXPECT_NEAR(together.rms(), alone.rms(), tolerance::rank_invariance);
    EXPECT_NEAR(together.largest(), alone.largest(), tolerance::rank_invariance);
  });
}

using Vector = std::array<double, 3>;

/// n' of one point, as a vector.
Vector image_of(const Potential& potential, double theta, double phi) {
  const auto grid = shared(RingGrid::from_rings({{theta, phi, 1, 0}}));
  const Directions end = positions_of(Deflection(Communicator::self(), grid, potential));
  const double sine = std::sin(end.theta[0]);
  return {sine * std::cos(end.phi[0]), sine * std::sin(end.phi[0]), std::cos(end.theta[0])};
}

TEST(Deflection, MagnificationIsTheAreaOfTheImageForPhiAndOmegaTogether) {
  const Communicator self = Communicator::self();
  const RandomPotential random(self, 6, 0.2);
  for (const auto [t, p] : {std::array{0.8, 0.3}, std::array{1.4, 2.0}, std::array{2.5, 4.0}}) {
    constexpr double h = 2e-5;
    const auto difference = [](const Vector& a, const Vector& b, double scale) {
      return Vector{(a[0] - b[0]) * scale, (a[1] - b[1]) * scale, (a[2] - b[2]) * scale};
    };
    const Potential potential = random.view();
    const Vector a =
        difference(image_of(potential, t + h, p), image_of(potential, t - h, p), 1 / (2 * h));
    const Vector b = difference(image_of(potential, t, p + h), image_of(potential, t, p - h),
                                1 / (2 * h * std::sin(t)));
    const Vector n = image_of(potential, t, p);
    const double area = (a[1] * b[2] - a[2] * b[1]) * n[0] + (a[2] * b[0] - a[0] * b[2]) * n[1] +
                        (a[0] * b[1] - a[1] * b[0]) * n[2];
    double found = 0;
    Deflection(self, shared(RingGrid::from_rings({{t, p, 1, 0}})), potential)
        .magnification({&found, 1});
    EXPECT_NEAR(found, area, tolerance::magnification);
  }
}

TEST(Deflection, TheImageOfTheSphereIsTheSphere) {
  on_every_rank_count([](const Communicator& comm) {
    for (const Curl curl : {Curl::with, Curl::without}) {
      const Deflection deflection(comm, shared(RingGrid::gauss_legendre(64)),
                                  RandomPotential(comm, 8, 0.05, curl).view());
      HostBuffer<double> area(deflection.rings().n_pixels());
      deflection.magnification({area.data(), area.size()});
      double sum = 0;
      for_each_pixel(deflection.rings(), [&](std::int64_t i, const Ring& ring, double) {
        sum += ring.weight * area[i];
      });
      EXPECT_NEAR(comm.sum(sum), 4 * std::numbers::pi, tolerance::image_area);
    }
  });
}

TEST(Deflection, TheInverseLeadsBack) {
  const Communicator comm = Communicator::world();
  const Deflection deflection(comm, shared(RingGrid::healpix(64)),
                              RandomPotential(comm, 500, 0.06).view());
  const Deflection inverse = deflection.inverse();
  EXPECT_LE(inverse.evaluations(), tolerance::inverse_evaluations);
  EXPECT_NEAR(inverse.rms(), deflection.rms(), 0.05 * deflection.rms());
  EXPECT_LT(worst_return(inverse, RandomPotential(Communicator::self(), 500, 0.06).view(), 97),
            tolerance::inverse_deflection);
}

TEST(Deflection, AFoldedSphereHasNoInverse) {
  const Communicator comm = Communicator::world();
  const Deflection deflection(comm, shared(RingGrid::healpix(8)),
                              RandomPotential(comm, 30, 3).view());
  const Thrown thrown = thrown_by([&] { deflection.inverse(); });
  EXPECT_EQ(thrown.kind, ErrorKind::data) << thrown.message;
  EXPECT_NE(thrown.message.find("the first is pixel"), std::string::npos) << thrown.message;
  EXPECT_NE(thrown.message.find("where |A| = "), std::string::npos) << thrown.message;
}

TEST(Deflection, BadPotentialsAreRefused) {
  const Communicator comm = Communicator::world();
  const auto grid = shared(RingGrid::healpix(4));
  RandomPotential potential(comm, 8, 0.05);
  expect_error(ErrorKind::usage, "phi_lm has 2 components", [&] {
    Deflection(comm, grid, {potential.layout, std::as_const(potential.alm).view(), {}});
  });
  const Deflection inverse = Deflection(comm, grid, potential.view()).inverse();
  HostBuffer<double> area(inverse.rings().n_pixels());
  expect_error(ErrorKind::usage, "has no potential", [&] {
    inverse.magnification({area.data(), area.size()});
  });
  expect_error(ErrorKind::usage, "has no inverse", [&] { inverse.inverse(); });
  RandomPotential huge(comm, 8, 0.05);
  for (std::int64_t i = 0; i < huge.alm.size(); ++i) huge.alm.view().component(0)[i] = 1e307;
  expect_error(ErrorKind::data, "check the units of the potential",
               [&] { Deflection(comm, grid, huge.view()); });
  const std::int64_t row = potential.layout.row_of(2);
  if (row >= 0) {
    potential.alm.view().component(1)[potential.layout.index(row, 5)] =
        std::numeric_limits<double>::quiet_NaN();
  }
  expect_error(ErrorKind::data, "the coefficient of l = 5, m = 2 is not finite",
               [&] { Deflection(comm, grid, potential.view()); });
}

}  // namespace
}  // namespace ringweave::detail::test
