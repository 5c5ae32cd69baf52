// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/fine_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "base/checked_cast.hpp"
#include "nonuniform/tap_choice.hpp"
#include "nonuniform/tap_kernel.hpp"
#include "support/angles.hpp"

namespace ringweave::detail {
namespace {

using Long = long double;
using LongComplex = std::complex<Long>;
constexpr Long long_pi = std::numbers::pi_v<Long>;

/// Returns the position that taps belong to.
Long position_of_taps(const TapPlace& place, int width) {
  return static_cast<Long>(place.first) + width / Long(2) -
         (1 + static_cast<Long>(place.offset)) / 2;
}

std::vector<double> colatitudes(int n) {
  std::mt19937_64 random(11);
  std::uniform_real_distribution<double> uniform;
  std::vector<double> found{0, 1e-300, 1e-12, pi / 2, pi - 1e-12, std::nextafter(pi, 0.0), pi};
  while (ssize64(found) < n) found.push_back(pi * uniform(random));
  return found;
}

TEST(FineGrid, RowsHaveThePrecisionOfTheta) {
  for (const int width : {3, 8, 15}) {
    const FineGrid grid{6912, 13824, width, 8};
    for (const double theta : colatitudes(1000)) {
      const TapPlace place = rows_around(grid, theta);
      const Long expected = static_cast<Long>(theta) * 6912 / long_pi - Long(0.5);
      // The offset is rounded to 1e-16.
      EXPECT_NEAR(static_cast<double>(position_of_taps(place, width) - expected), 0, 1e-15)
          << theta;
      EXPECT_LE(std::abs(place.offset), 1 + 1e-12);
      EXPECT_GE(place.first, -width / 2 - 1);
      EXPECT_LE(place.first + width, 6912 + width / 2 + 1);
    }
  }
}

TEST(FineGrid, BothPolesAreAlike) {
  // With an odd number of taps the pole has one on either side, and may take either.
  const FineGrid grid{64, 128, 8, 7};
  const TapPlace north = rows_around(grid, 0);
  const TapPlace south = rows_around(grid, pi);
  EXPECT_EQ(south.first, 64 - 8 - north.first);
  EXPECT_NEAR(south.offset, -north.offset, 1e-14);
}

TEST(FineGrid, ColumnsAreThoseOfPhiModuloATurn) {
  std::mt19937_64 random(12);
  std::uniform_real_distribution<double> uniform(-1000, 1000);
  std::vector<double> longitudes{0, -0.0, pi, -pi, 2 * pi, -2 * pi, 7 * pi, 1e-300, -1e-300};
  for (int k = 0; k < 1000; ++k) longitudes.push_back(uniform(random));
  for (int k = 0; k < 1000; ++k) longitudes.push_back(2 * pi * uniform(random) / 1000);
  for (const int width : {4, 8, 13}) {
    const FineGrid grid{6912, 13824, 8, width};
    for (const double phi : longitudes) {
      const TapPlace place = columns_around(grid, phi);
      EXPECT_GE(place.first, 0);
      EXPECT_LT(place.first, 13824);
      const Long turns =
          static_cast<Long>(phi) / (2 * long_pi) - position_of_taps(place, width) / Long(13824);
      const double wrong = static_cast<double>((turns - std::round(turns)) * 13824);
      // Within a turn phi is exact; otherwise its reduction is rounded as it is itself.
      EXPECT_NEAR(wrong, 0, std::abs(phi) <= 2 * pi ? 4e-15 : 1e-12) << phi;
    }
  }
}

/// Real fields with the symmetry of spin s, sum_m Re exp(i m phi) sum_k c_km (cos or sin)(k theta):
/// cosines where m + s is even.
class Field {
 public:
  Field(int lmax, int spin) : lmax_(lmax), spin_(spin) {
    std::mt19937_64 random(13);
    std::normal_distribution<double> normal;
    for (int i = 0; i < (lmax + 1) * (lmax + 1); ++i) {
      const double re = normal(random);
      coefficients_.emplace_back(re, normal(random));
    }
  }
  /// Divides every coefficient by factor(k, m).
  template <class Factor>
  Field divided(Factor factor) const {
    Field result = *this;
    for (int m = 0; m <= lmax_; ++m)
      for (int k = 0; k <= lmax_; ++k)
        result.coefficients_[result.index(k, m)] /= static_cast<Long>(factor(k, m));
    return result;
  }
  Long operator()(Long theta, Long phi) const {
    Long sum = 0;
    for (int m = 0; m <= lmax_; ++m) {
      LongComplex mode = 0;
      for (int k = 0; k <= lmax_; ++k)
        mode += coefficients_[index(k, m)] *
                ((m + spin_) % 2 == 0 ? std::cos(k * theta) : std::sin(k * theta));
      sum += (mode * std::polar(Long(1), m * phi)).real();
    }
    return sum;
  }

 private:
  std::size_t index(int k, int m) const { return to_size(m * (lmax_ + 1) + k); }
  int lmax_;
  int spin_;
  std::vector<LongComplex> coefficients_;  ///< [m][k]
};

TEST(FineGrid, TapsGiveTheValuesOfAFieldAlsoAtThePoles) {
  constexpr int lmax = 12;
  for (const int spin : {0, 1}) {
    for (const double epsilon : {1e-3, 1e-8, 1e-12}) {
      const TapChoice choice = choose_taps({lmax, lmax, epsilon, 100, 1});
      const TapKernel theta_kernel(choice.theta.width, choice.theta.oversampling);
      const TapKernel phi_kernel(choice.phi.width, choice.phi.oversampling);
      const FineGrid grid{choice.theta.length, choice.phi.length, choice.theta.width,
                          choice.phi.width};
      const auto n_rows = static_cast<double>(grid.n_rows);
      const auto n_columns = static_cast<double>(grid.n_columns);
      const Field field(lmax, spin);
      const Field sharpened = field.divided([&](int k, int m) {
        return theta_kernel.transform(k / (2 * n_rows)) * phi_kernel.transform(m / n_columns);
      });
      std::vector<double> samples;
      for (std::int64_t r = 0; r < grid.n_rows; ++r)
        for (std::int64_t q = 0; q < grid.n_columns; ++q)
          samples.push_back(static_cast<double>(
              sharpened(long_pi * (static_cast<Long>(r) + Long(0.5)) / grid.n_rows,
                        2 * long_pi * static_cast<Long>(q) / grid.n_columns)));
      double errors = 0;
      double squares = 0;
      double phi = 0.3;
      for (const double theta : colatitudes(60)) {
        phi += 2.4;
        const TapPlace rows = rows_around(grid, theta);
        const TapPlace columns = columns_around(grid, phi);
        double value = 0;
        for (int i = 0; i < grid.theta_width; ++i) {
          const FoldedRow row = folded_row(rows.first + i, grid.n_rows);
          const double sign = row.is_turned && spin % 2 != 0 ? -1 : 1;
          const double weight = sign * tap_value(theta_kernel.polynomials(), i, rows.offset);
          const std::int64_t shift = row.is_turned ? grid.n_columns / 2 : 0;
          for (int j = 0; j < grid.phi_width; ++j) {
            const std::int64_t q = (columns.first + j + shift) % grid.n_columns;
            value += weight * tap_value(phi_kernel.polynomials(), j, columns.offset) *
                     samples[to_size(row.row * grid.n_columns + q)];
          }
        }
        const auto expected = static_cast<double>(field(theta, phi));
        errors += (value - expected) * (value - expected);
        squares += expected * expected;
      }
      EXPECT_LE(std::sqrt(errors / squares), epsilon) << "spin " << spin;
    }
  }
}

}  // namespace
}  // namespace ringweave::detail
