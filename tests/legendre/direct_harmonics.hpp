// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <vector>

#include "ringweave/grid.hpp"

namespace ringweave::detail {

/// Computes _s lambda_lm at rings for l = 0..lmax (0 below max(m, |s|)), from Jacobi polynomials in
/// 113-bit arithmetic; _sY_lm = _s lambda_lm exp(i m phi). Any sign of `spin`; m >= 0. The factors
/// of the recurrence are computed once for all rings. A ring's position is derived from its sine
/// next to the poles, from its cosine elsewhere.
class DirectHarmonics {
 public:
  DirectHarmonics(int lmax, int m, int spin);
  DirectHarmonics(const DirectHarmonics&) = delete;
  DirectHarmonics& operator=(const DirectHarmonics&) = delete;
  ~DirectHarmonics();
  std::vector<long double> at(const Ring& ring) const;

 private:
  struct Step;  ///< polynomial of l -> of l + 1: (slope z + shift) polynomial - fall previous

  int lmax_;
  int first_;
  int a_ = 0;
  int b_ = 0;
  int sign_ = 1;
  std::vector<Step> steps_;
};

/// Real coefficients of one mode pair: Q = sum gradient E + i curl B, U = sum gradient B - i curl E
/// (HEALPix signs).
struct SpinMode {
  long double gradient;
  long double curl;
};

class DirectSpinModes {
 public:
  DirectSpinModes(int lmax, int m, int spin);
  std::vector<SpinMode> at(const Ring& ring) const;

 private:
  DirectHarmonics plus_;
  DirectHarmonics minus_;
  long double parity_;
};

}  // namespace ringweave::detail
