// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;
using Alm = std::vector<std::complex<double>>;

Spectra cmb_like(int lmax) {
  Spectra spectra(lmax);
  for (int l = 2; l <= lmax; ++l) {
    const auto i = static_cast<std::size_t>(l);
    const double c = 1.0 / (l * (l + 1.0));
    spectra.values(Spectra::TT)[i] = 100 * c;
    spectra.values(Spectra::EE)[i] = 4 * c;
    spectra.values(Spectra::BB)[i] = 1 * c;
    spectra.values(Spectra::TE)[i] = -10 * c;
    spectra.values(Spectra::EB)[i] = 0.5 * c;
    spectra.values(Spectra::TB)[i] = 3 * c;
  }
  return spectra;
}

Alm draw(const Spectra& spectra, const AlmLayout& layout, int n_components,
         std::uint64_t seed = 7) {
  Alm alm(static_cast<std::size_t>(layout.size() * n_components));
  draw_alm(spectra, seed, layout, AlmView<double>(alm.data(), n_components, layout.size()));
  return alm;
}

/// Sums x conj(y) over m for the components of one draw: an estimate of (2 l + 1) C_l^{xy}.
double cross_power(const AlmLayout& layout, const Alm& alm, int x, int y, int l) {
  double sum = 0;
  for (int m = 0; m <= l; ++m) {
    const auto at = static_cast<std::size_t>(layout.index(m, l));
    const auto size = static_cast<std::size_t>(layout.size());
    const auto& a = alm[at + static_cast<std::size_t>(x) * size];
    const auto& b = alm[at + static_cast<std::size_t>(y) * size];
    sum += (m == 0 ? 1 : 2) * (a * std::conj(b)).real();
  }
  return sum;
}

TEST(RandomAlm, HasThePowerAndTheCorrelationsOfItsSpectra) {
  const int lmax = 300;
  const Spectra spectra = cmb_like(lmax);
  const AlmLayout layout(lmax, lmax);
  const Alm alm = draw(spectra, layout, 3);
  const Spectra::Name names[3][3] = {{Spectra::TT, Spectra::TE, Spectra::TB},
                                     {Spectra::TE, Spectra::EE, Spectra::EB},
                                     {Spectra::TB, Spectra::EB, Spectra::BB}};
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y <= x; ++y) {
      // The sum over all degrees, each in units of its own standard deviation.
      double sum = 0;
      for (int l = 2; l <= lmax; ++l) {
        const double cross = spectra(names[x][y], l);
        const double variance =
            (spectra(names[x][x], l) * spectra(names[y][y], l) + cross * cross) * (2 * l + 1);
        sum += (cross_power(layout, alm, x, y, l) - (2 * l + 1) * cross) / std::sqrt(variance);
      }
      EXPECT_LT(std::abs(sum) / std::sqrt(lmax - 1.0), 3) << x << y;
    }
  }
  for (int l = 0; l < 2; ++l) EXPECT_EQ(alm[static_cast<std::size_t>(l)], 0.0);
}

TEST(RandomAlm, RealAndImaginaryPartsAreStandardNormal) {
  double moments[5] = {};
  std::int64_t n = 0;
  double cross = 0;
  for (int l = 0; l < 500; ++l) {
    for (int m = 0; m <= l; ++m) {
      const NormalPair pair = normal_pair(1, 0, l, m);
      for (const double x : {pair.re, pair.im}) {
        double power = 1;
        for (double& moment : moments) moment += power *= x;
        ++n;
      }
      cross += pair.re * pair.im;
    }
  }
  const double count = static_cast<double>(n);
  const double expected[5] = {0, 1, 0, 3, 0};
  const double variance[5] = {1, 2, 15, 96, 945};
  for (int k = 0; k < 5; ++k) {
    EXPECT_NEAR(moments[k] / count, expected[k], 4 * std::sqrt(variance[k] / count)) << k + 1;
  }
  EXPECT_NEAR(2 * cross / count, 0, 4 * std::sqrt(2 / count));
}

TEST(RandomAlm, FieldsSeedsAndDegreesAreUncorrelated) {
  double fields = 0;
  double seeds = 0;
  double degrees = 0;
  const int n = 100000;
  for (int l = 0; l < n; ++l) {
    const double x = normal_pair(1, 0, l, 0).re;
    fields += x * normal_pair(1, 1, l, 0).re;
    seeds += x * normal_pair(2, 0, l, 0).re;
    degrees += x * normal_pair(1, 0, l + 1, 0).re;
  }
  const double bound = 4 * std::sqrt(static_cast<double>(n));
  EXPECT_LT(std::abs(fields), bound);
  EXPECT_LT(std::abs(seeds), bound);
  EXPECT_LT(std::abs(degrees), bound);
}

TEST(RandomAlm, TheNumbersOfASeedNeverChange) {
  // From an independent Philox4x32-10 in Python, checked against the vectors its authors publish.
  struct Expected {
    std::uint64_t seed;
    std::uint32_t field;
    int l, m;
    double re, im;
  };
  for (const Expected& e :
       {Expected{0U, 0, 0, 0, -0.12151797595308087, -1.3500326598576551},
        Expected{1U, 0, 2, 0, -0.38374127185781403, -1.6267232008203023},
        Expected{1U, 0, 2, 1, -0.23834072466874606, -0.2831751611370379},
        Expected{1U, 1, 2, 1, 1.318766056738142, 1.2457968251674153},
        Expected{1U, 2, 4096, 4096, 0.40199421843114208, -0.59014470524536265},
        Expected{9223372036854788153U, 0, 98303, 77, -0.60162192755847919, -0.48030707162138434}}) {
    const NormalPair pair = normal_pair(e.seed, e.field, e.l, e.m);
    EXPECT_NEAR(pair.re, e.re, 4e-15);
    EXPECT_NEAR(pair.im, e.im, 4e-15);
  }
}

TEST(RandomAlm, OrderZeroIsRealAndCarriesTheWholeVariance) {
  Spectra spectra(2);
  spectra.values(Spectra::TT)[2] = 9;
  const AlmLayout layout(2, 2);
  const Alm alm = draw(spectra, layout, 1, 3);
  const NormalPair zero = normal_pair(3, 0, 2, 0);
  const NormalPair two = normal_pair(3, 0, 2, 2);
  EXPECT_DOUBLE_EQ(alm[2].real(), 3 * zero.re);
  EXPECT_EQ(alm[2].imag(), 0);
  EXPECT_DOUBLE_EQ(alm[5].real(), 3 * two.re / std::sqrt(2.0));
  EXPECT_DOUBLE_EQ(alm[5].imag(), 3 * two.im / std::sqrt(2.0));
}

TEST(RandomAlm, SomeOrdersHoldTheSameNumbersAsAll) {
  const Spectra spectra = cmb_like(40);
  const AlmLayout all(40, 40);
  const AlmLayout some(40, 40, {3, 17, 40});
  const Alm whole = draw(spectra, all, 3);
  const Alm part = draw(spectra, some, 3);
  for (std::int64_t c = 0; c < 3; ++c) {
    for (std::int64_t row = 0; row < some.n_orders(); ++row) {
      for (int l = some.order(row); l <= 40; ++l) {
        EXPECT_EQ(part[static_cast<std::size_t>(c * some.size() + some.index(row, l))],
                  whole[static_cast<std::size_t>(c * all.size() + all.index(some.order(row), l))]);
      }
    }
  }
}

TEST(RandomAlm, LowDegreesDoNotChangeWithLmax) {
  const Spectra spectra = cmb_like(60);
  const AlmLayout low(20, 10);
  const AlmLayout high(60, 60);
  const Alm a = draw(spectra, low, 3);
  const Alm b = draw(spectra, high, 3);
  for (std::int64_t c = 0; c < 3; ++c) {
    for (int m = 0; m <= 10; ++m) {
      for (int l = m; l <= 20; ++l) {
        EXPECT_EQ(a[static_cast<std::size_t>(c * low.size() + low.index(m, l))],
                  b[static_cast<std::size_t>(c * high.size() + high.index(m, l))]);
      }
    }
  }
}

TEST(RandomAlm, TemperatureIsTheSameAloneAndWithPolarisation) {
  const Spectra spectra = cmb_like(30);
  const AlmLayout layout(30, 30);
  const Alm alone = draw(spectra, layout, 1);
  const Alm together = draw(spectra, layout, 3);
  EXPECT_TRUE(std::equal(alone.begin(), alone.end(), together.begin()));
}

TEST(RandomAlm, PolarisationAloneHasItsOwnCorrelation) {
  const int lmax = 200;
  const Spectra spectra = cmb_like(lmax);
  const AlmLayout layout(lmax, lmax);
  const Alm alm = draw(spectra, layout, 2);
  double sum = 0;
  for (int l = 2; l <= lmax; ++l) {
    sum += cross_power(layout, alm, 0, 1, l) / (2 * l + 1) / spectra(Spectra::EB, l) / lmax;
  }
  EXPECT_NEAR(sum, 1, 0.1);
}

TEST(RandomAlm, ThreadsAndStorageDoNotChangeIt) {
  const Spectra spectra = cmb_like(50);
  const AlmLayout layout(50, 50);
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const Alm one = draw(spectra, layout, 3);
  omp_set_num_threads(5);
  EXPECT_EQ(draw(spectra, layout, 3), one);
  omp_set_num_threads(threads);
  std::vector<std::complex<float>> single(one.size());
  draw_alm(spectra, 7, layout, AlmView<float>(single.data(), 3, layout.size()));
  for (std::size_t i = 0; i < one.size(); ++i) EXPECT_EQ(single[i], std::complex<float>(one[i]));
}

TEST(RandomAlm, SingularCovariancesAreDrawn) {
  const int lmax = 4;
  Spectra spectra(lmax);
  for (std::size_t l = 0; l <= 4; ++l) {
    spectra.values(Spectra::TT)[l] = 4;
    spectra.values(Spectra::EE)[l] = 1;
    spectra.values(Spectra::TE)[l] = 2;
  }
  const AlmLayout layout(lmax, lmax);
  const Alm alm = draw(spectra, layout, 3);
  const auto size = static_cast<std::size_t>(layout.size());
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    for (int l = layout.order(row); l <= lmax; ++l) {
      const auto i = static_cast<std::size_t>(layout.index(row, l));
      if (l < 2) {
        EXPECT_EQ(alm[i + size], 0.0) << "a spin-2 field begins at l = 2";
      } else {
        EXPECT_NEAR(std::abs(alm[i] - 2.0 * alm[i + size]), 0, 1e-14);
      }
      EXPECT_EQ(alm[i + 2 * size], 0.0);
    }
  }
}

TEST(RandomAlm, APotentialIsDrawnBesideTheSameFields) {
  const int lmax = 300;
  Spectra spectra = cmb_like(lmax);
  for (int l = 1; l <= lmax; ++l) {
    const auto i = static_cast<std::size_t>(l);
    const double c = 1e-6 / (l * (l + 1.0));
    spectra.values(Spectra::PP)[i] = 1e-6 * c;
    if (l < 2) continue;
    spectra.values(Spectra::TP)[i] = 5 * c;
    spectra.values(Spectra::EP)[i] = -0.8 * c;
  }
  const AlmLayout layout(lmax, lmax);
  const Alm with = draw(spectra, layout, 4);
  const Alm without = draw(spectra, layout, 3);
  EXPECT_TRUE(std::equal(without.begin(), without.end(), with.begin()));
  EXPECT_NE(with[without.size() + 1], 0.0) << "a potential has a dipole";
  const Spectra::Name own[4] = {Spectra::TT, Spectra::EE, Spectra::BB, Spectra::PP};
  const Spectra::Name cross_names[4] = {Spectra::TP, Spectra::EP, Spectra::n_names, Spectra::PP};
  for (int x = 0; x < 4; ++x) {
    double sum = 0;
    for (int l = 2; l <= lmax; ++l) {
      const double cross = x == 2 ? 0 : spectra(cross_names[x], l);
      const double variance =
          (spectra(own[x], l) * spectra(Spectra::PP, l) + cross * cross) * (2 * l + 1);
      sum += (cross_power(layout, with, x, 3, l) - (2 * l + 1) * cross) / std::sqrt(variance);
    }
    EXPECT_LT(std::abs(sum) / std::sqrt(lmax - 1.0), 3) << x;
  }
  spectra.values(Spectra::TP)[7] = 1;
  EXPECT_THAT([&] { draw(spectra, layout, 4); }, ThrowsMessage<DataError>(HasSubstr("TP = 1")));
  EXPECT_NO_THROW(draw(spectra, layout, 3));
}

TEST(RandomAlm, CovariancesThatCannotBeAreRefusedNamingTheDegree) {
  const AlmLayout layout(4, 4);
  const auto refuses = [&](Spectra::Name name, double value) {
    Spectra spectra = cmb_like(4);
    spectra.values(name)[3] = value;
    EXPECT_THAT([&] { draw(spectra, layout, 3); }, ThrowsMessage<DataError>(HasSubstr("l = 3")))
        << Spectra::names[name] << " = " << value;
  };
  refuses(Spectra::TT, -1);
  refuses(Spectra::TT, 0);
  refuses(Spectra::TE, 100);
  refuses(Spectra::EE, -1e-3);
  refuses(Spectra::EB, 10);
  refuses(Spectra::TB, -20);
  refuses(Spectra::BB, std::nan(""));
  refuses(Spectra::TE, std::nan(""));
  Spectra beyond = cmb_like(10);
  beyond.values(Spectra::TT)[9] = -1;
  EXPECT_NO_THROW(draw(beyond, layout, 3));
}

TEST(RandomAlm, OtherShapesAreRefused) {
  const AlmLayout layout(4, 4);
  Alm alm(100);
  EXPECT_THROW(draw_alm(cmb_like(4), 1, layout, AlmView<double>(alm.data(), 5, 15)), UsageError);
  EXPECT_THROW(draw_alm(cmb_like(4), 1, layout, AlmView<double>(alm.data(), 1, 14)), UsageError);
}

TEST(PixelNormal, IsStandardNormalAndItsOwnForEverySeedComponentAndPixel) {
  constexpr std::int64_t n = 100000;
  constexpr std::int64_t far = std::int64_t{1} << 40;
  double sum = 0;
  double squares = 0;
  double with_next = 0;
  for (std::int64_t pixel = 0; pixel < n; ++pixel) {
    const double value = pixel_normal(7, 1, far + pixel);
    sum += value;
    squares += value * value;
    with_next += value * pixel_normal(7, 1, far + pixel + 1);
  }
  const double sigma = 1 / std::sqrt(static_cast<double>(n));
  EXPECT_NEAR(sum / n, 0, 5 * sigma);
  EXPECT_NEAR(squares / n, 1, 5 * sigma * std::numbers::sqrt2);
  EXPECT_NEAR(with_next / n, 0, 5 * sigma);
  const double one = pixel_normal(7, 1, 3);
  EXPECT_NE(one, pixel_normal(8, 1, 3));
  EXPECT_NE(one, pixel_normal(7, 0, 3));
  EXPECT_NE(one, pixel_normal(7, 1, 3 + (std::int64_t{1} << 32)));
  EXPECT_NE(one, normal_pair(7, 1, 3, 0).re);
}

}  // namespace
}  // namespace ringweave::detail
