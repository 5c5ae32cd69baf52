// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_kernel.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/bessel.hpp>
#include <boost/math/special_functions/legendre.hpp>
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "nonuniform/tap_choice.hpp"
#include "nonuniform/tap_values.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"
#include "support/expect_error.hpp"
#include "support/only_target.hpp"

namespace ringweave::detail {
namespace {

using Long = long double;

/// Returns offsets that fill -1..1 evenly, but for the ends.
std::vector<double> even_offsets(int n) {
  std::vector<double> offsets;
  for (int k = 0; k < n; ++k) offsets.push_back((2 * k + 1.0) / n - 1);
  return offsets;
}

TEST(TapKernel, ErrorsAreThoseOfTheTable) {
  struct Row {
    int width;
    std::array<double, 6> errors;
  };
  constexpr std::array oversamplings{1.25, 1.35, 1.5, 1.65, 1.75, 2.0};
  // docs/nonuniform.md has the same.
  for (const auto& [width, errors] : {
           Row{4, {1.0e-2, 6.1e-3, 3.4e-3, 2.0e-3, 1.5e-3, 9.1e-4}},
           Row{6, {7.9e-4, 2.8e-4, 7.6e-5, 3.2e-5, 2.1e-5, 9.3e-6}},
           Row{8, {3.7e-5, 9.9e-6, 2.1e-6, 7.4e-7, 3.9e-7, 1.3e-7}},
           Row{10, {2.5e-6, 4.4e-7, 6.4e-8, 1.6e-8, 7.6e-9, 1.7e-9}},
           Row{12, {1.7e-7, 2.1e-8, 1.9e-9, 3.3e-10, 1.3e-10, 1.9e-11}},
           Row{14, {1.1e-8, 9.1e-10, 5.4e-11, 7.4e-12, 1.9e-12, 2.5e-13}},
           Row{16, {8.1e-10, 3.9e-11, 1.8e-12, 1.3e-13, 3.9e-14, 3.2e-15}},
       }) {
    for (std::size_t k = 0; k < errors.size(); ++k) {
      const double error = TapKernel(width, oversamplings[k]).error();
      EXPECT_NEAR(error / errors[k], 1, 0.15) << width << " taps at " << oversamplings[k];
    }
  }
}

TEST(TapKernel, PolynomialsAreTheShape) {
  for (int width = TapKernel::least_width; width <= TapKernel::most_width; ++width) {
    const TapKernel kernel(width, width % 2 == 0 ? 1.5 : 2.0);
    const TapShape& shape = kernel.shape();
    double worst = 0;
    for (const double offset : even_offsets(40)) {
      for (int i = 0; i < width; ++i) {
        const Long x = 2 * (static_cast<Long>(i) - width / Long(2) + (1 + offset) / 2) / width;
        Long value = boost::math::cyl_bessel_i(0, shape.b * std::sqrt(1 - x * x)) /
                     boost::math::cyl_bessel_i(0, shape.b);
        Long factor = 1;
        for (int j = 0; j < TapShape::n_corrections; ++j)
          factor += shape.corrections[to_size(j)] * boost::math::legendre_p(2 * j + 2, x);
        value *= factor;
        const double tap = tap_value(kernel.polynomials(), i, offset);
        worst = std::max(worst, static_cast<double>(std::abs(tap - value)));
      }
    }
    EXPECT_LE(worst, kernel.error() / 30 + 4e-16) << width;
    EXPECT_LE(kernel.degree(), width + 2);
  }
}

TEST(TapKernel, TransformIsTheIntegralOverTheTaps) {
  for (const int width : {3, 4, 7, 8, 11, 16}) {
    const TapKernel kernel(width, 1.4);
    for (const double part : {0.0, 0.1, 0.5, 0.83, 0.99, 1.0}) {
      const double frequency = part * 0.5 / kernel.oversampling();
      Long sum = 0;
      for (int i = 0; i < width; ++i) {
        sum += boost::math::quadrature::gauss<Long, 30>::integrate(
            [&](Long x) {
              const Long t = static_cast<Long>(i) - width / Long(2) + (1 + x) / 2;
              return tap_value(kernel.polynomials(), i, static_cast<double>(x)) *
                     std::cos(2 * std::numbers::pi_v<Long> * static_cast<Long>(frequency) * t) / 2;
            },
            Long(-1), Long(1));
      }
      const double h = kernel.transform(frequency);
      EXPECT_NEAR(h, static_cast<double>(sum), 1e-15 * h + 1e-16 * kernel.transform(0))
          << width << " taps, " << part << " of the band";
    }
  }
}

/// Returns the largest error of exp(2 pi i k u) from the values at n samples, for points u that
/// fill the period evenly.
double error_of_mode(const TapKernel& kernel, std::int64_t n, std::int64_t k) {
  const int width = kernel.width();
  constexpr int n_points = 400;
  const auto turn = [&](Long samples) {
    return std::polar(Long(1), 2 * std::numbers::pi_v<Long> * static_cast<Long>(k) * samples /
                                   static_cast<Long>(n));
  };
  const Long h = kernel.transform(static_cast<double>(k) / static_cast<double>(n));
  Long worst = 0;
  for (int p = 0; p < n_points; ++p) {
    const Long u =
        std::fmod(static_cast<Long>(p) * std::numbers::phi_v<Long>, Long(1)) * static_cast<Long>(n);
    const Long first = std::ceil(u - width / Long(2));
    const auto offset = static_cast<double>(2 * (first - (u - width / Long(2))) - 1);
    std::complex<Long> value = 0;
    for (int i = 0; i < width; ++i)
      value += turn(first + i) * static_cast<Long>(tap_value(kernel.polynomials(), i, offset));
    worst = std::max(worst, std::abs(value / h - turn(u)));
  }
  return static_cast<double>(worst);
}

TEST(TapKernel, ErrorsOfModesAreThePredictedOnes) {
  constexpr std::int64_t lmax = 1023;
  for (double epsilon = 1e-1; epsilon > 0.9 * least_epsilon; epsilon /= 10) {
    const TapChoice choice =
        choose_taps({lmax, lmax, std::max(epsilon, least_epsilon), 3 * lmax * lmax, 1});
    // The circle through both poles has twice the samples from pole to pole.
    for (const auto& [size, n] : {std::pair{choice.theta, 2 * choice.theta.length},
                                  std::pair{choice.phi, choice.phi.length}}) {
      const TapKernel kernel(size.width, size.oversampling);
      double worst = 0;
      for (const std::int64_t k : {0, 90, 700, 930, 1000, 1017, 1023}) {
        const double error = error_of_mode(kernel, n, k);
        const double predicted = kernel.error(static_cast<double>(k) / static_cast<double>(n));
        EXPECT_NEAR(error, predicted, 0.3 * predicted + 1e-15) << "k " << k << ", " << epsilon;
        worst = std::max(worst, error);
      }
      std::printf("epsilon %.0e: %2d taps, oversampling %.2f, error predicted %.1e, found %.1e\n",
                  epsilon, size.width, size.oversampling, kernel.error(), worst);
      EXPECT_LE(worst, 1.05 * kernel.error());
      EXPECT_GE(worst, 0.5 * kernel.error());
    }
  }
}

TEST(TapKernel, VectorsOfTapsAreTheTapsOnEveryInstructionSet) {
  const std::vector<double> offsets = even_offsets(21);
  for (int width = TapKernel::least_width; width <= TapKernel::most_width; ++width) {
    const TapKernel kernel(width, 1.6);
    const TapPolynomials taps = kernel.polynomials();
    ASSERT_GE(taps.padded_width(), width);
    ASSERT_EQ(taps.padded_width() % 8, 0);
    std::int64_t runnable = hwy::SupportedTargets();
    for (; runnable != 0; runnable &= runnable - 1) {
      const test::OnlyTarget scope(runnable & -runnable);
      HostBuffer<double> values(ssize64(offsets) * taps.padded_width());
      fill_taps(taps, offsets.data(), ssize64(offsets), values.data());
      double worst = 0;
      for (std::int64_t k = 0; k < ssize64(offsets); ++k) {
        for (int i = 0; i < taps.padded_width(); ++i) {
          const double expected = i < width ? tap_value(taps, i, offsets[to_size(k)]) : 0;
          worst = std::max(worst, std::abs(values[k * taps.padded_width() + i] - expected));
        }
      }
      EXPECT_LE(worst, 5e-16) << width << " taps, " << hwy::TargetName(runnable & -runnable);
    }
  }
}

TEST(TapKernel, RefusesWhatItHasNoTapsFor) {
  test::expect_error(ErrorKind::internal, "3 to 16", [] { TapKernel(2, 1.5); });
  test::expect_error(ErrorKind::internal, "3 to 16", [] { TapKernel(17, 1.5); });
  test::expect_error(ErrorKind::internal, "above 1", [] { TapKernel(8, 1.0); });
}

}  // namespace
}  // namespace ringweave::detail
