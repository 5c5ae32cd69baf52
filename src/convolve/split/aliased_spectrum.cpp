// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/aliased_spectrum.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Amplitude that degree l of a white field aliases into degree l', relative to its own.
struct Share {
  double degrees;  ///< l + l' in units of nside
  double uneven;   ///< at nside 128, falls like 1 / nside: ring quadrature is not exact
  double folded;   ///< at any nside: orders beyond the rings' pixels
};
constexpr std::array<Share, 13> measured = {{{0, 3e-4, 1e-6},
                                             {2, 3e-4, 1e-6},
                                             {3, 4e-4, 1e-6},
                                             {4, 1.4e-3, 1e-5},
                                             {4.25, 1.8e-3, 1e-5},
                                             {4.5, 3e-3, 1e-4},
                                             {4.75, 8e-3, 1e-3},
                                             {5, 0.018, 0.034},
                                             {5.25, 0.018, 0.1},
                                             {5.5, 0.018, 0.16},
                                             {6, 0.018, 0.27},
                                             {7, 0.018, 0.55},
                                             {8, 0.018, 1}}};

/// Returns the square of the amplitude.
double aliased_share(double degrees, std::int64_t nside) {
  const double at = std::min(degrees, measured.back().degrees);
  const auto above = std::find_if(measured.begin() + 1, measured.end() - 1,
                                  [&](const Share& s) { return s.degrees > at; });
  const Share& a = *(above - 1);
  const Share& b = *above;
  const double part = (at - a.degrees) / (b.degrees - a.degrees);
  const double uneven =
      a.uneven * std::pow(b.uneven / a.uneven, part) * 128 / static_cast<double>(nside);
  const double folded = a.folded * std::pow(b.folded / a.folded, part);
  return uneven * uneven + folded * folded;
}

}  // namespace

std::vector<double> aliased_spectrum(std::span<const double> cl, std::int64_t nside, int last) {
  const int lmax = static_cast<int>(ssize64(cl)) - 1;
  // The share depends on l + l' alone and slowly, so neighbouring degrees are combined.
  constexpr int together = 16;
  std::vector<double> power;
  for (int l = 0; l <= lmax; ++l) {
    if (l % together == 0) power.push_back(0);
    power.back() += (2.0 * l + 1) * cl[to_size(l)];
  }
  const double n_modes = (lmax + 1.0) * (lmax + 1.0);
  std::vector<double> result;
  double value = 0;
  for (int l = lmax + 1; l <= last; ++l) {
    if ((l - lmax - 1) % together == 0) {
      value = 0;
      for (std::size_t i = 0; i < power.size(); ++i) {
        const double other = together * (static_cast<double>(i) + 0.5);
        const double degrees = (l + together / 2 + other) / static_cast<double>(nside);
        value += power[i] * aliased_share(degrees, nside) / n_modes;
      }
    }
    result.push_back(value);
  }
  return result;
}

}  // namespace ringweave::detail::inline convolve
