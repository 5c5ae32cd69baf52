// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>

#include "legendre/legendre_problem.hpp"
#include "support/tolerance.hpp"

namespace ringweave {
namespace {

struct Reference {
  double theta;
  int m;
  int l;
  double value;
};
#include "legendre/references.inc"

/// lambda_lm of all references by the adjoint of modes that are 1 on one ring; errors over the peak
/// of each (l, m) among the rings given.
RelativeError error_over_peak(const std::vector<Reference>& references) {
  int lmax = 0;
  std::map<double, std::vector<const Reference*>> by_theta;
  std::map<std::pair<int, int>, double> peaks;
  std::vector<int> orders;
  for (const Reference& reference : references) {
    lmax = std::max(lmax, reference.l);
    by_theta[reference.theta].push_back(&reference);
    double& peak = peaks[{reference.m, reference.l}];
    peak = std::max(peak, std::abs(reference.value));
    orders.push_back(reference.m);
  }
  std::sort(orders.begin(), orders.end());
  orders.erase(std::unique(orders.begin(), orders.end()), orders.end());

  RelativeError error;
  for (const auto& [theta, here] : by_theta) {
    const auto grid = std::make_shared<const RingGrid>(RingGrid::from_rings({{theta, 0, 4, 0}}));
    const AlmLayout layout(lmax, lmax, orders);
    const ModeLimits limits(*grid, lmax, lmax, 0);
    ModeLayout rows;
    std::int64_t size = 0;
    for (const int m : orders) {
      rows.begin_row(m);
      rows.add_segment(limits.kept(m), size);
      size += limits.kept(m).size();
    }
    rows.set_size(size);
    const auto stage =
        make_legendre_stage({grid, limits, {}, layout, rows, FieldSet({0})}, Backend::host);
    const std::vector<Complex> modes(to_size(size), Complex(1));
    std::vector<Complex> alm(to_size(layout.size()));
    stage->adjoint(ModeView<const double>(modes.data(), size),
                   AlmView<double>(alm.data(), 1, layout.size()),
                   LegendreStage::Accumulate::overwrite);
    for (const Reference* reference : here) {
      const double value =
          alm[to_size(layout.index(layout.row_of(reference->m), reference->l))].real();
      const double relative =
          std::abs(value - reference->value) / peaks[{reference->m, reference->l}];
      error.rms += relative * relative;
      error.max = std::max(error.max, relative);
    }
  }
  error.rms = std::sqrt(error.rms / static_cast<double>(references.size()));
  std::cout << "error over peak: rms " << error.rms << ", max " << error.max << '\n';
  return error;
}

void expect_accurate(const std::vector<Reference>& references, double bound) {
  const RelativeError error = error_over_peak(references);
  EXPECT_LE(error.rms, bound);
  EXPECT_LE(error.max, bound * tolerance::max_over_rms);
}

// Next to the pole (l sin theta ~ 1) a rounding error of one step grows with the steps that follow,
// so that a random walk of them is l^1.5 ulp; no recurrence in l in this arithmetic does better.
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

}  // namespace
}  // namespace ringweave
