// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "ringweave/error.hpp"
#include "ringweave/kernel.hpp"
#include "sphere/kernel/kernel_shape.hpp"

namespace ringweave {

using namespace detail;

KernelSupport KernelSupport::angle(double theta_cut) {
  if (!(theta_cut > 0 && theta_cut <= std::numbers::pi)) {
    throw UsageError(fmt::format(
        "a kernel's support of {} rad; expected more than 0, at most pi (180 degrees)", theta_cut));
  }
  KernelSupport support;
  support.theta_cut_ = theta_cut;
  return support;
}

KernelSupport KernelSupport::whole() { return angle(std::numbers::pi); }

KernelSupport KernelSupport::automatic(double error) {
  if (!(error >= least_error && error < 1)) {
    throw UsageError(fmt::format(
        "a kernel's support to an error of {}; expected {} (below that all is rounding) "
        "or more, and less than 1",
        error, least_error));
  }
  KernelSupport support;
  support.error_ = error;
  return support;
}

KernelSupport KernelSupport::automatic(double error, std::span<const double> cl) {
  KernelSupport support = automatic(error);
  require_spectrum(cl);
  support.cl_.assign(cl.begin(), cl.end());
  return support;
}

void detail::require_spectrum(std::span<const double> cl) {
  for (std::size_t l = 0; l < cl.size(); ++l) {
    if (std::isfinite(cl[l]) && cl[l] >= 0) continue;
    throw UsageError(fmt::format(
        "the spectrum a kernel is cut for has C_{} = {}; expected numbers of 0 or more", l, cl[l]));
  }
  if (std::all_of(cl.begin(), cl.end(), [](double c) { return c == 0; })) {
    throw UsageError("the spectrum a kernel is cut for is zero everywhere; give that of the maps");
  }
}

}  // namespace ringweave
