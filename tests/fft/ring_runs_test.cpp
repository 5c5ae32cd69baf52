// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "fft/ring_fft.hpp"
#include "fft/ring_problem.hpp"
#include "ringweave/execution.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail {
namespace {

/// Both ways of a ring FFT with runs of so many rings, each ring's pixels far from the others.
void expect_same_in_runs_of(std::int64_t most_rings, std::int64_t n_components) {
  const RingFftShape whole = dense_shape(RingGrid::fejer(19, 60), 37, n_components);
  RingFftShape shape = whole;
  shape.use = RingFftUse::runs;
  const auto modes = random_modes(whole, 3);
  const auto map = random_map(whole, 4);
  std::vector<double> wanted_map(map.size());
  auto wanted_modes = modes;
  const auto fft = make_ring_fft(whole, Backend::host);
  fft->synthesize(view(modes), map_view(whole, wanted_map));
  fft->adjoint(map_view(whole, map), {}, view(wanted_modes));

  const auto by_runs = make_ring_fft(shape, Backend::host);
  RingRuns& runs = *by_runs->runs();
  const int thread = runs.n_threads() - 1;
  std::vector<std::complex<double>> found_modes(modes.size());
  for (std::int64_t begin = 0; begin < 19; begin += most_rings) {
    const RingRange run{begin, std::min<std::int64_t>(begin + most_rings, 19)};
    constexpr std::int64_t ring_stride = 71;
    const std::int64_t component_stride = run.size() * ring_stride;
    std::vector<double> values(to_size(n_components * component_stride));
    std::vector<double*> rings;
    for (std::int64_t i = run.size() - 1; i >= 0; --i)
      rings.push_back(values.data() + i * ring_stride);
    const RunPixels pixels{rings, component_stride};
    const auto for_each_pixel = [&](const auto& use) {
      for (std::int64_t c = 0; c < n_components; ++c) {
        for (std::int64_t i = 0; i < run.size(); ++i) {
          for (std::int64_t j = 0; j < 60; ++j) {
            use(rings[to_size(i)][c * component_stride + j],
                to_size((c * 19 + run.begin + i) * 60 + j));
          }
        }
      }
    };
    runs.synthesize(thread, run, view(modes), pixels);
    for_each_pixel([&](double pixel, std::size_t i) { ASSERT_EQ(pixel, wanted_map[i]); });
    for_each_pixel([&](double& pixel, std::size_t i) { pixel = map[i]; });
    runs.adjoint(thread, run, pixels, view(found_modes));
  }
  EXPECT_EQ(found_modes, wanted_modes);
}

TEST(RingRuns, GiveBitwiseTheSameAsTheWholeMap) {
  for (const std::int64_t most_rings : {1, 5, 8, 19}) {
    for (const std::int64_t n_components : {1, 3, 8}) {
      SCOPED_TRACE(most_rings);
      expect_same_in_runs_of(most_rings, n_components);
    }
  }
}

TEST(RingRuns, AreOnlyThereIfPlanned) {
  EXPECT_EQ(make_ring_fft(dense_shape(RingGrid::fejer(9, 60), 7, 1), Backend::host)->runs(),
            nullptr);
}

TEST(RingRuns, OfOddOrAwkwardLengthsAreRefused) {
  for (const std::int64_t n_phi : {33, 34}) {
    RingFftShape shape = dense_shape(RingGrid::fejer(9, n_phi), 7, 1);
    shape.use = RingFftUse::runs;
    test::expect_error(ErrorKind::usage, "even and without prime factors above 13",
                       [&] { make_ring_fft(shape, Backend::host); });
  }
}

}  // namespace
}  // namespace ringweave::detail
