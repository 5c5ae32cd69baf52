// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/row_fft.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/ring/host/row_transform.hpp"
#include "ringweave/views.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

// Even and odd, with and without a class halfway, more classes than lanes and fewer.
const std::vector<RowFft> ffts{{8, 2},   {8, 8},   {12, 3},   {15, 5},    {14, 7},
                               {45, 15}, {60, 4},  {128, 32}, {150, 6},   {262, 2},
                               {360, 9}, {512, 8}, {1024, 8}, {2048, 64}, {1000, 125}};

TEST(RowFft, BlocksHaveEveryOrderOnce) {
  for (const RowFft& fft : ffts) {
    const std::int64_t nyquist = fft.samples / 2;
    std::vector<int> count(to_size(nyquist + 1), 0);
    for (const OrderBlock& block : order_blocks(fft, static_cast<int>(nyquist))) {
      EXPECT_GE(static_cast<std::int64_t>(block.sets.size()), block.n_by_fft);
      for (const OrderSet& set : block.sets) {
        for (std::int64_t lane = set.begin; lane < set.end; ++lane) {
          const std::int64_t m = set.first + lane * set.step;
          ASSERT_TRUE(m >= set.lowest() && m <= nyquist) << fft.samples << " " << fft.points;
          ++count[to_size(m)];
        }
      }
    }
    for (const int times : count) EXPECT_EQ(times, 1) << fft.samples << " " << fft.points;
  }
}

double cosine_sum(const std::vector<double>& samples, std::int64_t pair, std::int64_t m,
                  std::int64_t half, std::int64_t around) {
  double sum = 0;
  for (std::int64_t j = 0; j * mode_sum::pairs < static_cast<std::int64_t>(samples.size()); ++j) {
    const std::int64_t k = m * (2 * j + half) % (2 * around);
    sum += samples[to_size(j * mode_sum::pairs + pair)] *
           std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(around));
  }
  return sum;
}

void expect_sums(const RowFft& fft, std::int64_t n_samples, std::int64_t half) {
  const RowTransform transform(fft);
  std::vector<double> samples;
  for (std::int64_t i = 0; i < n_samples * mode_sum::pairs; ++i)
    samples.push_back(std::sin(0.7 * static_cast<double>(i * i % 101)));
  HostBuffer<double> factors(n_samples * RowTransform::factor_size);
  HostBuffer<double> scratch(transform.scratch_size());
  HostBuffer<double> rows(fft.points * RowTransform::set_size);
  const mode_sum::Tile tile{0, 0, 1, n_samples, samples.data()};
  const double bound = tolerance::round_trip * static_cast<double>(n_samples);
  for (const OrderBlock& block : order_blocks(fft, static_cast<int>(fft.samples / 2))) {
    for (std::int64_t j = 0; j < n_samples; ++j)
      transform.find_factors(block.first_class, j, half,
                             factors.data() + j * RowTransform::factor_size);
    transform.run(tile, half != 0, factors.data(), scratch.data(), rows.data());
    for (std::int64_t k = 0; k < block.n_by_fft; ++k) {
      const OrderSet& set = block.sets[to_size(k)];
      for (std::int64_t lane = set.begin; lane < set.end; ++lane) {
        const std::int64_t m = set.first + lane * set.step;
        for (std::int64_t p = 0; p < mode_sum::pairs; ++p) {
          const double found = rows[k * RowTransform::set_size + p * mode_sum::orders + lane];
          ASSERT_NEAR(found, cosine_sum(samples, p, m, half, fft.samples), bound)
              << fft.samples << " " << fft.points << " order " << m << " pair " << p;
        }
      }
    }
  }
}

TEST(RowFft, RowsAreSumsOfSamplesTimesCosines) {
  for (const RowFft& fft : ffts) {
    for (const std::int64_t half : {0, 1}) {
      expect_sums(fft, 1, half);
      expect_sums(fft, std::min<std::int64_t>(5, fft.samples / 2), half);
      expect_sums(fft, fft.samples / 2, half);
    }
  }
}

TEST(RowFft, WideKernelsTakeLongerFfts) {
  const ConvolutionRates rates;
  const std::vector<std::int64_t> allowed{8192};
  const RowFft narrow = fastest_row_fft(rates, allowed, 0.01, 256);
  const RowFft wide = fastest_row_fft(rates, allowed, 0.5, 256);
  EXPECT_LT(narrow.points, wide.points);
  EXPECT_EQ(fastest_row_fft(rates, allowed, 0.5, 16).points, 16);
  EXPECT_FALSE(fastest_row_fft(rates, std::vector<std::int64_t>{8191}, 0.1, 256).exists());
}

}  // namespace
}  // namespace ringweave::detail::test
