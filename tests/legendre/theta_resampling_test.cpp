// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/theta_resampling.hpp"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

using Complex = std::complex<double>;
using LongComplex = std::complex<long double>;
constexpr long double long_pi = std::numbers::pi_v<long double>;
constexpr int width = ThetaResampling::width;

Complex random_value(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  const double re = normal(random);
  return {re, normal(random)};
}

/// A random trigonometric polynomial, a cosine series (even) or a sine series (odd).
struct Series {
  Parity parity;
  std::vector<Complex> coefficients;  ///< [k = 0..degree]

  Series(Parity p, std::int64_t degree, unsigned seed) : parity(p) {
    std::mt19937_64 random(seed);
    for (std::int64_t k = 0; k <= degree; ++k) coefficients.push_back(random_value(random));
  }
  /// Evaluates at theta = angle, or at long_pi - angle with `from_south`.
  Complex operator()(long double angle, bool from_south) const {
    const LongComplex step(std::cos(angle), std::sin(angle));
    LongComplex turn = 1;
    LongComplex sum = 0;
    for (std::size_t k = 0; k < coefficients.size(); ++k) {
      const long double mirrored = from_south && k % 2 == (parity == Parity::even ? 1 : 0) ? -1 : 1;
      sum += LongComplex(coefficients[k]) * mirrored *
             (parity == Parity::even ? turn.real() : turn.imag());
      turn *= step;
    }
    return {static_cast<double>(sum.real()), static_cast<double>(sum.imag())};
  }
  Complex at(const Ring& ring) const {
    const long double angle = std::atan2(static_cast<long double>(ring.sin_theta),
                                         std::abs(static_cast<long double>(ring.cos_theta)));
    return (*this)(angle, ring.cos_theta < 0);
  }
  Complex at_equidistant(std::int64_t ring, std::int64_t n_rings) const {
    const bool southern = 2 * ring >= n_rings;
    const std::int64_t j = southern ? n_rings - 1 - ring : ring;
    return (*this)(
        long_pi * (static_cast<long double>(j) + 0.5L) / static_cast<long double>(n_rings),
        southern);
  }
};

Parity parity_of(int slot) { return slot % 3 == 1 ? Parity::odd : Parity::even; }

struct Deviation {
  double rms;
  double max;
};

/// Returns the error over all target rings and slots, relative to the rms of the values.
Deviation resampling_error(const RingGrid& target, std::int64_t degree) {
  const ThetaResampling resampling(target, degree);
  ThetaResampling::Block block(resampling);
  std::vector<Series> series;
  const std::int64_t n = resampling.equidistant().n_rings();
  for (int slot = 0; slot < width; ++slot) {
    series.emplace_back(parity_of(slot), degree, static_cast<unsigned>(slot + 1));
    block.set_parity(slot, parity_of(slot));
    for (std::int64_t ring = 0; ring < n; ++ring) {
      block.set_equidistant(slot, ring, series.back().at_equidistant(ring, n));
    }
  }
  resampling.resample(block, {0, target.n_rings()});
  double error = 0;
  double power = 0;
  double largest = 0;
  for (int slot = 0; slot < width; ++slot) {
    for (std::int64_t ring = 0; ring < target.n_rings(); ++ring) {
      const Complex expected = series[static_cast<std::size_t>(slot)].at(target.ring(RingId{ring}));
      const double gap = std::norm(block.target(slot, ring) - expected);
      error += gap;
      power += std::norm(expected);
      largest = std::max(largest, gap);
    }
  }
  const double count = static_cast<double>(width * target.n_rings());
  return {std::sqrt(error / power), std::sqrt(largest / (power / count))};
}

RingGrid grid_with_poles(std::int64_t degree) { return RingGrid::clenshaw_curtis(degree + 12); }

/// Returns a grid without its mirror image, unevenly spaced.
RingGrid lopsided_grid(std::int64_t degree) {
  const RingGrid full = RingGrid::healpix(degree / 3 + 2);
  std::vector<RingId> kept;
  for (std::int64_t ring = 0; ring < full.n_rings(); ++ring) {
    if (ring % 3 == 0 || (ring > full.n_rings() / 2 && ring % 5 != 0)) kept.push_back(RingId{ring});
  }
  return full.subset(kept);
}

class OfDegree : public testing::TestWithParam<std::int64_t> {
 protected:
  std::vector<RingGrid> grids() const {
    return {RingGrid::healpix(GetParam() / 2 + 1), RingGrid::healpix(GetParam() / 3 + 1),
            RingGrid::gauss_legendre(GetParam() + 1), grid_with_poles(GetParam()),
            lopsided_grid(GetParam())};
  }
};
INSTANTIATE_TEST_SUITE_P(ThetaResampling, OfDegree,
                         testing::Values(0, 1, 2, 5, 8, 32, 127, 256, 1000));

TEST_P(OfDegree, ResamplingIsTheTrigonometricPolynomial) {
  for (const RingGrid& grid : grids()) {
    const Deviation error = resampling_error(grid, GetParam());
    EXPECT_LE(error.rms, tolerance::direct_sum) << grid.name();
    EXPECT_LE(error.max, tolerance::direct_sum * tolerance::max_over_rms) << grid.name();
  }
}

TEST_P(OfDegree, FewEquidistantRingsAreEnough) {
  const ThetaResampling resampling(RingGrid::healpix(4), GetParam());
  const std::int64_t n = resampling.equidistant().n_rings();
  EXPECT_GT(n, GetParam());
  EXPECT_LE(static_cast<double>(n), 1.06 * static_cast<double>(GetParam() + 1) + 2);
}

/// [ring][slot]
using Values = std::vector<std::array<Complex, std::size_t{width}>>;

Values random_columns(std::int64_t n_rings, unsigned seed) {
  Values values(to_size(n_rings));
  std::mt19937_64 random(seed);
  for (auto& ring : values)
    for (Complex& value : ring) value = random_value(random);
  return values;
}
void fill_equidistant(ThetaResampling::Block& block, const Values& values) {
  for (std::int64_t ring = 0; ring < ssize64(values); ++ring) {
    for (int slot = 0; slot < width; ++slot)
      block.set_equidistant(slot, ring, values[to_size(ring)][to_size(slot)]);
  }
}
void fill_target(ThetaResampling::Block& block, RingRange rings, const Values& values) {
  for (std::int64_t ring = rings.begin; ring < rings.end; ++ring) {
    for (int slot = 0; slot < width; ++slot)
      block.set_target(slot, ring, values[to_size(ring)][to_size(slot)]);
  }
}

TEST_P(OfDegree, AdjointIsTheExactTranspose) {
  for (const RingGrid& grid : grids()) {
    const ThetaResampling resampling(grid, GetParam());
    const std::int64_t n = resampling.equidistant().n_rings();
    const std::int64_t n_targets = grid.n_rings();
    const Values x = random_columns(n, 11);
    const Values y = random_columns(n_targets, 99);
    for (const RingRange kept :
         {RingRange{0, n_targets}, RingRange{n_targets / 5, n_targets / 2}}) {
      if (kept.empty()) continue;
      ThetaResampling::Block forward(resampling);
      ThetaResampling::Block backward(resampling);
      for (int slot = 0; slot < width; ++slot) {
        forward.set_parity(slot, parity_of(slot));
        backward.set_parity(slot, parity_of(slot));
      }
      fill_equidistant(forward, x);
      fill_target(backward, {0, n_targets}, y);
      resampling.resample(forward, kept);
      resampling.adjoint(backward, kept);
      for (int slot = 0; slot < width; ++slot) {
        LongComplex over_targets = 0;
        LongComplex over_equidistant = 0;
        long double power = 0;
        for (std::int64_t ring = kept.begin; ring < kept.end; ++ring) {
          const LongComplex value = forward.target(slot, ring);
          over_targets += value * LongComplex(y[to_size(ring)][to_size(slot)]);
          power += std::norm(value);
        }
        for (std::int64_t ring = 0; ring < n; ++ring) {
          over_equidistant += LongComplex(x[to_size(ring)][to_size(slot)]) *
                              LongComplex(backward.equidistant(slot, ring));
        }
        // The product of independent vectors is of the size ||S x|| ||y|| / sqrt(N) = ||S x||.
        EXPECT_LE(static_cast<double>(std::abs(over_targets - over_equidistant)),
                  0.1 * tolerance::adjoint * static_cast<double>(std::sqrt(power)))
            << grid.name() << ", slot " << slot;
      }
    }
  }
}

TEST(ThetaResampling, OneOrderDoesNotDependOnTheOthersInItsBlock) {
  const RingGrid grid = RingGrid::healpix(100);
  const ThetaResampling resampling(grid, 199);
  const Values values = random_columns(resampling.equidistant().n_rings(), 5);
  ThetaResampling::Block full(resampling);
  for (int slot = 0; slot < width; ++slot) full.set_parity(slot, parity_of(slot));
  fill_equidistant(full, values);
  resampling.resample(full, {0, grid.n_rings()});
  for (int slot = 0; slot < width; ++slot) {
    const int elsewhere = (slot + 3) % width;
    ThetaResampling::Block alone(resampling);
    alone.set_parity(elsewhere, parity_of(slot));
    for (std::int64_t ring = 0; ring < ssize64(values); ++ring) {
      alone.set_equidistant(elsewhere, ring, values[to_size(ring)][to_size(slot)]);
    }
    const RingRange kept{17, 311};
    resampling.resample(alone, kept);
    for (std::int64_t ring = kept.begin; ring < kept.end; ++ring) {
      ASSERT_EQ(alone.target(elsewhere, ring), full.target(slot, ring)) << ring;
    }
  }
}

TEST(ThetaResampling, OneOrdersAdjointDoesNotDependOnTheOthersInItsBlock) {
  const RingGrid grid = RingGrid::healpix(100);
  const ThetaResampling resampling(grid, 199);
  const RingRange kept{17, 311};
  ThetaResampling::Block full(resampling);
  ThetaResampling::Block alone(resampling);
  for (int slot = 0; slot < width; ++slot) full.set_parity(slot, parity_of(slot));
  fill_target(full, kept, random_columns(grid.n_rings(), 5));
  alone.set_parity(6, parity_of(1));
  for (std::int64_t ring = kept.begin; ring < kept.end; ++ring) {
    alone.set_target(6, ring, full.target(1, ring));
  }
  resampling.adjoint(full, kept);
  resampling.adjoint(alone, {0, grid.n_rings()});
  for (std::int64_t ring = 0; ring < resampling.equidistant().n_rings(); ++ring) {
    ASSERT_EQ(alone.equidistant(6, ring), full.equidistant(1, ring)) << ring;
  }
}

TEST(ThetaResampling, EveryInstructionSetThisMachineRunsIsAsExact) {
  for (std::int64_t sets = hwy::SupportedTargets(); sets != 0; sets &= sets - 1) {
    const std::int64_t set = sets & -sets;
    hwy::SetSupportedTargetsForTest(set);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    EXPECT_LE(resampling_error(RingGrid::healpix(90), 181).rms, tolerance::direct_sum)
        << hwy::TargetName(set);
    hwy::SetSupportedTargetsForTest(0);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  }
}

TEST(ThetaResampling, TargetsMayLieInMemoryFromOutside) {
  const RingGrid grid = RingGrid::healpix(10);
  const ThetaResampling resampling(grid, 20);
  const Values values = random_columns(resampling.equidistant().n_rings(), 3);
  HostBuffer<double> targets(resampling.target_size());
  ThetaResampling::Block own(resampling);
  ThetaResampling::Block outside(resampling, targets.data());
  for (ThetaResampling::Block* block : {&own, &outside}) {
    fill_equidistant(*block, values);
    resampling.resample(*block, {5, 30});
  }
  for (std::int64_t ring = 5; ring < 30; ++ring)
    EXPECT_EQ(outside.target(2, ring), own.target(2, ring));
  EXPECT_EQ(outside.target_row(0), targets.data());
}

TEST(ThetaResampling, ANegativeDegreeIsAUsageError) {
  EXPECT_THROW(ThetaResampling(RingGrid::healpix(1), -1), UsageError);
}

}  // namespace
}  // namespace ringweave::detail
