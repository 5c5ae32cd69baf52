// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/radial_kernel.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/error.hpp"

namespace ringweave {
namespace {

struct Table {
  std::vector<double> theta;
  std::vector<double> value;
};

template <class Profile>
Table tabulate(double end, int n, const Profile& profile) {
  Table table;
  for (int i = 0; i <= n; ++i) {
    table.theta.push_back(end * i / n);
    table.value.push_back(profile(table.theta.back()));
  }
  return table;
}

TEST(RadialKernel, AConstantOnTheWholeSphereIsTheMonopole) {
  const Table table =
      tabulate(std::numbers::pi, 7, [](double) { return 1 / (4 * std::numbers::pi); });
  const Beam beam = kernel_beam(table.theta, table.value, 40);
  EXPECT_NEAR(beam.t[0], 1, 1e-14);
  for (std::size_t l = 1; l <= 40; ++l) EXPECT_NEAR(beam.t[l], 0, 1e-14) << l;
}

TEST(RadialKernel, ATopHatHasItsKnownMultipoles) {
  // 2 pi int_c^1 P_l dz = 2 pi (P_{l-1}(c) - P_{l+1}(c)) / (2 l + 1)
  const double end = 0.3;
  const Table table = tabulate(end, 5, [](double) { return 1.0; });
  const Beam beam = kernel_beam(table.theta, table.value, 200);
  for (unsigned l = 1; l <= 200; ++l) {
    const double exact =
        2 * std::numbers::pi *
        (std::legendre(l - 1, std::cos(end)) - std::legendre(l + 1, std::cos(end))) / (2 * l + 1);
    EXPECT_NEAR(beam.t[l], exact, 1e-13) << l;
  }
}

TEST(RadialKernel, AFineGaussianTableGivesTheGaussianBeam) {
  const double fwhm = 2 * std::numbers::pi / 180;
  const double sigma = fwhm / std::sqrt(8 * std::log(2));
  // The heat kernel in the plane; on the sphere it differs by O(sigma^2).
  const Table table = tabulate(9 * sigma, 4000, [&](double t) {
    return std::exp(-t * t / (2 * sigma * sigma)) / (2 * std::numbers::pi * sigma * sigma);
  });
  const Beam beam = kernel_beam(table.theta, table.value, 300);
  const Beam gauss = gaussian_beam(fwhm, 300);
  for (std::size_t l = 0; l <= 300; ++l) EXPECT_NEAR(beam.t[l], gauss.t[l], 2 * sigma * sigma) << l;
}

TEST(RadialKernel, RefusesTablesItCannotRead) {
  const std::vector<double> ones(5, 1.0);
  EXPECT_THROW(kernel_beam(std::vector<double>{0, 1, 2}, std::vector<double>{1, 1, 1}, 4),
               UsageError);
  EXPECT_THROW(kernel_beam(std::vector<double>{0.1, 1, 2, 2.5, 3}, ones, 4), UsageError);
  EXPECT_THROW(kernel_beam(std::vector<double>{0, 1, 1, 2, 3}, ones, 4), UsageError);
  EXPECT_THROW(kernel_beam(std::vector<double>{0, 1, 2, 3, 3.5}, ones, 4), UsageError);
}

}  // namespace
}  // namespace ringweave
