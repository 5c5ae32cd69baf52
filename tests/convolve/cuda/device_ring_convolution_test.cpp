// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/device.hpp"
#include "convolve/kernels.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_device_memory.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "support/expect_error.hpp"
#include "support/noise.hpp"
#include "support/on_devices.hpp"
#include "support/tolerance.hpp"

// The ring convolution on a device against the host's. Ranks of one launch share the available
// devices.
namespace ringweave::detail::test {
namespace {

class RingSumsOnDevices : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Ranks, RingSumsOnDevices, every_rank_count(), name_of_rank_groups);

/// Fills maps of own rings with noise that does not depend on the ranks.
template <class T>
MapBuffer<T> random_maps(const LocalRings& rings, std::int64_t n_maps) {
  MapBuffer<T> maps(n_maps, rings.n_pixels());
  for (std::int64_t map = 0; map < n_maps; ++map) {
    const auto pixels = maps.view().component(map);
    for (const PixelSlab& slab : rings.slabs()) {
      for (std::int64_t i = 0; i < slab.count; ++i) {
        pixels[slab.first_local + i] =
            static_cast<T>(noise_pair(1, static_cast<std::uint32_t>(map), 0,
                                      static_cast<int>(slab.first_global + i))
                               .re);
      }
    }
  }
  return maps;
}

/// Convolves the same random maps on the host and on a device.
template <class T>
void expect_same(const Communicator& comm, RingConvolution& host, RingConvolution& device,
                 double bound) {
  const std::int64_t n_maps = host.plan().spec().n_maps;
  const MapBuffer<T> maps = random_maps<T>(host.rings(), n_maps);
  MapBuffer<T> expected(n_maps, host.rings().n_pixels());
  MapBuffer<T> found(n_maps, host.rings().n_pixels());
  host.convolve<T>(std::as_const(maps).view(), expected.view());
  device.convolve<T>(std::as_const(maps).view(), found.view());
  EXPECT_EQ(device.halo_bytes_sent(), host.halo_bytes_sent());
  for (std::int64_t map = 0; map < n_maps; ++map) {
    double gap = 0;
    double all = 0;
    for (std::int64_t i = 0; i < host.rings().n_pixels(); ++i) {
      const double wanted = expected.view().component(map)[i];
      gap += std::pow(found.view().component(map)[i] - wanted, 2);
      all += wanted * wanted;
    }
    EXPECT_LE(std::sqrt(comm.sum(gap) / comm.sum(all)), bound);
  }
}

template <class T>
void expect_as_the_host(const Communicator& comm, RingConvolutionSpec spec, double bound) {
  SCOPED_TRACE(spec.grid->name() + ", path " + std::to_string(static_cast<int>(spec.path)) +
               ", spin " + std::to_string(spec.kernels.front().spin()));
  RingConvolution host(comm, spec);
  spec.backend = Backend::cuda;
  RingConvolution device(comm, spec);
  expect_same<T>(comm, host, device, bound);
}

RingConvolutionSpec spec_of(const RingGrid& grid, const RadialKernel& kernel,
                            ConvolutionPath path) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(grid);
  spec.kernels = {kernel};
  spec.path = path;
  return spec;
}

TEST_P(RingSumsOnDevices, AreThoseOfTheHostInASmallCase) {
  RingConvolutionSpec spec =
      spec_of(RingGrid::healpix(4), gaussian(40), ConvolutionPath::modes_equal);
  spec.n_maps = 3;
  expect_as_the_host<double>(comm(), spec, as_the_host);
  expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
}

TEST_P(RingSumsOnDevices, AreThoseOfTheHostForPairsOfMapsInASmallCase) {
  RingConvolutionSpec spec =
      spec_of(RingGrid::gauss_legendre(17, 64), gaussian(100), ConvolutionPath::modes);
  spec.n_maps = 4;
  EXPECT_EQ(RingConvolutionPlan(spec, 0, 1).maps_together(), 2);
  expect_as_the_host<double>(comm(), spec, as_the_host);
}

// More partners than a block takes together.
TEST_P(RingSumsOnDevices, AreThoseOfTheHostForManyRingsInASmallCase) {
  for (const RingGrid& grid :
       {RingGrid::healpix(4), RingGrid::gauss_legendre(11, 22), odd_rings()}) {
    RingConvolutionSpec spec = spec_of(grid, top_hat(120), ConvolutionPath::pixels);
    for (const std::int64_t n_maps : {1, 2}) {
      spec.n_maps = n_maps;
      expect_as_the_host<double>(comm(), spec, as_the_host);
      expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
    }
  }
}

TEST_P(RingSumsOnDevices, OfFieldsOfSpinAreThoseOfTheHostInASmallCase) {
  RingConvolutionSpec spec =
      spec_of(RingGrid::healpix(4), gaussian_of_spin(40, 2), ConvolutionPath::modes_equal);
  spec.n_maps = 2;
  expect_as_the_host<double>(comm(), spec, as_the_host);
  expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
  // More samples of a kernel than a block holds.
  spec =
      spec_of(RingGrid::gauss_legendre(13, 64), gaussian_of_spin(100, 2), ConvolutionPath::modes);
  spec.n_maps = 2;
  expect_as_the_host<double>(comm(), spec, as_the_host);
}

TEST_P(RingSumsOnDevices, OfFieldsOfSpinAreThoseOfTheHostForManyRingsInASmallCase) {
  for (const RingGrid& grid :
       {RingGrid::healpix(4), RingGrid::gauss_legendre(11, 22), odd_rings()}) {
    RingConvolutionSpec spec = spec_of(grid, sharp_beam(6, 120, 2), ConvolutionPath::pixels);
    spec.n_maps = 2;
    expect_as_the_host<double>(comm(), spec, as_the_host);
    expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
  }
}

TEST_P(RingSumsOnDevices, OfEverySpinAreThoseOfTheHost) {
  for (const int spin : {1, 2, 3}) {
    for (const auto path : {ConvolutionPath::pixels, ConvolutionPath::modes}) {
      RingConvolutionSpec spec = spec_of(RingGrid::healpix(3), sharp_beam(5, 180, spin), path);
      spec.n_maps = 2;
      expect_as_the_host<double>(comm(), spec, as_the_host);
    }
    RingConvolutionSpec spec = spec_of(RingGrid::clenshaw_curtis(9, 15), sharp_beam(9, 50, spin),
                                       ConvolutionPath::modes_equal);
    spec.n_maps = 2;
    expect_as_the_host<double>(comm(), spec, as_the_host);
  }
}

TEST_P(RingSumsOnDevices, ABatchOfFieldsOfSpinIsThatOfTheHost) {
  RingConvolutionSpec spec =
      spec_of(RingGrid::healpix(4), gaussian_of_spin(40, 2), ConvolutionPath::modes_equal);
  spec.n_maps = 4;
  expect_as_the_host<double>(comm(), spec, as_the_host);
  spec.kernels.push_back(gaussian_of_spin(60, 2));
  spec.path = ConvolutionPath::modes;
  expect_as_the_host<double>(comm(), spec, as_the_host);
}

// One convolution has one spin; those of a batch of several spins share the device.
TEST_P(RingSumsOnDevices, OfSeveralSpinsShareADevice) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  std::vector<RingConvolution> of_host;
  std::vector<RingConvolution> of_device;
  for (int spin = 0; spin <= 3; ++spin) {
    RingConvolutionSpec spec =
        spec_of(*grid, gaussian_of_spin(50, spin), ConvolutionPath::automatic);
    spec.grid = grid;
    spec.n_maps = spin == 0 ? 1 : 2;
    if (spin > 0) spec.ring_bands = of_host.front().ring_bands();
    of_host.emplace_back(comm(), spec);
    spec.backend = Backend::cuda;
    if (spin == 0) spec.ring_bands = of_host.front().ring_bands();
    of_device.emplace_back(comm(), spec);
  }
  for (std::size_t i = of_host.size(); i-- > 0;)
    expect_same<double>(comm(), of_host[i], of_device[i], as_the_host);
}

TEST_P(RingSumsOnDevices, OfConjugatesOfFieldsOfSpinAreThoseOfTheHostInASmallCase) {
  for (const RingGrid& grid :
       {RingGrid::healpix(4), RingGrid::gauss_legendre(11, 22), odd_rings()}) {
    RingConvolutionSpec spec = spec_of(grid, gaussian_of_spin(60, 2), ConvolutionPath::pixels);
    spec.conjugate_kernels = {of_conjugates(5, 100, 2)};
    spec.n_maps = 2;
    expect_as_the_host<double>(comm(), spec, as_the_host);
    expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
  }
}

TEST_P(RingSumsOnDevices, OfConjugatesAreAddedToModesForEveryField) {
  RingConvolutionSpec spec =
      spec_of(RingGrid::healpix(4), gaussian_of_spin(40, 1), ConvolutionPath::modes_equal);
  spec.kernels.push_back(gaussian_of_spin(60, 1));
  spec.conjugate_kernels = {of_conjugates(5, 120, 1), of_conjugates(4, 180, 1)};
  spec.n_maps = 4;
  expect_as_the_host<double>(comm(), spec, as_the_host);
}

TEST_P(RingSumsOnDevices, AreThoseOfTheHostByModesAndByPixels) {
  expect_as_the_host<double>(
      comm(), spec_of(RingGrid::healpix(8), gaussian(20), ConvolutionPath::modes), as_the_host);
  expect_as_the_host<double>(
      comm(), spec_of(RingGrid::healpix(4), top_hat(30), ConvolutionPath::pixels), as_the_host);
  expect_as_the_host<double>(
      comm(), spec_of(RingGrid::gauss_legendre(9, 20), gaussian(60), ConvolutionPath::modes),
      as_the_host);
  expect_as_the_host<double>(
      comm(), spec_of(RingGrid::clenshaw_curtis(9, 15), top_hat(40), ConvolutionPath::modes_equal),
      as_the_host);
}

TEST_P(RingSumsOnDevices, OfFloatsAreThoseOfTheHost) {
  for (const auto path : {ConvolutionPath::modes, ConvolutionPath::pixels}) {
    expect_as_the_host<float>(comm(), spec_of(RingGrid::healpix(4), gaussian(40), path),
                              tolerance::single_storage);
  }
}

TEST_P(RingSumsOnDevices, EveryMapMayHaveItsKernel) {
  for (const auto path : {ConvolutionPath::modes, ConvolutionPath::modes_equal}) {
    RingConvolutionSpec spec = spec_of(RingGrid::healpix(4), gaussian(40), path);
    spec.kernels.push_back(gaussian(60));
    spec.n_maps = 2;
    expect_as_the_host<double>(comm(), spec, as_the_host);
  }
}

TEST_P(RingSumsOnDevices, TakeAsMuchOfTheDeviceAsIsPlannedInASmallCase) {
  if (Communicator::world().size() > 1 || !is_in_software())
    GTEST_SKIP() << "other ranks, or the driver, change the free memory";
  for (const auto path : {ConvolutionPath::pixels, ConvolutionPath::modes_equal}) {
    RingConvolutionSpec spec = spec_of(RingGrid::healpix(32), gaussian(5), path);
    spec.n_maps = 3;
    spec.backend = Backend::cuda;
    const std::int64_t before = device_memory().free_bytes;
    const RingConvolution device(comm(), spec);
    const auto taken = static_cast<double>(before - device_memory().free_bytes);
    const auto planned = static_cast<double>(device_memory_of(device.plan()).total());
    EXPECT_NEAR(taken, planned, 0.1 * planned);
  }
}

TEST_P(RingSumsOnDevices, TooManyMapsForTheDeviceAreThereAFewAtATime) {
  if (is_a_large_device()) GTEST_SKIP() << "the device is large";
  for (const auto path : {ConvolutionPath::pixels, ConvolutionPath::modes_equal}) {
    RingConvolutionSpec spec = spec_of(RingGrid::healpix(16), gaussian(5), path);
    spec.n_maps = 1 + 2 * device_memory().total_bytes / (2 * spec.grid->n_pixels() * 8);
    expect_as_the_host<double>(comm(), spec, as_the_host);
  }
}

TEST_P(RingSumsOnDevices, TooLargeForTheDeviceAreRefusedOnAllRanks) {
  if (is_a_large_device()) GTEST_SKIP() << "the device is large";
  for (const int spin : {0, 2}) {
    RingConvolutionSpec small =
        spec_of(RingGrid::healpix(4), gaussian_of_spin(40, spin), ConvolutionPath::pixels);
    small.n_maps = 2;
    RingConvolution host(comm(), small);
    small.backend = Backend::cuda;
    RingConvolution device(comm(), small);
    RingConvolutionSpec large =
        spec_of(RingGrid::healpix(256), gaussian_of_spin(1, spin), ConvolutionPath::pixels);
    large.n_maps = 2;
    large.backend = Backend::cuda;
    expect_error(ErrorKind::resource, "bytes (", [&] { RingConvolution(comm(), large); });
    // Nothing was lost.
    expect_same<double>(comm(), host, device, as_the_host);
  }
}

}  // namespace
}  // namespace ringweave::detail::test
