// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/deconvolved_rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "legendre/direct_harmonics.hpp"
#include "legendre/fine_row_problem.hpp"
#include "legendre/legendre_problem.hpp"
#include "ringweave/error.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using LongComplex = std::complex<long double>;

void expect_plain_modes(int lmax, int mmax, const std::vector<int>& spins) {
  for (const double oversampling : {1.0, 1.65}) {
    const DeconvolvedRows rows = plain_rows(rows_for(oversampling, lmax), lmax, mmax);
    const FineRowProblem fine(rows, spins);
    const LegendreProblem direct(*fine.grid, limits_for(*fine.grid, rows, spins), spins, nullptr);
    const auto alm = random_values(fine.alm_size(), 1);
    const auto values = random_values(fine.modes_size(), 2);
    const double modes = relative_error(fine.synthesize(alm), direct.synthesize(alm)).rms;
    EXPECT_LE(modes, tolerance::direct_sum) << lmax << ", spin " << spins[0];
    const double back = relative_error(fine.adjoint(values), direct.adjoint(values)).rms;
    EXPECT_LE(back, tolerance::direct_sum) << lmax << ", spin " << spins[0];
  }
}

TEST(DeconvolvedRows, WithoutFactorsTheyAreTheRingsOfTheirColatitude) {
  for (const std::vector<int>& spins : spin_batches) {
    for (const int lmax : {0, 1, 2, 5, 127}) expect_plain_modes(lmax, lmax, spins);
    expect_plain_modes(127, 84, spins);
  }
  for (const std::vector<int>& spins : {std::vector<int>{0}, {2}, {1, 0, 3}})
    expect_plain_modes(500, 499, spins);
}

/// A mode of one order on the rings of an equidistant grid, as a cosine series (even) or a sine
/// series (odd) whose terms are multiplied by factors.
class LongSeries {
 public:
  LongSeries(const std::vector<LongComplex>& samples, bool odd, std::size_t size) : odd_(odd) {
    const auto n = static_cast<long double>(samples.size());
    for (std::size_t k = 0; k < size; ++k) {
      LongComplex sum = 0;
      for (std::size_t j = 0; j < samples.size(); ++j) {
        sum += samples[j] * wave(k, pi * (static_cast<long double>(j) + 0.5L) / n);
      }
      coefficients_.push_back(sum * ((k == 0 ? 1 : 2) / n));
    }
  }
  Complex operator()(long double theta, const std::vector<double>& factors) const {
    LongComplex sum = 0;
    for (std::size_t k = 0; k < coefficients_.size(); ++k)
      sum += coefficients_[k] * (static_cast<long double>(factors[k]) * wave(k, theta));
    return Complex(sum);
  }

 private:
  static constexpr long double pi = std::numbers::pi_v<long double>;
  long double wave(std::size_t k, long double theta) const {
    const long double angle = static_cast<long double>(k) * theta;
    return odd_ ? std::sin(angle) : std::cos(angle);
  }
  bool odd_;
  std::vector<LongComplex> coefficients_;
};

/// Returns Q and U (spin 0: the value) of one order on rings, [component][ring].
std::vector<std::vector<LongComplex>> direct_modes(const LegendreProblem& problem, std::int64_t row,
                                                   const std::vector<Complex>& alm,
                                                   const RingGrid& rings) {
  const int lmax = problem.alm_layout.lmax();
  const int m = problem.alm_layout.order(row);
  const int spin = problem.fields.max_spin();
  const auto coefficient = [&](std::int64_t component, int l) {
    return LongComplex(
        alm[to_size(component * problem.alm_layout.size() + problem.alm_layout.index(row, l))]);
  };
  std::vector<std::vector<LongComplex>> values(to_size(problem.fields.n_components()));
  const DirectHarmonics scalar(lmax, m, 0);
  const DirectSpinModes spins(lmax, m, spin);
  for (const Ring& ring : rings.rings()) {
    LongComplex first = 0;
    LongComplex second = 0;
    if (spin == 0) {
      const auto lambda = scalar.at(ring);
      for (int l = m; l <= lmax; ++l) first += coefficient(0, l) * lambda[to_size(l)];
    } else {
      const LongComplex i(0, 1);
      const auto lambda = spins.at(ring);
      for (int l = m; l <= lmax; ++l) {
        const auto [gradient, curl] = lambda[to_size(l)];
        first += gradient * coefficient(0, l) + i * curl * coefficient(1, l);
        second += gradient * coefficient(1, l) - i * curl * coefficient(0, l);
      }
      values[1].push_back(second);
    }
    values[0].push_back(first);
  }
  return values;
}

TEST(DeconvolvedRows, AreTheSeriesMultipliedByTheFactors) {
  constexpr int lmax = 40;
  const RingGrid rings = RingGrid::fejer(lmax + 3);
  for (const int spin : {0, 1, 2}) {
    DeconvolvedRows rows = plain_rows(rows_for(1.65, lmax), lmax, lmax);
    for (int k = 0; k <= lmax; ++k) {
      rows.theta_factors[to_size(k)] = 1 + 0.7 * std::sin(7.0 * k);
      rows.order_factors[to_size(k)] = 2 + std::cos(5.0 * k);
    }
    const FineRowProblem problem(rows, {spin});
    const auto alm = random_values(problem.alm_size(), 4);
    std::vector<std::vector<LongSeries>> series;  // [row][component]
    for (std::int64_t row = 0; row <= lmax; ++row) {
      series.emplace_back();
      for (const auto& samples : direct_modes(problem, row, alm, rings))
        series.back().emplace_back(samples, (row + spin) % 2 != 0, lmax + 1);
    }
    std::vector<Complex> expected(to_size(problem.modes_size()));
    problem.for_each_mode([&](std::int64_t row, std::int64_t ring, std::int64_t mode) {
      const long double theta = std::numbers::pi_v<long double> *
                                (static_cast<long double>(ring) + 0.5L) /
                                static_cast<long double>(rows.n_rows);
      for (const LongSeries& component : series[to_size(row)]) {
        expected[to_size(mode++)] =
            component(theta, rows.theta_factors) * rows.order_factors[to_size(row)];
      }
    });
    const RelativeError error = relative_error(problem.synthesize(alm), expected);
    EXPECT_LE(error.rms, tolerance::direct_sum) << spin;
    EXPECT_LE(error.max, tolerance::direct_sum * tolerance::max_over_rms) << spin;
  }
}

TEST(DeconvolvedRows, TheAdjointIsTheTranspose) {
  for (const std::vector<int>& spins : spin_batches) {
    const DeconvolvedRows rows = kaiser_bessel_rows(1.65, 8, 150, 147);
    const FineRowProblem all(rows, spins);
    EXPECT_LE(adjoint_gap(all, all), 0.1 * tolerance::adjoint) << spins[0];
    const FineRowProblem some(some_rows(rows.n_rows), rows, spins);
    EXPECT_LE(adjoint_gap(some, some), 0.1 * tolerance::adjoint) << spins[0];
  }
}

TEST(DeconvolvedRows, ASubsetOfThemIsAsAmongAll) {
  const DeconvolvedRows rows = kaiser_bessel_rows(1.5, 8, 150, 147);
  for (const std::vector<int>& spins : spin_batches) {
    const FineRowProblem all(rows, spins);
    const FineRowProblem some(some_rows(rows.n_rows), rows, spins);
    // [mode of the subset] its place among all
    std::vector<std::size_t> places(to_size(some.modes_size()));
    const auto rows_of_rings = rows.rows_of(*some.grid);
    some.for_each_mode([&](std::int64_t order, std::int64_t ring, std::int64_t mode) {
      const RowSegment& segment = all.rows.segments(all.rows.rows()[to_size(order)])[0];
      const std::int64_t row = rows_of_rings[to_size(ring)];
      ASSERT_TRUE(segment.rings.contains(row));
      const std::int64_t n = all.fields.n_components();
      for (std::int64_t c = 0; c < n; ++c)
        places[to_size(mode + c)] = to_size((segment.first + row - segment.rings.begin) * n + c);
    });
    const auto alm = random_values(all.alm_size(), 7);
    const auto values = random_values(some.modes_size(), 8);
    const auto whole = all.synthesize(alm);
    const auto part = some.synthesize(alm);
    std::vector<Complex> scattered(whole.size());
    for (std::size_t i = 0; i < part.size(); ++i) {
      ASSERT_EQ(part[i], whole[places[i]]) << i;
      scattered[places[i]] = values[i];
    }
    EXPECT_EQ(some.adjoint(values), all.adjoint(scattered));
  }
}

TEST(DeconvolvedRows, ThreadCountsGiveTheSameBits) {
  const int before = omp_get_max_threads();
  const DeconvolvedRows rows = kaiser_bessel_rows(1.65, 8, 120, 120);
  std::vector<Complex> modes_of_one;
  std::vector<Complex> alm_of_one;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    const FineRowProblem problem(rows, {0, 2, 0});
    const auto modes = problem.synthesize(random_values(problem.alm_size(), 9));
    const auto alm = problem.adjoint(random_values(problem.modes_size(), 10));
    if (threads == 1) {
      modes_of_one = modes;
      alm_of_one = alm;
    }
    EXPECT_EQ(modes, modes_of_one) << threads;
    EXPECT_EQ(alm, alm_of_one) << threads;
  }
  omp_set_num_threads(before);
}

TEST(DeconvolvedRows, CoefficientsMayBeStoredAsFloat) {
  const FineRowProblem problem(kaiser_bessel_rows(1.65, 8, 127, 100), {0, 2});
  const auto wide = random_values(problem.alm_size(), 11);
  const std::vector<std::complex<float>> narrow(wide.begin(), wide.end());
  EXPECT_EQ(problem.synthesize(narrow),
            problem.synthesize(std::vector<Complex>(narrow.begin(), narrow.end())));
  const auto modes = random_values(problem.modes_size(), 12);
  std::vector<std::complex<float>> alm(narrow.size());
  problem.adjoint(modes, alm, Accumulate::overwrite);
  EXPECT_LE(relative_error({alm.begin(), alm.end()}, problem.adjoint(modes)).rms,
            tolerance::single_storage);
}

TEST(DeconvolvedRows, NothingIsAllocatedByATransform) {
  const std::int64_t before = MemoryMeter::current_bytes();
  const FineRowProblem problem(kaiser_bessel_rows(1.65, 8, 40, 40), {0, 2});
  const std::int64_t planned = MemoryMeter::current_bytes();
  EXPECT_GE(problem.stage->bytes(), planned - before);
  auto alm = random_values(problem.alm_size(), 13);
  MemoryMeter::reset_high_water();
  const auto modes = problem.synthesize(alm);
  problem.adjoint(modes, alm, Accumulate::add);
  EXPECT_EQ(MemoryMeter::high_water_bytes(), planned);
}

/// Expects that what the limits leave out is below the rounding of the rows, which grows by the
/// factor of the highest degree.
void expect_little_left_out(double oversampling, int taps, int lmax, int spin) {
  const DeconvolvedRows rows = kaiser_bessel_rows(oversampling, taps, lmax, lmax);
  const RingGrid grid = RingGrid::fejer(rows.n_rows);
  // With a spin of lmax every ring keeps all orders.
  const ModeLimits all(grid, lmax, lmax, lmax);
  const ModeLimits limits = limits_for(grid, rows, {spin});
  const LegendreProblem problem(grid, all, {spin}, std::make_shared<const DeconvolvedRows>(rows));
  const auto modes = problem.synthesize(random_values(problem.alm_size(), 14));
  double largest = 0;
  long double power = 0;
  for (const Complex& mode : modes) power += std::norm(mode);
  problem.for_each_mode([&](std::int64_t m, std::int64_t ring, std::int64_t mode) {
    if (m > limits.m_limit(RingId{ring}))
      largest = std::max(largest, std::abs(modes[to_size(mode)]));
  });
  const double rms = static_cast<double>(std::sqrt(power / static_cast<long double>(modes.size())));
  const double sharpening = rows.theta_factors.back() / rows.theta_factors.front();
  EXPECT_LE(largest, rms * std::max(1e-13, 3e-15 * sharpening))
      << "lmax " << lmax << ", " << taps << " taps, " << oversampling << ", spin " << spin;
}

TEST(DeconvolvedRows, ModesLeftOutAreBelowRounding) {
  for (const int taps : {4, 8, 16}) {
    for (const double oversampling : {1.25, 1.35, 1.65, 2.0}) {
      for (const int spin : {0, 2}) {
        for (const int lmax : {64, 255}) expect_little_left_out(oversampling, taps, lmax, spin);
      }
    }
    for (const double oversampling : {1.35, 1.65})
      expect_little_left_out(oversampling, taps, 1023, 0);
  }
  expect_little_left_out(1.25, 16, 1023, 0);
  expect_little_left_out(1.65, 16, 1023, 2);
}

TEST(DeconvolvedRows, WhatDoesNotFitIsAUsageError) {
  const RingGrid grid = RingGrid::fejer(16);
  const DeconvolvedRows rows = plain_rows(16, 8, 8);
  const auto make = [&](const DeconvolvedRows& changed, const RingGrid& on) {
    const LegendreProblem problem(on, ModeLimits(on, 8, 8, 0), {0},
                                  std::make_shared<const DeconvolvedRows>(changed));
  };
  make(rows, grid);
  for (const std::int64_t n_rows : {-4, 0, 8, 18, 44}) {
    DeconvolvedRows changed = rows;
    changed.n_rows = n_rows;
    EXPECT_THAT([&] { make(changed, RingGrid::fejer(std::max<std::int64_t>(n_rows, 1))); },
                ThrowsMessage<UsageError>(HasSubstr("expected a multiple of 4 above lmax")))
        << n_rows;
  }
  DeconvolvedRows changed = rows;
  changed.theta_factors.pop_back();
  EXPECT_THAT([&] { make(changed, grid); },
              ThrowsMessage<UsageError>(HasSubstr("8 factors in theta and 9 of orders")));
  EXPECT_THAT([&] { make(rows, RingGrid::fejer(20)); },
              ThrowsMessage<UsageError>(HasSubstr("expected rings of fejer:16")));
  EXPECT_THAT([&] { make(rows, RingGrid::healpix(2)); },
              ThrowsMessage<UsageError>(HasSubstr("ring 0 of healpix:2")));
}

}  // namespace
}  // namespace ringweave::detail
