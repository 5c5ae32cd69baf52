// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <utility>
#include <vector>

#include "ringweave/grid.hpp"
#include "ringweave/kernel.hpp"
#include "support/angles.hpp"

namespace ringweave::detail::test {

inline RadialKernel gaussian(double fwhm_degrees, double error = 1e-13) {
  return RadialKernel::gaussian(fwhm_degrees * degree, KernelSupport::automatic(error));
}

inline RadialKernel top_hat(double radius_degrees) {
  const std::vector<double> theta{0, radius_degrees * degree};
  const std::vector<double> value{1, 1};
  return RadialKernel::from_profile(theta, value, KernelSupport::whole());
}

inline RadialKernel gaussian_of_spin(double fwhm_degrees, int spin) {
  return RadialKernel::gaussian(fwhm_degrees * degree, KernelSupport::automatic(1e-13), spin);
}

/// A beam that ends at a degree without falling to zero first.
inline RadialKernel sharp_beam(int lmax, double support_degrees, int spin) {
  std::vector<double> k_l;
  for (int l = 0; l <= lmax; ++l) k_l.push_back(1.0 / (1 + 0.01 * l * l));
  return RadialKernel::from_beam(k_l, KernelSupport::angle(support_degrees * degree), spin);
}

/// The same for the conjugates of fields.
inline RadialKernel of_conjugates(int lmax, double support_degrees, int spin) {
  std::vector<double> k_l;
  for (int l = 0; l <= lmax; ++l) k_l.push_back(0.3 / (1 + 0.02 * l * l));
  return RadialKernel::of_conjugate(k_l, KernelSupport::angle(support_degrees * degree), spin);
}

/// Rings that no quarter of a turn leaves as they are.
inline RingGrid odd_rings() {
  std::vector<RingSpec> rings;
  for (int i = 0; i < 10; ++i) rings.push_back({0.3 * (i + 0.5), 0, 41 + i % 3, 0.1 / (i + 1)});
  return RingGrid::from_rings(std::move(rings));
}

}  // namespace ringweave::detail::test
