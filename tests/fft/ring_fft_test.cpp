// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/ring_fft.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "base/mode_view.hpp"
#include "fft/ring_problem.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail {
namespace {

void expect_close(const Difference& difference) {
  EXPECT_LE(difference.rms, tolerance::direct_sum);
  EXPECT_LE(difference.max, tolerance::direct_sum * tolerance::max_over_rms);
}

/// Compares operations on spectra with the same operations via pixels.
void expect_spectra_stand_for_pixels(RingFft& fft, const RingFftShape& shape) {
  const auto modes = random_modes(shape, 17);
  const auto pixels = random_map(shape, 18);
  std::vector<double> weights(to_size(shape.rings.n_rings()));
  for (std::size_t r = 0; r < weights.size(); ++r)
    weights[r] = 0.5 + 0.1 * static_cast<double>(r % 7);
  RingSpectra& of_rings = *fft.spectra();
  auto spectra = pixels;
  of_rings.from_pixels(map_view(shape, spectra));

  auto wanted = modes;
  auto found = modes;
  fft.adjoint(map_view(shape, pixels), weights, view(wanted));
  of_rings.apply(SpectrumOperator::adjoint_of_map, map_view(shape, std::as_const(spectra)), weights,
                 view(found));
  expect_close(difference(found, wanted));

  std::vector<double> map(pixels.size());
  fft.synthesize(view(modes), map_view(shape, map));
  wanted = found = modes;
  fft.adjoint(map_view(shape, map), weights, view(wanted));
  of_rings.apply(SpectrumOperator::adjoint_of_synthesis, {}, weights, view(found));
  expect_close(difference(found, wanted));

  double squares = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    map[i] = pixels[i] - map[i];
    squares += map[i] * map[i];
  }
  wanted = found = modes;
  fft.adjoint(map_view(shape, map), weights, view(wanted));
  const double found_squares =
      of_rings.apply(SpectrumOperator::adjoint_of_residual, map_view(shape, std::as_const(spectra)),
                     weights, view(found));
  expect_close(difference(found, wanted));
  EXPECT_NEAR(found_squares, squares, tolerance::direct_sum * squares);
}

void expect_matches_direct_sums(const RingFftShape& shape) {
  const auto fft = make_ring_fft(shape, Backend::host);
  const auto modes = random_modes(shape, 1);
  std::vector<double> map(to_size(shape.n_components * shape.rings.n_pixels()), -77.0);
  fft->synthesize(view(modes), map_view(shape, map));
  expect_close(difference(map, direct_synthesis(shape, modes)));

  const auto pixels = random_map(shape, 2);
  std::vector<std::complex<double>> found(modes.size(), {5, 7});
  auto wanted = found;
  fft->adjoint(map_view(shape, pixels), {}, view(found));
  direct_adjoint(shape, pixels, wanted);
  expect_close(difference(found, wanted));
  expect_spectra_stand_for_pixels(*fft, shape);
}

double adjoint_gap(const RingFftShape& shape) {
  const auto fft = make_ring_fft(shape, Backend::host);
  const auto modes = random_modes(shape, 3);
  const auto pixels = random_map(shape, 4);
  std::vector<double> map(pixels.size());
  std::vector<std::complex<double>> back(modes.size());
  fft->synthesize(view(modes), map_view(shape, map));
  fft->adjoint(map_view(shape, pixels), {}, view(back));
  return adjoint_gap(shape, modes, map, pixels, back);
}

class OnRingsOfLength : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(OnRingsOfLength, BothDirectionsMatchDirectSumsWithModesFarAboveNyquist) {
  const std::int64_t n = GetParam();
  expect_matches_direct_sums(
      dense_shape(two_rings(n), static_cast<int>(n < 1000 ? 3 * n + 5 : n + 9), 1));
}

TEST_P(OnRingsOfLength, BothDirectionsMatchDirectSumsWithModesBelowNyquist) {
  const std::int64_t n = GetParam();
  expect_matches_direct_sums(dense_shape(two_rings(n), static_cast<int>(n / 3), 2));
}

INSTANTIATE_TEST_SUITE_P(SmallSmoothPrimeAndAwkward, OnRingsOfLength,
                         ::testing::Values(1, 2, 3, 4, 5, 6, 7, 8, 12, 20, 28, 31, 32, 33, 37, 44,
                                           64, 68, 74, 86, 92, 94, 101, 106, 188, 202, 323, 404,
                                           430, 437, 646, 1020, 1021, 2021, 2042, 2444, 2632, 2914,
                                           4084));

class OnHealpix : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(OnHealpix, BothDirectionsMatchDirectSumsUpToTheUsualBandLimit) {
  expect_matches_direct_sums(
      dense_shape(RingGrid::healpix(GetParam()), static_cast<int>(3 * GetParam() - 1), 1));
}

TEST_P(OnHealpix, BothDirectionsMatchDirectSumsWhereTheEquatorFoldsToo) {
  expect_matches_direct_sums(
      dense_shape(RingGrid::healpix(GetParam()), static_cast<int>(4 * GetParam() + 3), 3));
}

TEST_P(OnHealpix, AdjointIsTheExactTranspose) {
  EXPECT_LE(
      adjoint_gap(dense_shape(RingGrid::healpix(GetParam()), static_cast<int>(5 * GetParam()), 2)),
      tolerance::adjoint);
}

INSTANTIATE_TEST_SUITE_P(Nside, OnHealpix, ::testing::Values(1, 2, 3, 4, 16, 45));

TEST(RingFft, AdjointIsTheExactTransposeOnAwkwardRings) {
  for (const std::int64_t n : {1, 2, 3, 74, 101, 404, 1021}) {
    EXPECT_LE(adjoint_gap(dense_shape(two_rings(n), static_cast<int>(2 * n + 1), 1)),
              tolerance::adjoint)
        << n;
  }
}

/// Ten rings of n pixels, all but two at different offsets.
RingGrid ten_rings(std::int64_t n) {
  std::vector<RingSpec> rings;
  for (int i = 0; i < 10; ++i) {
    rings.push_back({(i + 0.5) * std::numbers::pi / 10, i % 5 == 0 ? 0.0 : 0.2 + 0.3 * i, n, 0});
  }
  return RingGrid::from_rings(rings);
}

class OnManyRingsOfLength : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(OnManyRingsOfLength, BothDirectionsMatchDirectSumsWithModesAboveNyquist) {
  const std::int64_t n = GetParam();
  for (const std::int64_t n_components : {1, 3})
    expect_matches_direct_sums(dense_shape(ten_rings(n), static_cast<int>(n + 5), n_components));
}

TEST_P(OnManyRingsOfLength, BothDirectionsMatchDirectSumsWithModesBelowNyquist) {
  expect_matches_direct_sums(
      dense_shape(ten_rings(GetParam()), static_cast<int>(GetParam() / 3), 9));
}

TEST_P(OnManyRingsOfLength, AdjointIsTheExactTranspose) {
  const std::int64_t n = GetParam();
  EXPECT_LE(adjoint_gap(dense_shape(ten_rings(n), static_cast<int>(3 * n), 1)), tolerance::adjoint);
}

INSTANTIATE_TEST_SUITE_P(EveryRadixAndSome, OnManyRingsOfLength,
                         ::testing::Values(1, 2, 4, 6, 9, 10, 14, 16, 22, 26, 32, 34, 98, 286, 420,
                                           512));

void expect_bands_as_in_the_whole_map(std::span<const RingRange> bands) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(16));
  const RingFftShape whole = dense_shape(RingGrid::healpix(16), 70, 1);
  const auto modes = random_modes(whole, 14);
  std::vector<double> map(to_size(whole.rings.n_pixels()));
  make_ring_fft(whole, Backend::host)->synthesize(view(modes), map_view(whole, map));

  RingFftShape band{LocalRings(grid, bands), {}, 1};
  std::vector<std::complex<double>> part;
  for (int m = 0; m <= 70; ++m) {
    band.rows.begin_row(m);
    for (const RingRange& rings : bands) {
      band.rows.add_segment(rings, ssize64(part));
      const auto row = modes.begin() + m * grid->n_rings();
      part.insert(part.end(), row + rings.begin, row + rings.end);
    }
  }
  band.rows.set_size(ssize64(part));
  std::vector<double> pixels(to_size(band.rings.n_pixels()));
  make_ring_fft(band, Backend::host)->synthesize(view(part), map_view(band, pixels));
  for (const PixelSlab& slab : band.rings.slabs()) {
    const auto wanted = map.begin() + slab.first_global;
    EXPECT_TRUE(std::equal(wanted, wanted + slab.count, pixels.begin() + slab.first_local));
  }
}

TEST(RingFft, BandsOfRingsGiveBitwiseTheSameAsTheWholeMap) {
  // Of 63 rings 15 are in either cap; numbers that fill no vector.
  using Bands = std::vector<RingRange>;
  expect_bands_as_in_the_whole_map(Bands{{11, 22}, {41, 52}});                    // cap and belt
  expect_bands_as_in_the_whole_map(Bands{{2, 9}, {17, 28}, {35, 46}, {54, 61}});  // apart
  expect_bands_as_in_the_whole_map(Bands{{3, 12}, {26, 37}, {51, 60}});  // over the equator
  expect_bands_as_in_the_whole_map(Bands{{0, 7}, {12, 13}, {55, 58}});   // without mirrors
}

TEST(RingFft, BatchGivesBitwiseTheSameAsOneComponentAtATime) {
  const RingFftShape batch = dense_shape(RingGrid::healpix(8), 40, 3);
  const RingFftShape single = dense_shape(RingGrid::healpix(8), 40, 1);
  const auto modes = random_modes(batch, 5);
  std::vector<double> map(to_size(3 * batch.rings.n_pixels()));
  make_ring_fft(batch, Backend::host)->synthesize(view(modes), map_view(batch, map));
  const auto one = make_ring_fft(single, Backend::host);
  for (std::size_t c = 0; c < 3; ++c) {
    std::vector<std::complex<double>> part(modes.size() / 3);
    for (std::size_t i = 0; i < part.size(); ++i) part[i] = modes[3 * i + c];
    std::vector<double> pixels(map.size() / 3);
    one->synthesize(view(part), map_view(single, pixels));
    EXPECT_TRUE(std::equal(pixels.begin(), pixels.end(),
                           map.begin() + static_cast<std::ptrdiff_t>(c * pixels.size())));
  }
}

TEST(RingFft, BatchGivesBitwiseTheSameWhereColumnsOfSeveralLengthsShareVectors) {
  // Around 53, 59, 61, 67, ...: awkward lengths with one length of the convolution.
  std::vector<RingSpec> rings;
  for (int i = 0; i < 24; ++i)
    rings.push_back({(i + 0.5) * std::numbers::pi / 24, 0.1 * i, 106 + 2 * i, 0});
  const RingFftShape batch = dense_shape(RingGrid::from_rings(rings), 90, 5);
  const RingFftShape single = dense_shape(RingGrid::from_rings(rings), 90, 1);
  expect_matches_direct_sums(batch);
  const auto pixels = random_map(batch, 15);
  std::vector<std::complex<double>> all(to_size(batch.rows.size() * 5));
  make_ring_fft(batch, Backend::host)->adjoint(map_view(batch, pixels), {}, view(all));
  const auto one = make_ring_fft(single, Backend::host);
  for (std::size_t c = 0; c < 5; ++c) {
    const auto first = pixels.begin() + static_cast<std::ptrdiff_t>(c * pixels.size() / 5);
    const std::vector<double> part(first, first + static_cast<std::ptrdiff_t>(pixels.size() / 5));
    std::vector<std::complex<double>> modes(all.size() / 5);
    one->adjoint(map_view(single, part), {}, view(modes));
    for (std::size_t i = 0; i < modes.size(); ++i) EXPECT_EQ(modes[i], all[5 * i + c]);
  }
}

TEST(RingFft, FloatMapsAgreeToSinglePrecisionInBothDirections) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(16), 70, 2);
  const auto fft = make_ring_fft(shape, Backend::host);
  const auto modes = random_modes(shape, 6);
  std::vector<double> map(to_size(2 * shape.rings.n_pixels()));
  std::vector<float> map_float(map.size());
  fft->synthesize(view(modes), map_view(shape, map));
  fft->synthesize(view(modes), map_view(shape, map_float));
  EXPECT_LE(difference(map_float, map).rms, tolerance::single_storage);

  const std::vector<double> widened(map_float.begin(), map_float.end());
  std::vector<std::complex<double>> from_float(modes.size());
  std::vector<std::complex<double>> from_double(modes.size());
  fft->adjoint(map_view(shape, map_float), {}, view(from_float));
  fft->adjoint(map_view(shape, widened), {}, view(from_double));
  EXPECT_EQ(from_float, from_double);

  auto spectra = map;
  auto spectra_float = map_float;
  fft->spectra()->from_pixels(map_view(shape, spectra));
  fft->spectra()->from_pixels(map_view(shape, spectra_float));
  EXPECT_LE(difference(spectra_float, spectra).rms, tolerance::single_storage);
  const std::vector<double> widened_spectra(spectra_float.begin(), spectra_float.end());
  from_float = from_double = random_modes(shape, 20);
  const double squares_float =
      fft->spectra()->apply(SpectrumOperator::adjoint_of_residual,
                            map_view(shape, std::as_const(spectra_float)), {}, view(from_float));
  EXPECT_EQ(squares_float,
            fft->spectra()->apply(SpectrumOperator::adjoint_of_residual,
                                  map_view(shape, widened_spectra), {}, view(from_double)));
  EXPECT_EQ(from_float, from_double);
}

TEST(RingFft, MapsThatFftwCannotReachAlignedGiveTheSame) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(16), 50, 1);
  const auto fft = make_ring_fft(shape, Backend::host);
  const auto modes = random_modes(shape, 7);
  const std::int64_t n = shape.rings.n_pixels();
  std::vector<double> aligned(to_size(n));
  std::vector<double> shifted(to_size(n) + 1);
  fft->synthesize(view(modes), map_view(shape, aligned));
  fft->synthesize(view(modes), MapView<double>(shifted.data() + 1, 1, n));
  EXPECT_TRUE(std::equal(aligned.begin(), aligned.end(), shifted.begin() + 1));
  std::vector<std::complex<double>> back(modes.size());
  std::vector<std::complex<double>> back_shifted(modes.size());
  fft->adjoint(map_view(shape, aligned), {}, view(back));
  fft->adjoint(MapView<const double>(shifted.data() + 1, 1, n), {}, view(back_shifted));
  EXPECT_EQ(back, back_shifted);
}

TEST(RingFft, ThreadCountDoesNotChangeABit) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(32), 95, 2);
  const auto modes = random_modes(shape, 8);
  const int before = omp_get_max_threads();
  std::vector<double> first_map;
  std::vector<std::complex<double>> first_back;
  std::vector<std::complex<double>> first_residual;
  double first_squares = 0;
  for (const int threads : {1, 2, 3, 7}) {
    omp_set_num_threads(threads);
    const auto fft = make_ring_fft(shape, Backend::host);
    std::vector<double> map(to_size(2 * shape.rings.n_pixels()));
    std::vector<std::complex<double>> back(modes.size());
    fft->synthesize(view(modes), map_view(shape, map));
    fft->adjoint(map_view(shape, map), {}, view(back));
    auto spectra = random_map(shape, 19);
    fft->spectra()->from_pixels(map_view(shape, spectra));
    auto residual = modes;
    const double squares =
        fft->spectra()->apply(SpectrumOperator::adjoint_of_residual,
                              map_view(shape, std::as_const(spectra)), {}, view(residual));
    if (threads == 1) {
      first_map = map;
      first_back = back;
      first_residual = residual;
      first_squares = squares;
    }
    EXPECT_EQ(map, first_map) << threads;
    EXPECT_EQ(back, first_back) << threads;
    EXPECT_EQ(residual, first_residual) << threads;
    EXPECT_EQ(squares, first_squares) << threads;
  }
  omp_set_num_threads(before);
}

TEST(RingFft, PlanServesCallsWithMoreOrFewerThreadsThanItWasMadeWith) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(16), 40, 1);
  const auto modes = random_modes(shape, 9);
  const int before = omp_get_max_threads();
  omp_set_num_threads(2);
  const auto fft = make_ring_fft(shape, Backend::host);
  std::vector<double> map(to_size(shape.rings.n_pixels()));
  fft->synthesize(view(modes), map_view(shape, map));
  for (const int threads : {1, 5}) {
    omp_set_num_threads(threads);
    std::vector<double> again(map.size());
    fft->synthesize(view(modes), map_view(shape, again));
    EXPECT_EQ(again, map);
  }
  omp_set_num_threads(before);
}

TEST(RingFft, RowsOfOneRankAmongManyMatchDirectSums) { expect_matches_direct_sums(ranks_share()); }

TEST(RingFft, AdjointLeavesPaddingUntouched) {
  const RingFftShape shape = ranks_share();
  const std::vector<bool> held = held_positions(shape);
  const std::complex<double> mark{12345, -54321};
  std::vector<std::complex<double>> modes(to_size(shape.rows.size() * shape.n_components), mark);
  const auto map = random_map(shape, 10);
  make_ring_fft(shape, Backend::host)->adjoint(map_view(shape, map), {}, view(modes));
  for (std::size_t i = 0; i < held.size(); ++i)
    EXPECT_NE(held[i], modes[2 * i] == mark && modes[2 * i + 1] == mark);
}

/// Checks that urgent modes are complete when that is said, and that all are as without urgent
/// ones.
void expect_urgent_first(const std::vector<RingRange>& urgent) {
  RingFftShape shape = dense_shape(RingGrid::healpix(16), 50, 2);
  const auto map = random_map(shape, 16);
  std::vector<std::complex<double>> wanted(to_size(shape.rows.size() * shape.n_components));
  make_ring_fft(shape, Backend::host)->adjoint(map_view(shape, map), {}, view(wanted));
  shape.urgent = urgent;
  const auto fft = make_ring_fft(shape, Backend::host);
  std::vector<std::complex<double>> modes(wanted.size(), {12345, -54321});
  std::vector<std::complex<double>> of_urgent;
  int n_calls = 0;
  const int n_threads = omp_get_max_threads();
  omp_set_num_threads(1);
  fft->adjoint(map_view(shape, map), {}, view(modes),
               {[&] {
                  EXPECT_EQ(n_calls, 0);
                  of_urgent = modes;
                },
                [&] { ++n_calls; }});
  omp_set_num_threads(n_threads);
  ASSERT_EQ(of_urgent.size(), wanted.size());
  for (const auto& row : shape.rows.rows()) {
    const RowSegment& segment = shape.rows.segments(row).front();
    for (const RingRange& rings : urgent) {
      const auto at = 2 * (segment.first + rings.begin - segment.rings.begin);
      EXPECT_TRUE(std::equal(of_urgent.begin() + at, of_urgent.begin() + at + 2 * rings.size(),
                             wanted.begin() + at));
    }
  }
  EXPECT_EQ(modes, wanted);
  EXPECT_EQ(n_calls > 0, of_urgent != wanted);
}

TEST(RingFft, UrgentRingsComeFirstAndChangeNoBit) {
  expect_urgent_first({});
  expect_urgent_first({{3, 5}, {40, 41}});  // cap, and belt
  expect_urgent_first({{20, 43}});
  expect_urgent_first({{0, 63}});
}

TEST(RingFft, RingWeightsMultiplyEveryPixelOfTheirRing) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(4), 17, 1);
  std::vector<double> weights(to_size(shape.rings.n_rings()));
  for (std::size_t r = 0; r < weights.size(); ++r) weights[r] = 0.5 + 0.1 * static_cast<double>(r);
  auto map = random_map(shape, 11);
  std::vector<std::complex<double>> weighted(to_size(shape.rows.size()));
  std::vector<std::complex<double>> wanted(weighted.size());
  const auto fft = make_ring_fft(shape, Backend::host);
  fft->adjoint(map_view(shape, map), weights, view(weighted));
  for (std::int64_t r = 0; r < shape.rings.n_rings(); ++r) {
    const LocalRing id{r};
    for (std::int64_t j = 0; j < shape.rings.ring(id).n_phi; ++j) {
      map[to_size(shape.rings.first_pixel(id) + j)] *= weights[to_size(r)];
    }
  }
  fft->adjoint(map_view(shape, map), {}, view(wanted));
  EXPECT_LE(difference(weighted, wanted).rms, tolerance::direct_sum);
}

TEST(RingFft, RankWithoutRingsDoesNothing) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(2));
  ModeLayout rows;
  for (int m = 0; m <= 5; ++m) rows.begin_row(m);
  const RingFftShape shape{LocalRings(grid, {}), rows, 1};
  const auto fft = make_ring_fft(shape, Backend::host);
  fft->synthesize(ModeView<const double>(nullptr, 0), MapView<double>(nullptr, 1, 0));
  fft->adjoint(MapView<const double>(nullptr, 1, 0), {}, ModeView<double>(nullptr, 0));
}

TEST(RingFft, MapOfRingsWithoutAnyModeIsZero) {
  RingFftShape shape = dense_shape(RingGrid::healpix(2), 3, 1);
  shape.rows = ModeLayout();
  std::vector<double> map(to_size(shape.rings.n_pixels()), 3.0);
  make_ring_fft(shape, Backend::host)
      ->synthesize(ModeView<const double>(nullptr, 0), map_view(shape, map));
  EXPECT_THAT(map, ::testing::Each(0.0));
}

TEST(RingFft, WrongSizesAreUsageErrors) {
  const RingFftShape shape = dense_shape(RingGrid::healpix(2), 5, 2);
  const auto fft = make_ring_fft(shape, Backend::host);
  auto modes = random_modes(shape, 12);
  auto map = random_map(shape, 13);
  const ModeView<double> short_modes(modes.data(), ssize64(modes) - 1);
  const MapView<double> one_component(map.data(), 1, shape.rings.n_pixels());
  const std::vector<double> weights(3, 1.0);
  EXPECT_THROW(fft->synthesize(short_modes, map_view(shape, map)), UsageError);
  EXPECT_THROW(fft->synthesize(view(modes), one_component), UsageError);
  EXPECT_THROW(fft->adjoint(map_view(shape, map), weights, view(modes)), UsageError);
}

TEST(RingFft, RowsThatLeaveTheBufferAreAUsageError) {
  RingFftShape shape = dense_shape(RingGrid::healpix(2), 5, 1);
  shape.rows.set_size(shape.rows.size() - 1);
  EXPECT_THROW(make_ring_fft(shape, Backend::host), UsageError);
}

TEST(RingFft, HoldsMoreThanItsTilesAndGivesEverythingBack) {
  const std::int64_t before = MemoryMeter::current_bytes();
  const RingFftShape shape = dense_shape(RingGrid::healpix(16), 47, 1);
  {
    const auto fft = make_ring_fft(shape, Backend::host);
    const std::int64_t held = MemoryMeter::current_bytes() - before;
    EXPECT_GT(held, 0);
    EXPECT_GE(fft->bytes(), held);
  }
  EXPECT_EQ(MemoryMeter::current_bytes(), before);
}

TEST(RingFft, LibraryVersionNamesFftw) {
  EXPECT_THAT(fft_library_version(), ::testing::HasSubstr("fftw-3"));
}

}  // namespace
}  // namespace ringweave::detail
