// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>

#include "legendre/legendre_problem.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {
namespace {

struct Reference {
  double theta;
  int m;
  int l;
  double value;     ///< lambda_lm, or the gradient part of a spin field
  double curl = 0;  ///< the curl part of a spin field
};
#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/references.inc"
#include "ringweave/execution.hpp"

enum class Direction { synthesis, adjoint };

/// One field on one ring, of some orders.
class OneRing {
 public:
  OneRing(double theta, int lmax, const std::vector<int>& orders, int spin)
      : layout_(lmax, lmax, orders), fields_({spin}) {
    const auto grid = std::make_shared<const RingGrid>(RingGrid::from_rings({{theta, 0, 4, 0}}));
    const ModeLimits limits(*grid, lmax, lmax, spin);
    std::int64_t size = 0;
    for (const int m : orders) {
      rows_.begin_row(m);
      rows_.add_segment(limits.kept(m), size);
      size += limits.kept(m).size();
    }
    rows_.set_size(size);
    stage_ = make_legendre_stage({grid, limits, {}, layout_, rows_, fields_}, Backend::host);
    alm_.resize(to_size(layout_.size() * fields_.n_components()));
    modes_.resize(to_size(size * fields_.n_components()));
    for (std::int64_t mode = 0; mode < size; ++mode)
      modes_[to_size(mode * fields_.n_components())] = 1;
    adjoint_.resize(alm_.size());
    stage_->adjoint(ModeView<const double>(modes_.data(), ssize64(modes_)),
                    AlmView<double>(adjoint_.data(), fields_.n_components(), layout_.size()),
                    Accumulate::overwrite);
  }

  /// Returns (value, curl) of a harmonic: by synthesis of an a_lm that is 1, or by the adjoint of
  /// modes whose first component is 1.
  Complex harmonic(Direction direction, int m, int l) {
    const std::int64_t row = layout_.row_of(m);
    const std::int64_t i = layout_.index(row, l);
    return direction == Direction::synthesis ? by_synthesis(row, i)
                                             : both(adjoint_.data() + i, layout_.size());
  }

 private:
  /// E = 1 gives Q = gradient, U = -i curl; Q = 1 gives E = gradient, B = -i curl.
  Complex both(const Complex* first, std::int64_t stride) const {
    return {first->real(), fields_.n_components() == 1 ? 0 : -(first + stride)->imag()};
  }
  Complex by_synthesis(std::int64_t row, std::int64_t i) {
    std::fill(alm_.begin(), alm_.end(), 0);
    alm_[to_size(i)] = 1;
    stage_->synthesize(AlmView<const double>(alm_.data(), fields_.n_components(), layout_.size()),
                       ModeView<double>(modes_.data(), ssize64(modes_)));
    for (const RowSegment& segment : rows_.segments(rows_.rows()[to_size(row)])) {
      if (!segment.rings.empty())
        return both(modes_.data() + segment.first * fields_.n_components(), 1);
    }
    return 0;
  }

  AlmLayout layout_;
  FieldSet fields_;
  ModeLayout rows_;
  std::unique_ptr<LegendreStage> stage_;
  std::vector<Complex> adjoint_;
  std::vector<Complex> alm_;
  std::vector<Complex> modes_;
};

/// Errors over the peak of each (l, m) among the given rings.
RelativeError error_over_peak(const std::vector<Reference>& references, int spin,
                              Direction direction) {
  int lmax = 0;
  std::map<double, std::vector<const Reference*>> by_theta;
  std::map<std::pair<int, int>, double> peaks;
  std::vector<int> orders;
  for (const Reference& reference : references) {
    lmax = std::max(lmax, reference.l);
    by_theta[reference.theta].push_back(&reference);
    double& peak = peaks[{reference.m, reference.l}];
    peak = std::max(peak, std::hypot(reference.value, reference.curl));
    orders.push_back(reference.m);
  }
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());

  RelativeError error;
  for (const auto& [theta, here] : by_theta) {
    OneRing ring(theta, lmax, orders, spin);
    for (const Reference* reference : here) {
      const Complex found = ring.harmonic(direction, reference->m, reference->l);
      const double relative = std::abs(found - Complex(reference->value, reference->curl)) /
                              peaks[{reference->m, reference->l}];
      error.rms += relative * relative;
      error.max = std::max(error.max, relative);
    }
  }
  error.rms = std::sqrt(error.rms / static_cast<double>(references.size()));
  std::cout << "error over peak: rms " << error.rms << ", max " << error.max << '\n';
  return error;
}

void expect_accurate(const std::vector<Reference>& references, double bound, int spin = 0) {
  for (const Direction direction : {Direction::synthesis, Direction::adjoint}) {
    const RelativeError error = error_over_peak(references, spin, direction);
    EXPECT_LE(error.rms, bound);
    EXPECT_LE(error.max, bound * tolerance::max_over_rms);
  }
}

// Next to the pole (l sin theta ~ 1) a rounding error of one step grows with the following steps,
// so that their random walk is l^1.5 ulp; no recurrence in l in this arithmetic does better.
double polar_bound(int lmax) {
  return std::pow(lmax, 1.5) * std::numeric_limits<double>::epsilon();
}

TEST(LegendreReference, ZonalHarmonicsTo8192AreExactAtMidLatitudes) {
  expect_accurate(mid_latitudes_m0, tolerance::round_trip);
}
TEST(LegendreReference, Order4096To8192IsExactAtMidLatitudes) {
  expect_accurate(mid_latitudes_m4096, tolerance::round_trip);
}
TEST(LegendreReference, LowOrdersTo8192AreAsGoodAsTheirRecurrenceNextToThePole) {
  expect_accurate(next_to_the_pole, polar_bound(8192));
}
TEST(LegendreReference, DegreesTo32768AreAsGoodAsTheirRecurrence) {
  expect_accurate(highest_degrees, polar_bound(32768));
}
TEST(LegendreReference, SpinTwoToDegree32768IsAsGoodAsItsRecurrence) {
  expect_accurate(highest_degrees_spin_two, polar_bound(32768), 2);
}

}  // namespace
}  // namespace ringweave::detail
