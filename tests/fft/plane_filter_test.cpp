// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/plane_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/plane_problem.hpp"
#include "ringweave/error.hpp"
#include "support/expect_error.hpp"
#include "support/tolerance.hpp"

namespace ringweave {
namespace {

using namespace detail;
using detail::test::axes;
using detail::test::cosine;
using detail::test::fourier;
using detail::test::mirrored;
using detail::test::Plane;
using detail::test::random_plane;

/// Returns the part of frequency k that value i has in result o.
double part(const FilterAxis& axis, std::int64_t k, std::int64_t o, std::int64_t i) {
  const double pi = std::numbers::pi;
  const auto length = static_cast<double>(axis.length);
  const auto frequency = static_cast<double>(k);
  const auto to = static_cast<double>(axis.first_out + o);
  const auto from = static_cast<double>(axis.first + i);
  if (axis.series == AxisSeries::cosine) {
    return (k == 0 ? 1 : 2) / length * std::cos(pi * frequency * (to + 0.5) / length) *
           std::cos(pi * frequency * (from + 0.5) / length);
  }
  double wave = std::cos(2 * pi * frequency * (to - from) / length);
  if (axis.is_mirrored && i > 0 && i < axis.size - 1)
    wave += std::cos(2 * pi * frequency * (to + from) / length);
  return (k == 0 || 2 * k == axis.length ? 1 : 2) / length * wave;
}

/// Returns all parts, [frequency][result][value].
Plane parts(const FilterAxis& axis) {
  Plane all;
  for (std::int64_t k = 0; k < axis.n_frequencies(); ++k) {
    for (std::int64_t o = 0; o < axis.size_out; ++o) {
      for (std::int64_t i = 0; i < axis.size; ++i) all.push_back(part(axis, k, o, i));
    }
  }
  return all;
}

Plane direct_filter(const FilterAxis& x, const FilterAxis& y, const Plane& multiplier,
                    const Plane& plane, const FilterWindow& window) {
  Plane result(to_size(x.size_out * y.size_out));
  Plane along_x(to_size(y.size * x.size_out));
  const Plane x_parts = parts(x);
  const Plane y_parts = parts(y);
  for (std::int64_t p = 0; p < x.n_frequencies(); ++p) {
    std::fill(along_x.begin(), along_x.end(), 0.0);
    for (std::int64_t o = 0; o < x.size_out; ++o) {
      for (std::int64_t i = window.x_begin; i < window.x_end; ++i) {
        const double factor = x_parts[to_size((p * x.size_out + o) * x.size + i)];
        for (std::int64_t j = window.y_begin; j < window.y_end; ++j)
          along_x[to_size(j * x.size_out + o)] += factor * plane[to_size(j * x.size + i)];
      }
    }
    for (std::int64_t t = 0; t < y.size_out; ++t) {
      for (std::int64_t j = window.y_begin; j < window.y_end; ++j) {
        double factor = 0;
        for (std::int64_t q = 0; q < y.n_frequencies(); ++q)
          factor += multiplier[to_size(q * x.n_frequencies() + p)] *
                    y_parts[to_size((q * y.size_out + t) * y.size + j)];
        for (std::int64_t o = 0; o < x.size_out; ++o)
          result[to_size(t * x.size_out + o)] += factor * along_x[to_size(j * x.size_out + o)];
      }
    }
  }
  return result;
}

FilterWindow whole(const FilterAxis& x, const FilterAxis& y) { return {0, x.size, 0, y.size}; }

/// A filter with memory for one plane.
struct Filter {
  Filter(const FilterAxis& x, const FilterAxis& y, int n = 1)
      : filter(x, y),
        n_threads(n),
        spectrum(filter.spectrum_size()),
        sum(filter.spectrum_size()),
        scratch(filter.scratch_size(n)) {}

  std::int64_t size_of(MultiplierForm form) const {
    return multiplier_size(filter.x(), filter.y(), form);
  }
  void forward(const Plane& plane, const FilterWindow& window) {
    filter.forward(plane.data(), filter.x().size, window, spectrum.data(), scratch.data(),
                   n_threads);
  }
  /// Multipliers are divided by what the inverse needs.
  void multiply(Plane multiplier, double weight, Accumulate how) {
    for (double& value : multiplier) value *= filter.scale();
    const bool is_whole = ssize64(multiplier) == size_of(MultiplierForm::whole);
    filter.multiply(
        {multiplier.data(), is_whole ? MultiplierForm::whole : MultiplierForm::symmetric}, weight,
        spectrum.data(), sum.data(), how, scratch.data(), n_threads);
  }
  Plane backward() {
    Plane result(to_size(filter.x().size_out * filter.y().size_out));
    filter.backward(sum.data(), result.data(), filter.x().size_out, Accumulate::overwrite,
                    scratch.data(), n_threads);
    return result;
  }
  Plane apply(const Plane& plane, const FilterWindow& window, const Plane& multiplier) {
    forward(plane, window);
    multiply(multiplier, 1, Accumulate::overwrite);
    return backward();
  }

  PlaneFilter filter;
  int n_threads;
  HostBuffer<std::complex<double>> spectrum;
  HostBuffer<std::complex<double>> sum;
  HostBuffer<double> scratch;
};

void expect_near(const Plane& found, const Plane& expected) {
  ASSERT_EQ(found.size(), expected.size());
  double largest = 1;
  for (const double value : expected) largest = std::max(largest, std::abs(value));
  double error = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    error = std::max(error, std::abs(found[i] - expected[i]));
  EXPECT_LE(error, tolerance::filtered_plane * largest);
}

void name_axes(const FilterAxis& x, const FilterAxis& y, std::string& name) {
  for (const FilterAxis& axis : {x, y}) {
    name += (axis.series == AxisSeries::cosine ? " cosine " : " fourier ") +
            std::to_string(axis.length) + (axis.is_mirrored ? " mirrored" : "");
  }
}

TEST(PlaneFilter, FiltersAsDirectSumsOnAllAxes) {
  for (const FilterAxis& x : axes()) {
    for (const FilterAxis& y : axes()) {
      std::string name;
      name_axes(x, y, name);
      SCOPED_TRACE(name);
      const Plane plane = random_plane(x.size * y.size, 1);
      const Plane multiplier = random_plane(x.n_frequencies() * y.n_frequencies(), 2);
      Filter filter(x, y);
      expect_near(filter.apply(plane, whole(x, y), multiplier),
                  direct_filter(x, y, multiplier, plane, whole(x, y)));
    }
  }
}

TEST(PlaneFilter, LeavesOutValuesOutsideTheWindow) {
  const std::vector<FilterAxis> some{fourier(7, 2, 12, 1, 9), mirrored(6), cosine(9, 3, 15, 0, 15),
                                     cosine(7, 4, 16, 3, 9)};
  for (const FilterAxis& x : some) {
    for (const FilterAxis& y : some) {
      for (const FilterWindow& window :
           {FilterWindow{1, x.size, 2, 4}, FilterWindow{3, 5, 0, y.size - 1},
            FilterWindow{2, 2, 1, 3}, FilterWindow{0, x.size, 5, 3}}) {
        const Plane plane = random_plane(x.size * y.size, 3);
        const Plane multiplier = random_plane(x.n_frequencies() * y.n_frequencies(), 4);
        Filter filter(x, y);
        expect_near(filter.apply(plane, window, multiplier),
                    direct_filter(x, y, multiplier, plane, window));
      }
    }
  }
}

TEST(PlaneFilter, ScaleEverywhereIsTheIdentity) {
  for (FilterAxis x : axes()) {
    for (FilterAxis y : axes()) {
      for (FilterAxis* axis : {&x, &y}) {
        axis->first_out = axis->first;
        axis->size_out = axis->size;
      }
      const Plane plane = random_plane(x.size * y.size, 5);
      Filter filter(x, y);
      const Plane ones(to_size(filter.size_of(MultiplierForm::whole)), 1.0);
      expect_near(filter.apply(plane, whole(x, y), ones), plane);
    }
  }
}

TEST(PlaneFilter, AddsWeightedSumsAndResults) {
  for (const FilterAxis& x : {fourier(20, 9, 37, 2, 30), cosine(25, 6, 36, 5, 25)}) {
    for (const FilterAxis& y : {fourier(7, 2, 12, 1, 9), cosine(9, 3, 15, 0, 15)}) {
      const Plane plane = random_plane(x.size * y.size, 6);
      Filter filter(x, y);
      const Plane first = random_plane(filter.size_of(MultiplierForm::whole), 7);
      const Plane second = random_plane(filter.size_of(MultiplierForm::whole), 8);
      filter.forward(plane, whole(x, y));
      filter.multiply(first, 0.5, Accumulate::overwrite);
      filter.multiply(second, -3, Accumulate::add);
      // Rows may lie further apart; what is between them stays.
      const std::int64_t stride = x.size_out + 3;
      Plane result(to_size(stride * y.size_out), 7.0);
      filter.filter.backward(filter.sum.data(), result.data(), stride, Accumulate::add,
                             filter.scratch.data(), 1);
      Plane both(first.size());
      for (std::size_t i = 0; i < both.size(); ++i) both[i] = 0.5 * first[i] - 3 * second[i];
      const Plane expected = direct_filter(x, y, both, plane, whole(x, y));
      Plane found;
      for (std::int64_t j = 0; j < y.size_out; ++j) {
        for (std::int64_t i = 0; i < stride; ++i) {
          const double value = result[to_size(j * stride + i)];
          if (i < x.size_out) {
            found.push_back(value - 7);
          } else {
            EXPECT_EQ(value, 7);
          }
        }
      }
      expect_near(found, expected);
    }
  }
}

TEST(PlaneFilter, TapsActAtTheirOffsetsAndWrapAroundPeriods) {
  for (const FilterAxis& x : {fourier(7, 2, 15, 1, 9), fourier(8, 0, 8, 0, 8), mirrored(6)}) {
    for (const FilterAxis& y : {fourier(7, 1, 12, 1, 9), fourier(5, 0, 5, 0, 5)}) {
      constexpr std::int64_t n_x = 7;
      constexpr std::int64_t n_y = 13;
      const Plane taps = random_plane(n_x * n_y, 9);
      const Plane plane = random_plane(x.size * y.size, 10);
      Filter filter(x, y);
      Plane multiplier(to_size(filter.size_of(MultiplierForm::whole)));
      filter.filter.multiplier_of_taps(taps, n_x, n_y, MultiplierForm::whole, multiplier);
      for (double& value : multiplier) value /= filter.filter.scale();
      const Plane found = filter.apply(plane, whole(x, y), multiplier);
      const auto value_at = [](const FilterAxis& axis, std::int64_t position) -> std::int64_t {
        position = (position % axis.length + axis.length) % axis.length - axis.first;
        if (axis.is_mirrored && position >= axis.size) position = axis.length - position;
        return position >= 0 && position < axis.size ? position : -1;
      };
      Plane expected;
      for (std::int64_t t = 0; t < y.size_out; ++t) {
        for (std::int64_t o = 0; o < x.size_out; ++o) {
          double sum = 0;
          for (std::int64_t dy = 1 - n_y; dy < n_y; ++dy) {
            for (std::int64_t dx = 1 - n_x; dx < n_x; ++dx) {
              const std::int64_t j = value_at(y, y.first_out + t + dy);
              const std::int64_t i = value_at(x, x.first_out + o + dx);
              if (i >= 0 && j >= 0)
                sum += taps[to_size(std::abs(dy) * n_x + std::abs(dx))] *
                       plane[to_size(j * x.size + i)];
            }
          }
          expected.push_back(sum);
        }
      }
      expect_near(found, expected);
    }
  }
}

TEST(PlaneFilter, BitsDoNotDependOnThreads) {
  for (const FilterAxis& x : {fourier(40, 9, 75, 9, 40), cosine(40, 5, 50, 5, 40)}) {
    for (const FilterAxis& y : {fourier(31, 3, 48, 3, 31), cosine(31, 3, 40, 3, 31)}) {
      const Plane plane = random_plane(x.size * y.size, 11);
      const Plane multiplier = random_plane(x.n_frequencies() * y.n_frequencies(), 12);
      const Plane alone = Filter(x, y).apply(plane, whole(x, y), multiplier);
      for (const int n_threads : {2, 3})
        EXPECT_EQ(Filter(x, y, n_threads).apply(plane, whole(x, y), multiplier), alone);
    }
  }
}

TEST(PlaneFilter, ImpossibleAxesAreRefused) {
  const FilterAxis good = fourier(4, 0, 8, 0, 4);
  const auto expect_refused = [](const FilterAxis& x, const FilterAxis& y, const char* words) {
    test::expect_error(ErrorKind::usage, words, [&] { const PlaneFilter filter(x, y); });
  };
  expect_refused(fourier(5, 4, 8, 0, 4), good, "x axis of length 8");
  expect_refused(good, fourier(4, 0, 8, 7, 2), "y axis of length 8");
  FilterAxis short_mirror = mirrored(6);
  short_mirror.length = 11;
  expect_refused(short_mirror, good, "mirrored");
  const PlaneFilter with_cosines(cosine(4, 0, 8, 0, 4), good);
  const Plane taps(1);
  Plane multiplier(100);
  test::expect_error(ErrorKind::usage, "Fourier", [&] {
    with_cosines.multiplier_of_taps(taps, 1, 1, MultiplierForm::whole, multiplier);
  });
}

TEST(PlaneFilter, SymmetricMultipliersGiveTheBitsOfWholeOnes) {
  for (const std::int64_t length : {1, 2, 8, 15, 30, 42}) {
    const FilterAxis axis = fourier(length, 0, length, 0, length);
    const Plane plane = random_plane(length * length, 13);
    for (const int n_threads : {1, 3}) {
      Filter filter(axis, axis, n_threads);
      const std::int64_t n = axis.n_frequencies();
      const Plane half = random_plane(filter.size_of(MultiplierForm::symmetric), 14);
      Plane all;
      for (std::int64_t q = 0; q < n; ++q) {
        for (std::int64_t p = 0; p < n; ++p) {
          const std::int64_t row = std::max(p, q);
          all.push_back(half[to_size(row * (row + 1) / 2 + std::min(p, q))]);
        }
      }
      EXPECT_EQ(filter.apply(plane, whole(axis, axis), half),
                filter.apply(plane, whole(axis, axis), all))
          << length;
    }
  }
}

TEST(PlaneFilter, SymmetricMultipliersOfTapsAreHalfOfWholeOnes) {
  const FilterAxis axis = fourier(20, 0, 30, 0, 20);
  const Filter filter(axis, axis);
  Plane all(to_size(filter.size_of(MultiplierForm::whole)));
  Plane half(to_size(filter.size_of(MultiplierForm::symmetric)));
  const Plane taps = random_plane(25, 15);
  filter.filter.multiplier_of_taps(taps, 5, 5, MultiplierForm::whole, all);
  filter.filter.multiplier_of_taps(taps, 5, 5, MultiplierForm::symmetric, half);
  std::size_t i = 0;
  for (std::int64_t q = 0; q < 16; ++q) {
    for (std::int64_t p = 0; p <= q; ++p) EXPECT_EQ(half[i++], all[to_size(q * 16 + p)]);
  }
  EXPECT_EQ(i, half.size());
}

TEST(PlaneFilter, FastLengthsAreTheLeastWithSmallFactors) {
  for (std::int64_t n = 1; n <= 2000; ++n) {
    for (const bool is_even : {false, true}) {
      const auto is_fast = [&](std::int64_t length) {
        if (is_even && length % 2 != 0) return false;
        for (std::int64_t p = 2; p <= 7; ++p) {
          for (; length % p == 0; length /= p) {
          }
        }
        return length == 1;
      };
      std::int64_t expected = n;
      while (!is_fast(expected)) ++expected;
      EXPECT_EQ(fast_length(n, is_even), expected);
    }
  }
  constexpr std::int64_t large = std::int64_t{1} << 50;
  EXPECT_EQ(fast_length(large), large);
  test::expect_error(ErrorKind::usage, "longer than any memory", [] { fast_length(large << 9); });
}

}  // namespace
}  // namespace ringweave
