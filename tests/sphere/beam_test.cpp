// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail {
namespace {

constexpr double arcmin = std::numbers::pi / 10800;

TEST(Beam, GaussianIsHealpysInTemperatureAndPolarisation) {
  const Beam beam = gaussian_beam(10 * arcmin, 512);
  const double sigma = 10 * arcmin / std::sqrt(8 * std::log(2.0));
  ASSERT_EQ(beam.t.size(), 513U);
  for (int l = 0; l <= 512; ++l) {
    const auto i = static_cast<std::size_t>(l);
    EXPECT_NEAR(beam.t[i], std::exp(-0.5 * l * (l + 1) * sigma * sigma), 1e-15);
    const double extra = std::exp(2 * sigma * sigma);
    EXPECT_NEAR(beam.e[i], l < 2 ? 0 : beam.t[i] * extra, 1e-15);
    EXPECT_EQ(beam.b[i], beam.e[i]);
  }
}

TEST(Beam, GaussianOfSpinOneStartsAtTheDipole) {
  const Beam beam = gaussian_beam(1.0, 3, 1);
  const double half_variance = 1 / (16 * std::log(2.0));
  EXPECT_EQ(beam.e[0], 0);
  EXPECT_DOUBLE_EQ(beam.e[1], std::exp(-half_variance));
  EXPECT_EQ(gaussian_beam(0, 4).e[2], 1);
  EXPECT_EQ(gaussian_beam(0, 4).t[4], 1);
}

TEST(Beam, ImpossibleBeamsAreRefused) {
  EXPECT_THROW(gaussian_beam(-1, 4), UsageError);
  EXPECT_THROW(gaussian_beam(std::nan(""), 4), UsageError);
  EXPECT_THROW(gaussian_beam(1, -1), UsageError);
}

TEST(Beam, ProductsAreZeroBeyondTheShorterTable) {
  const Beam product = Beam{{1, 2, 3}, {1}, {}} * Beam{{4, 5}, {2, 7}, {3}};
  EXPECT_EQ(product.t, (std::vector<double>{4, 10, 0}));
  EXPECT_EQ(product.e, (std::vector<double>{2, 0}));
  EXPECT_EQ(product.b, (std::vector<double>{0}));
}

template <class T>
void expect_each_component_takes_its_own_amplitudes() {
  const AlmLayout layout(4, 3, {0, 2, 3});
  const FieldSet fields({0, 2, 0});
  std::vector<std::complex<T>> alm(static_cast<std::size_t>(4 * layout.size()), {T{1}, T{-2}});
  const Beam beam{{2, 3, 4}, {0, 0, 5, 6, 7}, {0, 0, 8, 9, 10, 11}};
  multiply(beam, layout, fields, AlmView<T>(alm.data(), 4, layout.size()));
  const std::vector<const std::vector<double>*> tables{&beam.t, &beam.e, &beam.b, &beam.t};
  for (std::int64_t c = 0; c < 4; ++c) {
    const std::vector<double>& table = *tables[static_cast<std::size_t>(c)];
    for (std::int64_t row = 0; row < 3; ++row) {
      for (int l = layout.order(row); l <= 4; ++l) {
        const auto i = static_cast<std::size_t>(l);
        const double b = i < table.size() ? table[i] : 0;
        const auto at = static_cast<std::size_t>(c * layout.size() + layout.index(row, l));
        EXPECT_EQ(alm[at], std::complex<T>(static_cast<T>(b), static_cast<T>(-2 * b)));
      }
    }
  }
}

TEST(Beam, EachComponentTakesItsOwnAmplitudes) {
  expect_each_component_takes_its_own_amplitudes<double>();
  expect_each_component_takes_its_own_amplitudes<float>();
}

TEST(Beam, AlmOfAnotherShapeAreRefused) {
  const AlmLayout layout(4, 4);
  std::vector<std::complex<double>> alm(100);
  EXPECT_THROW(multiply(Beam{}, layout, FieldSet({0, 2}), AlmView<double>(alm.data(), 2, 15)),
               UsageError);
  EXPECT_THROW(multiply(Beam{}, layout, FieldSet({0}), AlmView<double>(alm.data(), 1, 14)),
               UsageError);
}

}  // namespace
}  // namespace ringweave::detail
