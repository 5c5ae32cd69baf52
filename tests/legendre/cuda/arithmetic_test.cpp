// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/plan/sweep_plan.hpp"
#include "legendre/cuda/sums/mode_access.hpp"
#include "legendre/cuda/sums/sweep_lanes.hpp"
#include "support/emulated_block.hpp"

// Tests the functions that are compiled for both host and device.
namespace ringweave::detail::gpu {
namespace {

template <int N>
void expect_lane_sums() {
  const EmulatedBlock block(0);
  EmulatedBlock::PerThread<Array<double, N>> values;
  EmulatedBlock::PerThread<bool> wanted;
  for (int thread = 0; thread < block_threads; ++thread) {
    wanted[thread] = thread / warp_lanes != 1;
    for (int i = 0; i < N; ++i) values[thread][i] = 1000 * i + thread;
  }
  block.sum_lanes<N>(values, wanted);
  std::vector<int> found(to_size(N), 0);
  for (int lane = 0; lane < warp_lanes; ++lane) {
    if (lane % LaneSums<N>::copies != 0) continue;
    for (int i = 0; i < LaneSums<N>::left; ++i) {
      const int sum = LaneSums<N>::first_sum(lane) + i;
      ++found[to_size(sum)];
      EXPECT_EQ(values[lane][i], 32000.0 * sum + 496) << N;
      EXPECT_EQ(values[64 + lane][i], 32000.0 * sum + 496 + 64 * 32) << N;
    }
  }
  EXPECT_EQ(found, std::vector<int>(to_size(N), 1)) << N;
}

TEST(DeviceArithmetic, EverySumOverLanesIsInOneLane) {
  expect_lane_sums<1>();
  expect_lane_sums<2>();
  expect_lane_sums<7>();
  expect_lane_sums<8>();
  expect_lane_sums<16>();
  expect_lane_sums<24>();
  expect_lane_sums<32>();
  expect_lane_sums<64>();
}

TEST(DeviceArithmetic, LanesTransposeTheirValues) {
  const EmulatedBlock block(0);
  EmulatedBlock::PerThread<Array<double, 16>> values;
  EmulatedBlock::PerThread<bool> wanted;
  const auto fill = [&] {
    for (int thread = 0; thread < block_threads; ++thread) {
      wanted[thread] = thread / warp_lanes != 1;
      for (int i = 0; i < 16; ++i) values[thread][i] = 1000 * i + thread;
    }
  };
  const auto expect = [&](int n, int stride, int first, int step) {
    for (int thread = 0; thread < block_threads; ++thread) {
      const int own = thread / stride % n;
      for (int i = 0; i < 16; ++i) {
        const int j = (i - first) / step;
        const bool moves = i >= first && (i - first) % step == 0 && j < n && wanted[thread];
        EXPECT_EQ(values[thread][i], moves
                                         ? 1000 * (first + own * step) + thread + (j - own) * stride
                                         : 1000 * i + thread);
      }
    }
  };
  fill();
  block.transpose_lanes<4, 1>(values, 1, 3, wanted);
  expect(4, 1, 1, 3);
  fill();
  block.transpose_lanes<8, 4>(values, 0, 2, wanted);
  expect(8, 4, 0, 2);
}

TEST(DeviceArithmetic, LanesMultiplyMatrices) {
  const EmulatedBlock block(0);
  EmulatedBlock::PerThread<Array<double, 2>> a;
  EmulatedBlock::PerThread<Array<double, 3>> b;
  EmulatedBlock::PerThread<Array<double, 4>> c;
  EmulatedBlock::PerThread<bool> wanted;
  const auto a_of = [](int row, int k) { return 1 + row * row + 3 * k; };
  const auto b_of = [](int k, int column) { return 2 + k - 5 * column; };
  for (int thread = 0; thread < block_threads; ++thread) {
    const int lane = thread % warp_lanes;
    wanted[thread] = thread / warp_lanes != 1;
    a[thread][1] = a_of(lane / 4, lane % 4);
    b[thread][2] = b_of(lane % 4, lane / 4);
    for (int i = 0; i < 4; ++i) c[thread][i] = lane + 100 * i;
  }
  block.multiply_add_8x8x4(a, 1, b, 2, c, 0, 3, wanted);
  for (int thread = 0; thread < block_threads; ++thread) {
    const int lane = thread % warp_lanes;
    for (const int i : {0, 3}) {
      const int column = 2 * (lane % 4) + (i == 0 ? 0 : 1);
      double expected = lane + 100 * i;
      for (int k = 0; k < 4 && wanted[thread]; ++k) expected += a_of(lane / 4, k) * b_of(k, column);
      EXPECT_EQ(c[thread][i], expected);
    }
    EXPECT_EQ(c[thread][1], lane + 100);
  }
}

TEST(DeviceArithmetic, PowersOfTheSineHaveTheirDigitsAtAnyExponent) {
  for (const double theta : {1e-4, 0.02, 0.3, 0.785, 1.2, 1.57}) {
    const long double log2 = std::log2(std::sin(static_cast<long double>(theta)));
    const double high = static_cast<double>(std::nearbyint(log2 * 65536)) / 65536;
    const double low = static_cast<double>(log2 - static_cast<long double>(high));
    for (const int power : {0, 1, 2, 100, 4000, 32768}) {
      const SinePower sine = sine_power(high, low, power);
      const long double expected = log2 * power - 800.0L * sine.scale;
      EXPECT_LE(sine.scale, 0);
      EXPECT_GE(sine.value, 0x1p-61) << theta << " " << power;
      EXPECT_NEAR(static_cast<double>(std::log2(static_cast<long double>(sine.value)) - expected),
                  0, 5e-16 * std::max(1.0, std::fabs(std::log2(sine.value))));
    }
  }
}

TEST(DeviceArithmetic, SpansCoverThePairsOnceInAVariableThatKeepsDigits) {
  for (const char* name : {"healpix:1", "healpix:37", "clenshaw:9", "gauss:2000"}) {
    const RingGrid grid = RingGrid::from_name(name);
    const SpanCutter cutter(grid);
    for (const std::int64_t first : {std::int64_t{0}, grid.n_pairs() / 3, grid.n_pairs()}) {
      std::vector<Span> spans;
      cutter.cut(first, grid.n_pairs(), 64, spans);
      std::int64_t next = first;
      for (const Span& span : spans) {
        EXPECT_EQ(span.first, next);
        EXPECT_GT(span.count, 0);
        EXPECT_LE(span.count, 64);
        for (std::int64_t i = span.first; i < span.first + span.count; ++i) {
          const double sine = grid.pairs()[to_size(i)].sin_theta;
          EXPECT_TRUE(span.variable == from_pole ? sine * sine < 0.75 : sine * sine >= 0.25);
        }
        next += span.count;
      }
      EXPECT_EQ(next, grid.n_pairs());
    }
  }
}

TEST(DeviceArithmetic, PositionsAreFoundInSegmentsAndNowhereElse) {
  const std::vector<RowSegment> segments{{{3, 5}, 100}, {{5, 6}, 7}, {{9, 12}, 50}};
  const auto position = [&](std::int64_t ring) { return position_in(segments.data(), 3, ring); };
  EXPECT_EQ(position(2), -1);
  EXPECT_EQ(position(3), 100);
  EXPECT_EQ(position(4), 101);
  EXPECT_EQ(position(5), 7);
  EXPECT_EQ(position(6), -1);
  EXPECT_EQ(position(9), 50);
  EXPECT_EQ(position(11), 52);
  EXPECT_EQ(position(12), -1);
  EXPECT_EQ(position_in(nullptr, 0, 4), -1);
}

}  // namespace
}  // namespace ringweave::detail::gpu
