// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int lmax = 40;
constexpr int mmax = 30;

/// Returns the sum over all m of Re(conj(x_lm) y_lm) / (2 l + 1), of whole a_lm.
double direct_power(const AlmBuffer<double>& alm, std::int64_t x, std::int64_t y, int l) {
  double sum = 0;
  for (int m = 0; m <= std::min(l, mmax); ++m) {
    const std::int64_t i = AlmLayout::full_index(lmax, l, m);
    const double product =
        (std::conj(alm.view().component(x)[i]) * alm.view().component(y)[i]).real();
    sum += m == 0 ? product : 2 * product;
  }
  return sum / (2 * l + 1);
}

TEST_P(OnEveryRankCount, PowerSpectraAreTheSumsThatDefineThem) {
  Spectra drawn_from(lmax);
  for (int l = 0; l <= lmax; ++l) {
    drawn_from.values(Spectra::TT)[to_size(l)] = 1.0 / (l + 1);
    drawn_from.values(Spectra::EE)[to_size(l)] = 0.5 / (l + 1);
    drawn_from.values(Spectra::BB)[to_size(l)] = 0.1;
    drawn_from.values(Spectra::TE)[to_size(l)] = -0.4 / (l + 1);
  }
  struct Expected {
    std::vector<int> spins;
    std::vector<std::pair<Spectra::Name, std::pair<int, int>>> products;
  };
  const std::vector<Expected> list = {
      {{0}, {{Spectra::TT, {0, 0}}}},
      {{2}, {{Spectra::EE, {0, 0}}, {Spectra::BB, {1, 1}}, {Spectra::EB, {0, 1}}}},
      {{0, 2},
       {{Spectra::TT, {0, 0}},
        {Spectra::EE, {1, 1}},
        {Spectra::BB, {2, 2}},
        {Spectra::TE, {0, 1}},
        {Spectra::EB, {1, 2}},
        {Spectra::TB, {0, 2}}}}};
  for (const Expected& expected : list) {
    const TransformSpec spec = Case{share(RingGrid::healpix(4)), lmax, mmax, expected.spins}.spec();
    const TransformPlan mine(spec, comm().rank(), comm().size());
    const TransformPlan whole(spec, 0, 1);
    AlmBuffer<double> alm(spec.fields.n_components(), mine.alm.size());
    AlmBuffer<double> all(spec.fields.n_components(), whole.alm.size());
    draw_alm(drawn_from, seed, mine.alm, alm.view());
    draw_alm(drawn_from, seed, whole.alm, all.view());
    const Spectra spectra = power_spectra<double>(comm(), mine.alm, std::as_const(alm).view());
    int n_present = 0;
    for (int name = 0; name < Spectra::n_names; ++name)
      n_present += spectra.has(static_cast<Spectra::Name>(name));
    EXPECT_EQ(to_size(n_present), expected.products.size());
    for (const auto& [name, fields] : expected.products) {
      for (int l = 0; l <= lmax; ++l) {
        EXPECT_NEAR(spectra(name, l), direct_power(all, fields.first, fields.second, l), 1e-14)
            << Spectra::names[name] << " at l = " << l;
      }
    }
  }
}

TEST_P(OnEveryRankCount, CrossSpectraTakeTheFirstLetterFromTheFirstSky) {
  const TransformSpec spec = Case{share(RingGrid::healpix(4)), lmax, mmax, {0, 2}}.spec();
  const TransformPlan mine(spec, comm().rank(), comm().size());
  const TransformPlan whole(spec, 0, 1);
  Spectra flat(lmax);
  for (const Spectra::Name name : {Spectra::TT, Spectra::EE, Spectra::BB})
    std::fill(flat.values(name).begin(), flat.values(name).end(), 1.0);
  std::vector<AlmBuffer<double>> parts;
  AlmBuffer<double> both(6, whole.alm.size());
  for (std::int64_t sky = 0; sky < 2; ++sky) {
    const auto seed = static_cast<std::uint64_t>(sky);
    draw_alm(flat, seed, mine.alm, parts.emplace_back(3, mine.alm.size()).view());
    draw_alm(flat, seed, whole.alm, both.view().components(3 * sky, 3));
  }
  const Spectra spectra = cross_spectra<double>(comm(), mine.alm, std::as_const(parts[0]).view(),
                                                std::as_const(parts[1]).view());
  const std::string letters = "TEB";
  for (int name = 0; name < Spectra::PP; ++name) {
    const std::string_view pair = Spectra::names[to_size(std::int64_t{name})];
    const auto x = static_cast<std::int64_t>(letters.find(pair[0]));
    const auto y = static_cast<std::int64_t>(letters.find(pair[1]));
    for (int l = 2; l <= lmax; ++l) {
      EXPECT_NEAR(spectra(static_cast<Spectra::Name>(name), l), direct_power(both, x, 3 + y, l),
                  1e-13)
          << pair << " at l = " << l;
    }
  }
  const AlmBuffer<double> scalar(1, mine.alm.size());
  EXPECT_THROW(
      cross_spectra<double>(comm(), mine.alm, std::as_const(parts[0]).view(), scalar.view()),
      UsageError);
}

TEST_P(OnEveryRankCount, PowerSpectraOfFourComponentsAreRefused) {
  const TransformPlan plan(Case{share(RingGrid::healpix(4)), 8, 8, {2, 2}}.spec(), comm().rank(),
                           comm().size());
  AlmBuffer<double> alm(4, plan.alm.size());
  EXPECT_THROW(power_spectra<double>(comm(), plan.alm, std::as_const(alm).view()), UsageError);
}

TEST_P(OnEveryRankCount, SizesThatDifferFromTheLayoutOnOneRankAreRefusedOnAll) {
  const TransformPlan plan(Case{share(RingGrid::healpix(4)), 8, 8, {0}}.spec(), comm().rank(),
                           comm().size());
  const AlmBuffer<double> alm(1, plan.alm.size());
  const std::int64_t missing = comm().is_root() ? 1 : 0;
  const AlmView<const double> part(alm.view().data(), 1, plan.alm.size() - missing);
  EXPECT_THROW(power_spectra<double>(comm(), plan.alm, part), UsageError);
  EXPECT_THROW(cross_spectra<double>(comm(), plan.alm, alm.view(), part), UsageError);
  EXPECT_THROW(inner_product<double>(comm(), plan.alm, alm.view(), part), UsageError);
  const AlmBuffer<double> two(comm().is_root() ? 2 : 1, plan.alm.size());
  EXPECT_THROW(inner_product<double>(comm(), plan.alm, alm.view(), two.view()), UsageError);
  EXPECT_THROW(cross_spectra<double>(comm(), plan.alm, alm.view(), two.view()), UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
