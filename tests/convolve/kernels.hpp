// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

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

}  // namespace ringweave::detail::test
