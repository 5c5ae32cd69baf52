// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/device.hpp"
#include "nonuniform/lensing_problem.hpp"
#include "nonuniform/point_memory.hpp"
#include "ringweave/lensing.hpp"
#include "support/expect_error.hpp"
#include "support/on_devices.hpp"
#include "support/tolerance.hpp"

// Lensing on devices against the host.
namespace ringweave::detail::test {
namespace {

class LensingOnDevices : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Ranks, LensingOnDevices, every_rank_count(), name_of_rank_groups);

/// A grid and a deflection of its pixels.
struct Deflected {
  std::shared_ptr<const RingGrid> grid;
  double convergence;

  Deflection deflection(const Communicator& comm) const {
    return {comm, grid, RandomPotential(comm, 5, convergence).view()};
  }
};

Lensing lensing_on(Backend backend, const Communicator& comm, const Deflection& deflection,
                   PointSpec spec, FrameRotation rotation = FrameRotation::carried) {
  spec.backend = backend;
  return {comm, deflection, spec, rotation};
}

template <class T>
MapBuffer<T> lensed_map(Lensing& lensing, const FieldSet& fields) {
  MapBuffer<T> map = lensing.make_map<T>();
  lensing.lens(random_alm<T>(lensing.alm_layout(), fields), map);
  return map;
}

/// Numbers that follow from pixels alone.
template <class T>
MapBuffer<T> noise_map(Lensing& lensing) {
  MapBuffer<T> map = lensing.make_map<T>();
  for_each_pixel(lensing.rings(), [&](std::int64_t i, const Ring& ring, double phi) {
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      map.view().component(c)[i] =
          static_cast<T>(noise_pair(9, static_cast<std::uint32_t>(c),
                                    static_cast<int>(1e6 * ring.theta), static_cast<int>(1e6 * phi))
                             .re);
    }
  });
  return map;
}

template <class T>
AlmBuffer<T> adjoint_of(Lensing& lensing, const MapBuffer<T>& map) {
  AlmBuffer<T> alm = lensing.make_alm<T>();
  lensing.adjoint(map, alm);
  return alm;
}

template <class T = double>
void expect_lensing_as_the_host(const Communicator& comm, const Deflected& problem,
                                const PointSpec& spec,
                                FrameRotation rotation = FrameRotation::carried,
                                double bound = as_the_host) {
  const Deflection deflection = problem.deflection(comm);
  Lensing host = lensing_on(Backend::host, comm, deflection, spec, rotation);
  Lensing device = lensing_on(Backend::cuda, comm, deflection, spec, rotation);
  expect_within(
      relative_error(comm, lensed_map<T>(device, spec.fields), lensed_map<T>(host, spec.fields)),
      bound);
  const MapBuffer<T> map = noise_map<T>(host);
  const AlmBuffer<T> found = adjoint_of(device, map);
  expect_within(relative_error(comm, found, adjoint_of(host, map)), bound);
  EXPECT_TRUE(same_bits(found, adjoint_of(device, map)));
}

Deflected on_healpix(double convergence) { return {shared(RingGrid::healpix(4)), convergence}; }
/// Few long rings, whose pieces go to other ranks where they are moved far.
Deflected on_long_rings(double convergence) {
  return {shared(RingGrid::gauss_legendre(6, 130)), convergence};
}

TEST_P(LensingOnDevices, IsThatOfTheHostInASmallCase) {
  expect_lensing_as_the_host(comm(), on_healpix(0.1), spec_of(8, {0}, 1e-4));
  expect_lensing_as_the_host(comm(), on_healpix(0.1), spec_of(8, {2}, 1e-4));
}

TEST_P(LensingOnDevices, IsThatOfTheHostForAllSpins) {
  expect_lensing_as_the_host(comm(), on_healpix(0.1), spec_of(12, {0, 1, 2, 3}, 1e-8, 9));
}

TEST_P(LensingOnDevices, IsThatOfTheHostForFieldsThatDoNotTurn) {
  expect_lensing_as_the_host(comm(), on_healpix(0.1), spec_of(8, {0, 2}, 1e-3),
                             FrameRotation::none);
}

TEST_P(LensingOnDevices, IsThatOfTheHostWherePixelsGoFar) {
  expect_lensing_as_the_host(comm(), on_long_rings(2), spec_of(9, {0, 2}, 1e-3));
}

TEST_P(LensingOnDevices, OfFloatsIsThatOfTheHost) {
  expect_lensing_as_the_host<float>(comm(), on_healpix(0.1), spec_of(8, {0, 2}, 1e-3),
                                    FrameRotation::carried, tolerance::single_storage);
}

TEST_P(LensingOnDevices, DoesNotDependOnTheRanks) {
  const Deflected problem = on_long_rings(2);
  const PointSpec spec = spec_of(9, {0, 2}, 1e-3);
  const Communicator self = Communicator::self();
  const Deflection whole = problem.deflection(self);
  Lensing alone = lensing_on(Backend::cuda, self, whole, spec);
  const MapBuffer<double> map = lensed_map<double>(alone, spec.fields);
  const AlmBuffer<double> alm = adjoint_of(alone, noise_map<double>(alone));

  const Deflection deflection = problem.deflection(comm());
  Lensing lensing = lensing_on(Backend::cuda, comm(), deflection, spec);
  MapBuffer<double> mine = lensing.make_map<double>();
  for (const PixelSlab& slab : lensing.rings().slabs()) {
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      std::copy_n(map.view().component(c).data() + slab.first_global, slab.count,
                  mine.view().component(c).data() + slab.first_local);
    }
  }
  expect_within(relative_error(comm(), lensed_map<double>(lensing, spec.fields), mine),
                tolerance::rank_invariance);
  AlmBuffer<double> own = lensing.make_alm<double>();
  const AlmLayout& layout = lensing.alm_layout();
  const AlmLayout& all = alone.alm_layout();
  for (std::int64_t c = 0; c < own.n_components(); ++c) {
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      std::copy_n(alm.view().component(c).data() + all.index(all.row_of(m), m),
                  layout.lmax() + 1 - m, own.view().component(c).data() + layout.index(row, m));
    }
  }
  expect_within(relative_error(comm(), adjoint_of(lensing, noise_map<double>(lensing)), own),
                tolerance::rank_invariance);
}

TEST_P(LensingOnDevices, MovesMapsBack) {
  const Deflection inverse =
      Deflected{shared(RingGrid::gauss_legendre(12)), 0.02}.deflection(comm()).inverse();
  const PointSpec spec = spec_of(12, {0, 2}, 1e-6);
  const auto delensed = [&](Backend backend) {
    PointSpec there = spec;
    there.backend = backend;
    Delensing delensing(comm(), inverse, there);
    MapBuffer<double> map(3, delensing.rings().n_pixels());
    for_each_pixel(delensing.rings(), [&](std::int64_t i, const Ring& ring, double phi) {
      for (std::int64_t c = 0; c < 3; ++c)
        map.view().component(c)[i] =
            std::cos(ring.theta * static_cast<double>(c + 1)) + ring.sin_theta * std::sin(phi);
    });
    MapBuffer<double> back(3, map.size());
    delensing.delens(map, back);
    return back;
  };
  expect_within(relative_error(comm(), delensed(Backend::cuda), delensed(Backend::host)),
                as_the_host);
}

TEST_P(LensingOnDevices, TakesAsMuchOfTheDeviceAsIsPlannedInASmallCase) {
  if (Communicator::world().size() > 1 || !is_in_software())
    GTEST_SKIP() << "other ranks, or the driver, change the free memory";
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(16));
  const Deflection deflection = Deflected{grid, 0.1}.deflection(comm());
  const std::int64_t before = device_memory().free_bytes;
  Lensing lensing = lensing_on(Backend::cuda, comm(), deflection, spec_of(23, {0, 2}, 1e-6));
  const auto taken = static_cast<double>(before - device_memory().free_bytes);
  const PointTransform& transform = lensing.transform();
  const auto planned = static_cast<double>(
      device_memory_of_points(transform.plan(), grid->n_pixels(), FrameRotation::carried).total());
  EXPECT_NEAR(taken, planned, tolerance::predicted_memory * planned);
}

// SOFTDEVICE_MEMORY.
TEST_P(LensingOnDevices, TooLargeForTheDeviceIsRefusedOnAllRanks) {
  if (is_a_large_device()) GTEST_SKIP() << "the device is large";
  const Deflection deflection = on_healpix(0.1).deflection(comm());
  expect_error(ErrorKind::resource, "bytes (",
               [&] { lensing_on(Backend::cuda, comm(), deflection, spec_of(700, {0}, 1e-4)); });
  Lensing small = lensing_on(Backend::cuda, comm(), deflection, spec_of(8, {0}, 1e-4));
  lensed_map<double>(small, FieldSet({0}));
}

}  // namespace
}  // namespace ringweave::detail::test
