// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_choice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonuniform/tap_kernel.hpp"
#include "ringweave/error.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail {
namespace {

std::int64_t without_small_factors(std::int64_t n) {
  for (const int prime : {2, 3, 5}) {
    while (n % prime == 0) n /= prime;
  }
  return n;
}

void expect_fine(const TapSize& size, std::int64_t needed) {
  EXPECT_EQ(size.length % 4, 0);
  EXPECT_EQ(without_small_factors(size.length), 1);
  EXPECT_GE(size.length, size.width);
  EXPECT_GE(static_cast<double>(size.length),
            size.oversampling * static_cast<double>(needed) * (1 - 1e-15));
}

/// Returns the error of a mode that both directions change most, and with the same sign.
double worst_error(const TapKernel& theta, const TapKernel& phi) {
  return (1 + theta.error()) * (1 + phi.error()) - 1;
}

TEST(TapChoice, MeetsEpsilonWithFittedKernels) {
  for (const std::int64_t lmax : {127, 1023, 4095}) {
    for (double epsilon = 0.1; epsilon > 0.9 * least_epsilon; epsilon /= 10) {
      const TapProblem problem{lmax, lmax, std::max(epsilon, least_epsilon),
                               3 * (lmax + 1) * (lmax + 1), 1};
      const TapChoice choice = choose_taps(problem);
      SCOPED_TRACE(testing::Message() << "lmax " << lmax << ", epsilon " << epsilon);
      const TapKernel theta(choice.theta.width, choice.theta.oversampling);
      const TapKernel phi(choice.phi.width, choice.phi.oversampling);
      EXPECT_LE(worst_error(theta, phi), choice.error);
      EXPECT_LE(choice.error, problem.epsilon);
      expect_fine(choice.theta, lmax + 1);
      expect_fine(choice.phi, 2 * lmax + 2);
    }
  }
}

TEST(TapChoice, BoundsOfErrorsAreClose) {
  for (int width = TapKernel::least_width; width <= TapKernel::most_width; ++width) {
    for (const double oversampling : {1.15, 1.32, 1.58, 1.9, 2.4}) {
      const double error = TapKernel(width, oversampling).error();
      const double bound = kernel_error_bound(width, oversampling);
      EXPECT_GE(bound, error) << width << " taps at " << oversampling;
      // Below 1e-14 rounding has a part in the error.
      EXPECT_LE(bound, 1.5 * error + 1e-14) << width << " taps at " << oversampling;
    }
  }
}

TEST(TapChoice, ManyPointsTakeFewerTapsOnMoreSamples) {
  const TapChoice few = choose_taps({1023, 1023, 1e-6, 1000, 1});
  const TapChoice many = choose_taps({1023, 1023, 1e-6, 1000000000, 1});
  EXPECT_LT(many.theta.width, few.theta.width);
  EXPECT_GT(many.theta.length, few.theta.length);
  EXPECT_LE(many.phi.width, 8);  // one vector
}

TEST(TapChoice, HasRoomForTapsAtTheLowestDegrees) {
  for (const std::int64_t lmax : {0, 1, 2, 5}) {
    for (const double epsilon : {1e-1, 1e-7, 1e-13}) {
      const TapChoice choice = choose_taps({lmax, 0, epsilon, 10, 2});
      EXPECT_LE(choice.theta.width, choice.theta.length);
      EXPECT_LE(2 * choice.phi.width, choice.phi.length);
      const TapKernel theta(choice.theta.width, choice.theta.oversampling);
      const TapKernel phi(choice.phi.width, choice.phi.oversampling);
      EXPECT_LE(worst_error(theta, phi), epsilon);
    }
  }
}

TEST(TapChoice, RefusesAnEpsilonThatRoundingHides) {
  for (const double epsilon : {0.9e-13, 0.0, -1.0, 1.0, std::numeric_limits<double>::quiet_NaN()}) {
    test::expect_error(ErrorKind::usage, "expected 1e-13 or more", [&] {
      choose_taps({127, 127, epsilon, 1000, 1});
    });
  }
}

}  // namespace
}  // namespace ringweave::detail
