// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/radial_kernel.hpp"

// Boost 1.74's pchip calls isnan() without std::, which <math.h> provides.
#include <math.h>

#include <algorithm>
#include <boost/math/interpolators/pchip.hpp>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "sphere/quadrature.hpp"

namespace ringweave {
namespace {

void require_table(std::span<const double> theta, std::span<const double> value) {
  const auto fail = [](const std::string& what) {
    throw UsageError("a radial kernel's table: " + what);
  };
  if (theta.size() != value.size()) fail("as many values as angles are needed");
  if (theta.size() < 4)
    fail("at least four points are needed, got " + std::to_string(theta.size()));
  if (theta.front() != 0) fail("theta must begin at 0");
  for (std::size_t i = 1; i < theta.size(); ++i) {
    if (!(theta[i] > theta[i - 1]))
      fail("theta must ascend, point " + std::to_string(i) + " does not");
  }
  if (theta.back() > std::numbers::pi * (1 + 1e-12)) fail("theta must not pass pi");
}

/// Adds 2 pi w K(theta) P_l(cos theta) to every sum[l].
void add_point(double theta, double weighted_value, std::vector<double>& sum) {
  const double z = std::cos(theta);
  double before = 0;
  double now = 1;
  for (std::size_t l = 0; l < sum.size(); ++l) {
    sum[l] += weighted_value * now;
    const auto n = static_cast<double>(l);
    const double next = ((2 * n + 1) * z * now - n * before) / (n + 1);
    before = now;
    now = next;
  }
}

}  // namespace

Beam kernel_beam(std::span<const double> theta, std::span<const double> value, int lmax) {
  require_table(theta, value);
  const boost::math::interpolators::pchip<std::vector<double>> profile(
      std::vector<double>(theta.begin(), theta.end()),
      std::vector<double>(value.begin(), value.end()));
  // On a panel the integrand is a cubic times a function of lmax dtheta / pi half waves.
  const std::int64_t n_panels = ssize64(theta) - 1;
  std::vector<double> kernel(to_size(std::int64_t{lmax} + 1), 0.0);
  for (std::int64_t panel = 0; panel < n_panels; ++panel) {
    const double low = theta[to_size(panel)];
    const double width = theta[to_size(panel + 1)] - low;
    const auto n_nodes = static_cast<std::int64_t>(lmax * width / 2) + 12;
    for (const QuadratureNode& node : gauss_legendre_nodes(n_nodes)) {
      const double t = low + width * (1 + node.cos_theta) / 2;
      const double weight = std::numbers::pi * width * node.weight * std::sin(t);
      // The last node of a table may round beyond its end, where the cubic does not exist.
      add_point(t, weight * profile(std::min(t, theta.back())), kernel);
    }
  }
  return {kernel, kernel, kernel};
}

}  // namespace ringweave
