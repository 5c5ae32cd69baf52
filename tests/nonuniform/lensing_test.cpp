// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/lensing.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <string>
#include <utility>
#include <vector>

#include "base/device.hpp"
#include "bench/sent_bytes.hpp"
#include "nonuniform/lensing_problem.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

PointSpec lensed(int lmax, const std::vector<int>& spins, double epsilon) {
  PointSpec spec;
  spec.lmax = lmax;
  spec.fields = FieldSet(spins);
  spec.epsilon = epsilon;
  return spec;
}

/// The transform with the same rings.
SphericalHarmonicTransform transform_like(const Communicator& comm, const Deflection& deflection,
                                          const PointSpec& spec, int lmax) {
  TransformSpec like;
  like.grid = deflection.rings().shared_grid();
  like.lmax = lmax;
  like.fields = spec.fields;
  like.ring_bands = deflection.ring_bands();
  return {comm, like};
}

template <class T>
MapBuffer<T> lensed_map(Lensing& lensing, const AlmBuffer<T>& alm) {
  MapBuffer<T> map = lensing.make_map<T>();
  lensing.lens(alm, map);
  return map;
}

TEST(Lensing, WithoutDeflectionIsTheSynthesis) {
  on_every_rank_count([](const Communicator& comm) {
    const PointSpec spec = lensed(40, {0, 2}, 1e-8);
    for (const char* grid : {"healpix:16", "gauss:40"}) {
      const Deflection none(comm, shared(RingGrid::from_name(grid)),
                            RandomPotential(comm, 12, 0).view());
      Lensing lensing(comm, none, spec);
      SphericalHarmonicTransform transform = transform_like(comm, none, spec, spec.lmax);
      const MapBuffer<double> map =
          lensed_map(lensing, random_alm(lensing.alm_layout(), spec.fields));
      expect_within(
          relative_error(comm, map,
                         synthesized(transform, random_alm(transform.alm_layout(), spec.fields))),
          spec.epsilon);
    }
  });
}

/// Multiplies a map by the quadrature weights, and by |A|.
void weigh(const Deflection& deflection, MapBuffer<double>& map) {
  HostBuffer<double> area(map.size());
  deflection.magnification({area.data(), area.size()});
  for_each_pixel(deflection.rings(), [&](std::int64_t i, const Ring& ring, double) {
    for (std::int64_t c = 0; c < map.n_components(); ++c)
      map.view().component(c)[i] *= ring.weight * area[i];
  });
}

TEST(Lensing, TheAdjointOfWeightedMapsGivesTheAlmBack) {
  on_every_rank_count([](const Communicator& comm) {
    const PointSpec spec = lensed(16, {0, 2, 1}, 1e-11);
    for (const double convergence : {0.0, 0.03}) {
      const Deflection deflection(comm, shared(RingGrid::gauss_legendre(64)),
                                  RandomPotential(comm, 6, convergence).view());
      Lensing lensing(comm, deflection, spec);
      const AlmBuffer<double> alm = random_alm(lensing.alm_layout(), spec.fields);
      MapBuffer<double> map = lensed_map(lensing, alm);
      weigh(deflection, map);
      AlmBuffer<double> back = lensing.make_alm<double>();
      lensing.adjoint(map, back);
      // A deflected map has degrees beyond those of which the sum over pixels is exact.
      const double bound = (convergence > 0 ? tolerance::inexact_sums : 1) * spec.epsilon;
      expect_within(relative_error(comm, back, alm), bound);
      lensing.adjoint(map, back, Accumulate::add);
      for (std::int64_t i = 0; i < back.n_components() * back.size(); ++i)
        back.view().data()[i] *= 0.5;
      expect_within(relative_error(comm, back, alm), bound);
    }
  });
}

/// Values of white a_lm at n' with the turned frame, from a direct sum for each pixel.
MapBuffer<double> expected_map(const Deflection& deflection, const PointSpec& spec,
                               FrameRotation rotation) {
  const std::int64_t n = deflection.rings().n_pixels();
  if (n == 0) return {spec.fields.n_components(), 0};
  MapBuffer<double> map = expected_values(spec, positions_of(deflection));
  MapBuffer<double> turn(2, n);
  deflection.rotation(turn.view().component(0), turn.view().component(1));
  for (const FieldSet::Field& field : spec.fields.fields()) {
    if (field.spin == 0 || rotation == FrameRotation::none) continue;
    const auto q = map.view().component(field.first_component);
    const auto u = map.view().component(field.first_component + 1);
    for (std::int64_t i = 0; i < n; ++i) {
      const double angle =
          field.spin * std::atan2(turn.view().component(1)[i], turn.view().component(0)[i]);
      const std::complex<double> x = std::complex<double>(q[i], u[i]) * std::polar(1.0, angle);
      q[i] = x.real();
      u[i] = x.imag();
    }
  }
  return map;
}

TEST(Lensing, ValuesAreThoseAtTheEndsInTheCarriedFrame) {
  on_every_rank_count([](const Communicator& comm) {
    const PointSpec spec = lensed(30, {0, 1, 2, 3}, 1e-11);
    const Deflection deflection(comm, shared(RingGrid::healpix(4)),
                                RandomPotential(comm, 10, 0.1).view());
    for (const FrameRotation rotation : {FrameRotation::carried, FrameRotation::none}) {
      Lensing lensing(comm, deflection, spec, rotation);
      const MapBuffer<double> map =
          lensed_map(lensing, random_alm(lensing.alm_layout(), spec.fields));
      expect_within(relative_error(comm, map, expected_map(deflection, spec, rotation)),
                    spec.epsilon);
      const MapBuffer<float> single =
          lensed_map(lensing, random_alm<float>(lensing.alm_layout(), spec.fields));
      MapBuffer<float> rounded = lensing.make_map<float>();
      std::copy_n(map.view().data(), map.n_components() * map.size(), rounded.view().data());
      expect_within(relative_error(comm, single, rounded), tolerance::single_storage);
    }
  });
}

template <class T>
double lensing_gap(const Communicator& comm, Lensing& lensing, const FieldSet& fields) {
  const AlmBuffer<T> alm = random_alm<T>(lensing.alm_layout(), fields);
  const MapBuffer<T> map = lensed_map(lensing, alm);
  MapBuffer<T> other = lensing.make_map<T>();
  for_each_pixel(lensing.rings(), [&](std::int64_t i, const Ring& ring, double phi) {
    for (std::int64_t c = 0; c < other.n_components(); ++c) {
      other.view().component(c)[i] =
          static_cast<T>(noise_pair(9, static_cast<std::uint32_t>(c),
                                    static_cast<int>(1e6 * ring.theta), static_cast<int>(1e6 * phi))
                             .re);
    }
  });
  AlmBuffer<T> back = lensing.make_alm<T>();
  lensing.adjoint(other, back);
  long double local = 0;
  for (std::int64_t i = 0; i < other.n_components() * other.size(); ++i)
    local += static_cast<long double>(map.view().data()[i]) * other.view().data()[i];
  const double on_map = comm.sum(static_cast<double>(local));
  const double of_alm = inner_product<T>(comm, lensing.alm_layout(), alm.view(), back.view());
  const double norms = std::sqrt(squared_norm<T>(comm, std::as_const(map).view()) *
                                 squared_norm<T>(comm, std::as_const(other).view()));
  const double n = comm.sum(static_cast<double>(other.n_components() * other.size()));
  return std::abs(on_map - of_alm) / (norms / std::sqrt(n));
}

TEST(Lensing, AdjointIsTheTranspose) {
  const std::vector<std::vector<int>> kinds{{0}, {2}, {0, 2}, {3, 0, 2}, {0, 0, 0, 2, 1, 3}};
  on_every_rank_count([&](const Communicator& comm) {
    const Deflection deflection(comm, shared(RingGrid::healpix(8)),
                                RandomPotential(comm, 20, 0.1).view());
    for (const double epsilon : {1e-2, 1e-12}) {
      for (const std::vector<int>& spins : kinds) {
        const PointSpec spec = lensed(40, spins, epsilon);
        for (const FrameRotation rotation : {FrameRotation::carried, FrameRotation::none}) {
          Lensing lensing(comm, deflection, spec, rotation);
          EXPECT_LT(lensing_gap<double>(comm, lensing, spec.fields), tolerance::adjoint);
          EXPECT_LT(lensing_gap<float>(comm, lensing, spec.fields), tolerance::single_storage);
        }
      }
    }
  });
}

TEST(Lensing, ResultsAreTheSameBitByBitForAnyThreads) {
  const Communicator comm = Communicator::world();
  const PointSpec spec = lensed(30, {0, 2}, 1e-6);
  const RandomPotential potential(comm, 20, 0.05);
  const auto run = [&](int threads) {
    omp_set_num_threads(threads);
    const Deflection deflection(comm, shared(RingGrid::healpix(16)), potential.view());
    Lensing lensing(comm, deflection, spec);
    MapBuffer<double> map = lensed_map(lensing, random_alm(lensing.alm_layout(), spec.fields));
    AlmBuffer<double> back = lensing.make_alm<double>();
    lensing.adjoint(map, back);
    omp_set_num_threads(1);
    return std::pair{std::move(map), std::move(back)};
  };
  const auto one = run(1);
  const auto three = run(3);
  EXPECT_TRUE(same_bits(one.first, three.first));
  EXPECT_TRUE(same_bits(one.second, three.second));
}

TEST(Lensing, FloatMapsAreThoseOfDoublesRoundedOnce) {
  // Some pixels go far, so that several ranks sum them.
  for (const double convergence : {0.05, 2.0}) {
    on_every_rank_count([&](const Communicator& comm) {
      const Deflection deflection(comm, shared(RingGrid::gauss_legendre(24, 600)),
                                  RandomPotential(comm, 5, convergence).view());
      const PointSpec spec = lensed(30, {0, 2}, 1e-6);
      Lensing lensing(comm, deflection, spec);
      const AlmBuffer<float> alm = random_alm<float>(lensing.alm_layout(), spec.fields);
      AlmBuffer<double> same = lensing.make_alm<double>();
      std::copy_n(alm.view().data(), alm.n_components() * alm.size(), same.view().data());
      const MapBuffer<double> map = lensed_map(lensing, same);
      MapBuffer<float> rounded = lensing.make_map<float>();
      std::copy_n(map.view().data(), map.n_components() * map.size(), rounded.view().data());
      EXPECT_TRUE(same_bits(lensed_map(lensing, alm), rounded));
    });
  }
}

TEST(Lensing, AdjointIsTheSameBitByBitForAnyRanks) {
  // Some pixels go far, so that pieces of rings are summed by ranks all over the sphere.
  for (const double convergence : {0.05, 2.0}) {
    const Communicator self = Communicator::self();
    const auto grid = shared(RingGrid::gauss_legendre(24, 600));
    PointSpec spec = lensed(30, {0, 2}, 1e-6);
    spec.exchange.mpi_count_limit = 99;
    const Deflection whole(self, grid, RandomPotential(self, 5, convergence).view());
    Lensing alone(self, whole, spec);
    const AlmBuffer<double> alm = random_alm(alone.alm_layout(), spec.fields);
    const MapBuffer<double> map = lensed_map(alone, alm);
    AlmBuffer<double> expected = alone.make_alm<double>();
    alone.adjoint(map, expected);
    on_every_rank_count([&](const Communicator& comm) {
      const Deflection deflection(comm, grid, RandomPotential(comm, 5, convergence).view());
      Lensing lensing(comm, deflection, spec);
      const MapBuffer<double> found =
          lensed_map(lensing, random_alm(lensing.alm_layout(), spec.fields));
      MapBuffer<double> mine = lensing.make_map<double>();
      for (const PixelSlab& slab : deflection.rings().slabs()) {
        for (std::int64_t c = 0; c < 2; ++c) {
          ASSERT_TRUE(
              std::equal(deflection.vectors().component(c).data() + slab.first_local,
                         deflection.vectors().component(c).data() + slab.first_local + slab.count,
                         whole.vectors().component(c).data() + slab.first_global));
        }
        for (std::int64_t c = 0; c < map.n_components(); ++c) {
          std::copy_n(map.view().component(c).data() + slab.first_global, slab.count,
                      mine.view().component(c).data() + slab.first_local);
        }
      }
      expect_within(relative_error(comm, found, mine), tolerance::rank_invariance);
      AlmBuffer<double> back = lensing.make_alm<double>();
      lensing.adjoint(mine, back);
      const AlmLayout& layout = lensing.alm_layout();
      for (std::int64_t c = 0; c < back.n_components(); ++c) {
        for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
          const int m = layout.order(row);
          const auto orders = alone.alm_layout().orders();
          const std::int64_t same = std::find(orders.begin(), orders.end(), m) - orders.begin();
          const auto* const first = back.view().component(c).data() + layout.index(row, m);
          ASSERT_TRUE(
              std::equal(first, first + spec.lmax + 1 - m,
                         expected.view().component(c).data() + alone.alm_layout().index(same, m)));
        }
      }
    });
  }
}

TEST(Delensing, UndoesLensing) {
  const Communicator comm = Communicator::world();
  constexpr int lensed_lmax = 63;
  const PointSpec spec = lensed(12, {0, 2}, 1e-11);
  for (const char* grid : {"gauss:63", "healpix:32"}) {
    if (comm.size() > 1 && std::string(grid) == "healpix:32") continue;
    const Deflection deflection(comm, shared(RingGrid::from_name(grid)),
                                RandomPotential(comm, 4, 0.02).view());
    Lensing lensing(comm, deflection, spec);
    const MapBuffer<double> map =
        lensed_map(lensing, random_alm(lensing.alm_layout(), spec.fields));
    const bool is_exact = deflection.rings().grid().kind() == GridKind::gauss_legendre;
    Delensing delensing(comm, deflection.inverse(), lensed(lensed_lmax, {0, 2}, 1e-11),
                        is_exact ? 0 : 5);
    MapBuffer<double> delensed = lensing.make_map<double>();
    delensing.delens(map, delensed);
    SphericalHarmonicTransform unlensed = transform_like(comm, deflection, spec, spec.lmax);
    const MapBuffer<double> expected =
        synthesized(unlensed, random_alm(unlensed.alm_layout(), spec.fields));
    expect_within(relative_error(comm, delensed, expected),
                  is_exact ? tolerance::delensed : tolerance::delensed_by_iteration);
    if (!is_exact) continue;
    MapBuffer<float> single = lensing.make_map<float>();
    std::copy_n(map.view().data(), map.n_components() * map.size(), single.view().data());
    MapBuffer<float> delensed_single = lensing.make_map<float>();
    delensing.delens(single, delensed_single);
    std::copy_n(delensed_single.view().data(), map.n_components() * map.size(),
                delensed.view().data());
    expect_within(relative_error(comm, delensed, expected), tolerance::single_storage);
    MapBuffer<double> wrong(2, map.size());
    expect_error(ErrorKind::usage, "components", [&] { delensing.delens(map, wrong); });
  }
  const Deflection bare(comm, shared(RingGrid::from_rings({{1, 0, 8, 0}, {2, 0, 8, 0}})),
                        RandomPotential(comm, 4, 0.02).view());
  expect_error(ErrorKind::usage, "weight", [&] { Delensing(comm, bare.inverse(), spec); });
}

TEST(Lensing, EachTransformIsOneAlltoallvForAllFields) {
  on_every_rank_count([](const Communicator& comm) {
    const int expected = comm.size() > 1 ? 1 : 0;
    const RandomPotential potential(comm, 60, 0.05);
    const auto grid = shared(RingGrid::healpix(32));
    std::int64_t before = mpi_alltoallvs();
    const Deflection deflection(comm, grid, potential.view());
    EXPECT_EQ(mpi_alltoallvs() - before, expected);
    const PointSpec spec = lensed(64, {0, 2}, 1e-6);
    Lensing lensing(comm, deflection, spec);
    const AlmBuffer<double> alm = random_alm(lensing.alm_layout(), spec.fields);
    MapBuffer<double> map = lensing.make_map<double>();
    AlmBuffer<double> back = lensing.make_alm<double>();
    before = mpi_alltoallvs();
    lensing.lens(alm, map);
    EXPECT_EQ(mpi_alltoallvs() - before, expected);
    before = mpi_alltoallvs();
    lensing.adjoint(map, back);
    EXPECT_EQ(mpi_alltoallvs() - before, expected);
  });
}

TEST(Lensing, WrongShapesAndRanksAreRefused) {
  const Communicator comm = Communicator::world();
  const Deflection deflection(comm, shared(RingGrid::healpix(4)),
                              RandomPotential(comm, 8, 0.05).view());
  Lensing lensing(comm, deflection, lensed(10, {0, 2}, 1e-6));
  AlmBuffer<double> alm = lensing.make_alm<double>();
  MapBuffer<double> map(2, lensing.rings().n_pixels());
  expect_error(ErrorKind::usage, "2 components of values; the plan has 3",
               [&] { lensing.adjoint(map, alm); });
  expect_error(ErrorKind::usage, "2 components of values; the plan has 3",
               [&] { lensing.lens(alm, map); });
  expect_error(ErrorKind::usage, "expected 1e-13 to 0.1",
               [&] { Lensing(comm, deflection, lensed(10, {0}, 1)); });
  if (device_count() == 0) {
    PointSpec on_device = lensed(10, {0}, 1e-6);
    on_device.backend = Backend::cuda;
    expect_error(cuda_version().empty() ? ErrorKind::usage : ErrorKind::resource, "host backend",
                 [&] { Lensing(comm, deflection, on_device); });
  }
  if (comm.size() == 1) return;
  const Communicator reversed = comm.split(0, comm.size() - comm.rank());
  const Deflection inverse = deflection.inverse();
  for (const Communicator& other : {Communicator::self(), reversed}) {
    expect_error(ErrorKind::usage, "a deflection made with a communicator of",
                 [&] { Lensing(other, deflection, lensed(10, {0}, 1e-6)); });
    expect_error(ErrorKind::usage, "a deflection made with a communicator of",
                 [&] { Delensing(other, inverse, lensed(10, {0}, 1e-6)); });
  }
}

}  // namespace
}  // namespace ringweave::detail::test
