// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/rotation.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/spectra.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using Complex = std::complex<double>;
constexpr double pi = std::numbers::pi;
constexpr EulerAngles any_angles{0.7, 1.9, -2.3};

/// The orders that belong to a rank when they are dealt in turn.
AlmLayout dealt_layout(const Communicator& comm, int lmax) {
  std::vector<int> orders;
  for (int m = comm.rank(); m <= lmax; m += comm.size()) orders.push_back(m);
  return AlmLayout(lmax, lmax, orders);
}

template <class T>
AlmBuffer<T> random_alm_of(const AlmLayout& layout, int n_components) {
  return random_alm<T>(layout, FieldSet(std::vector<int>(to_size(n_components), 0)));
}

template <class T>
AlmBuffer<T> rotated(const Communicator& comm, const AlmLayout& layout, const AlmBuffer<T>& alm,
                     const EulerAngles& angles, const RotationOptions& options = {}) {
  AlmBuffer<T> result = copy_of(alm);
  rotate(comm, layout, result, angles, options);
  return result;
}

/// Extracts the orders of `layout` from the a_lm of all orders.
template <class T>
AlmBuffer<T> part_of(const AlmLayout& layout, const AlmBuffer<T>& all) {
  AlmBuffer<T> part(all.n_components(), layout.size());
  for (std::int64_t c = 0; c < all.n_components(); ++c) {
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      std::copy_n(all.view().component(c).data() + AlmLayout::full_index(layout.lmax(), m, m),
                  layout.lmax() - m + 1, part.view().component(c).data() + layout.index(row, m));
    }
  }
  return part;
}

RotationMatrix product(const RotationMatrix& a, const RotationMatrix& b) {
  RotationMatrix result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) {
      for (std::size_t k = 0; k < 3; ++k) result[i][j] += a[i][k] * b[k][j];
    }
  }
  return result;
}

std::array<double, 3> product(const RotationMatrix& a, const std::array<double, 3>& v) {
  std::array<double, 3> result{};
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t k = 0; k < 3; ++k) result[i] += a[i][k] * v[k];
  }
  return result;
}

void expect_near(const RotationMatrix& a, const RotationMatrix& b, double bound) {
  for (std::size_t i = 0; i < 3; ++i) {
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(a[i][j], b[i][j], bound) << i << ", " << j;
  }
}

TEST_P(OnEveryRankCount, RotatedAlmAreTheSameBitsAsOnOneRank) {
  for (const auto& [lmax, bytes] : std::vector<std::pair<int, std::int64_t>>{
           {45, -1}, {45, 0}, {45, 1000}, {0, -1}, {1, -1}, {2, 0}}) {
    const AlmLayout all(lmax, lmax);
    const AlmLayout mine = dealt_layout(comm(), lmax);
    const auto expected =
        rotated(Communicator::self(), all, random_alm_of<double>(all, 4), any_angles);
    EXPECT_TRUE(same_bits(
        rotated(comm(), mine, random_alm_of<double>(mine, 4), any_angles, RotationOptions{bytes}),
        part_of(mine, expected)));
  }
}

TEST_P(OnEveryRankCount, FloatAlmAreRotatedInDouble) {
  const AlmLayout mine = dealt_layout(comm(), 45);
  const auto in_float = rotated(comm(), mine, random_alm_of<float>(mine, 2), any_angles);
  const auto in_double = rotated(comm(), mine, random_alm_of<double>(mine, 2), any_angles);
  AlmBuffer<double> widened(2, mine.size());
  for (std::int64_t i = 0; i < 2 * mine.size(); ++i)
    widened.view().data()[i] = in_float.view().data()[i];
  expect_within(relative_error(comm(), widened, in_double), tolerance::single_storage);
}

TEST_P(OnEveryRankCount, ARankWithoutOrdersTakesPartInARotation) {
  constexpr int lmax = 12;
  const AlmLayout all(lmax, lmax);
  const AlmLayout mine = comm().is_root() ? all : AlmLayout(lmax, lmax, {});
  const auto expected =
      rotated(Communicator::self(), all, random_alm_of<double>(all, 1), any_angles);
  EXPECT_TRUE(same_bits(rotated(comm(), mine, random_alm_of<double>(mine, 1), any_angles),
                        part_of(mine, expected)));
}

/// a_lm of the field that is concentrated at one direction: conj(Y_lm).
AlmBuffer<double> point_source(const AlmLayout& layout, const std::array<double, 3>& v) {
  AlmBuffer<double> alm(1, layout.size());
  const double theta = std::atan2(std::hypot(v[0], v[1]), v[2]);
  const double phi = std::atan2(v[1], v[0]);
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const auto m = static_cast<unsigned>(layout.order(row));
    for (int l = layout.order(row); l <= layout.lmax(); ++l) {
      alm.view().component(0)[layout.index(row, l)] =
          std::polar(1.0, -static_cast<double>(m) * phi) *
          std::sph_legendre(static_cast<unsigned>(l), m, theta);
    }
  }
  return alm;
}

TEST_P(OnEveryRankCount, APointSourceMovesToWhereTheMatrixTakesIt) {
  const AlmLayout layout = dealt_layout(comm(), 30);
  const std::array<double, 3> at{0.48, 0.6, 0.64};
  for (const EulerAngles& angles :
       {any_angles, EulerAngles{1, 0, 0.5}, EulerAngles{0, 0.5, 0}, EulerAngles{-1, pi, 0.5},
        EulerAngles{0.2, -pi, 0.5}, EulerAngles{1, 2 * pi, 1},
        EulerAngles::between(CoordinateSystem::galactic, CoordinateSystem::ecliptic)}) {
    SCOPED_TRACE(angles.theta);
    expect_within(relative_error(comm(), rotated(comm(), layout, point_source(layout, at), angles),
                                 point_source(layout, product(angles.matrix(), at))),
                  tolerance::direct_sum);
  }
}

TEST_P(OnEveryRankCount, RotationsComposeAsTheirMatricesDo) {
  const AlmLayout layout = dealt_layout(comm(), 100);
  const AlmBuffer<double> alm = random_alm_of<double>(layout, 2);
  const EulerAngles first{0.1, 1.3, 2.9};
  const EulerAngles second{-2, 0.4, 1};
  const EulerAngles both = EulerAngles::of(product(second.matrix(), first.matrix()));
  expect_within(
      relative_error(comm(), rotated(comm(), layout, rotated(comm(), layout, alm, first), second),
                     rotated(comm(), layout, alm, both)),
      tolerance::round_trip);
  // Half a turn, which is a special case, in two steps, which are not.
  const EulerAngles quarter{0, pi / 2, 0};
  expect_within(relative_error(
                    comm(), rotated(comm(), layout, rotated(comm(), layout, alm, quarter), quarter),
                    rotated(comm(), layout, alm, {0, pi, 0})),
                tolerance::round_trip);
}

TEST_P(OnEveryRankCount, TheInverseRotationGoesBackAndThePowerStays) {
  const AlmLayout layout = dealt_layout(comm(), 150);
  const AlmBuffer<double> alm = random_alm_of<double>(layout, 3);
  for (const EulerAngles& angles : {any_angles, EulerAngles{1, 1e-3, 2}}) {
    AlmBuffer<double> there = rotated(comm(), layout, alm, angles);
    const Spectra before = power_spectra<double>(comm(), layout, alm.view());
    const Spectra after = power_spectra<double>(comm(), layout, std::as_const(there).view());
    for (int name = 0; name < Spectra::n_names; ++name) {
      for (int l = 0; l <= layout.lmax(); ++l) {
        const auto which = static_cast<Spectra::Name>(name);
        EXPECT_NEAR(after(which, l), before(which, l), tolerance::round_trip)
            << Spectra::names[to_size(name)] << " at l = " << l;
      }
    }
    rotate(comm(), layout, there, angles.inverse());
    expect_within(relative_error(comm(), there, alm), tolerance::round_trip);
  }
}

TEST_P(OnEveryRankCount, ARotationTakesAnEighthOfTheAlmAndSomeDegrees) {
  constexpr int lmax = 300;
  constexpr std::int64_t n_components = 4;
  const AlmLayout layout = dealt_layout(comm(), lmax);
  AlmBuffer<double> alm = random_alm_of<double>(layout, n_components);
  const std::int64_t before = MemoryMeter::current_bytes();
  MemoryMeter::reset_high_water();
  rotate(comm(), layout, alm, any_angles);
  // A thread holds its degree, and the columns and rows of three components.
  constexpr std::int64_t degree = n_components * (lmax + 1) * std::int64_t{sizeof(Complex)};
  const std::int64_t scratch = omp_get_max_threads() * 5 * degree;
  // Every worker has a degree of each block: as sent by this rank, and as received.
  const std::int64_t least = 2 * comm().max(std::int64_t{omp_get_max_threads()}) * degree;
  EXPECT_LE(MemoryMeter::high_water_bytes() - before, alm.bytes() / 8 + scratch + least);
}

TEST_P(OnEveryRankCount, ATurnAboutTheAxisNeedsNoFurtherOrders) {
  constexpr int lmax = 20;
  constexpr int mmax = 8;
  std::vector<int> orders;
  for (int m = comm().rank(); m <= mmax; m += comm().size()) orders.push_back(m);
  const AlmLayout layout(lmax, mmax, orders);
  const AlmBuffer<double> alm = random_alm_of<double>(layout, 1);
  const AlmBuffer<double> turned = rotated(comm(), layout, alm, {0.25, 0, 0.5});
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    for (int l = layout.order(row); l <= lmax; ++l) {
      const std::int64_t i = layout.index(row, l);
      EXPECT_LE(std::abs(turned.view().data()[i] -
                         alm.view().data()[i] * std::polar(1.0, -0.75 * layout.order(row))),
                1e-14);
    }
  }
  expect_error(ErrorKind::usage, "mmax = 8 below lmax = 20",
               [&] { rotated(comm(), layout, alm, any_angles); });
}

TEST_P(OnEveryRankCount, RefusesBadAnglesAndShapesOnAllRanks) {
  const AlmLayout layout = dealt_layout(comm(), 5);
  AlmBuffer<double> alm = random_alm_of<double>(layout, 1);
  EulerAngles bad = any_angles;
  if (comm().is_root()) bad.theta = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::usage, "finite angles", [&] { rotate(comm(), layout, alm, bad); });
  AlmBuffer<double> short_one(1, comm().is_root() ? layout.size() - 1 : layout.size());
  expect_error(ErrorKind::usage, "their layout has",
               [&] { rotate(comm(), layout, short_one, any_angles); });
  if (comm().size() == 1) return;
  EulerAngles other = any_angles;
  other.psi += comm().rank();
  expect_error(ErrorKind::usage, "the ranks disagree on the rotation",
               [&] { rotate(comm(), layout, alm, other); });
}

TEST(EulerAngles, AreThoseOfTheirMatrix) {
  for (const EulerAngles& angles :
       {any_angles, EulerAngles{0.1, 0, 0}, EulerAngles{0.1, pi, 0}, EulerAngles{-3, 1e-9, 3},
        EulerAngles{2, pi - 1e-9, 1}, EulerAngles{0, pi / 2, 0}, EulerAngles{1, -2, 1}}) {
    const EulerAngles found = EulerAngles::of(angles.matrix());
    expect_near(found.matrix(), angles.matrix(), 4e-16);
    EXPECT_GE(found.theta, 0);
    expect_near(product(angles.inverse().matrix(), angles.matrix()), EulerAngles{}.matrix(), 4e-16);
  }
  const RotationMatrix no_rotation{{{1, 0, 0}, {0, 1, 0}, {0, 0, -1}}};
  EXPECT_THROW(EulerAngles::of(no_rotation), UsageError);
  const RotationMatrix stretched{{{1, 0, 0}, {0, 1, 0}, {0, 0, 1.001}}};
  EXPECT_THROW(EulerAngles::of(stretched), UsageError);
}

TEST(EulerAngles, BetweenCoordinateSystemsGoThereAndBack) {
  using enum CoordinateSystem;
  for (const CoordinateSystem from : {galactic, celestial, ecliptic}) {
    expect_near(matrix_between(from, from), EulerAngles{}.matrix(), 0);
    for (const CoordinateSystem to : {galactic, celestial, ecliptic}) {
      expect_near(EulerAngles::between(from, to).matrix(), matrix_between(from, to), 4e-16);
      expect_near(product(matrix_between(to, from), matrix_between(from, to)),
                  EulerAngles{}.matrix(), 4e-16);
    }
  }
}

TEST(EulerAngles, BetweenCoordinateSystemsAreThoseOfHealpy) {
  using enum CoordinateSystem;
  struct Pair {
    CoordinateSystem from;
    CoordinateSystem to;
    EulerAngles angles;
  };
  // healpy.rotator.coordsys2euler_zyz, healpy 1.16.1 with Astropy 5.
  const std::vector<Pair> list = {
      {galactic, celestial, {0.9960259187845951, 1.0973190233809158, -2.917152366437428}},
      {galactic, ecliptic, {1.459374704226703, 1.0504884447272085, -3.141187365042611}},
      {celestial, galactic, {-0.22444028715236528, 1.0973190233809156, 2.145566734805198}},
      {celestial, ecliptic, {-1.570796079455667, 0.409092537182114, 1.570796013352418}},
      {ecliptic, galactic, {-0.00040528854718195736, 1.0504884447272076, 1.6822179493630902}},
      {ecliptic, celestial, {1.5707966402373752, 0.40909253718211375, -1.570796574134126}}};
  for (const auto& [from, to, angles] : list) {
    const EulerAngles found = EulerAngles::between(from, to);
    EXPECT_NEAR(found.psi, angles.psi, 1e-14);
    EXPECT_NEAR(found.theta, angles.theta, 1e-14);
    EXPECT_NEAR(found.phi, angles.phi, 1e-14);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
