// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <omp.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "base/memory_meter.hpp"
#include "convolve/kernels.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::test {
namespace {

RadialKernel gaussian_of_arcmin(double fwhm) { return gaussian(fwhm / 60, 1e-5); }

/// Returns a kernel for Q and U.
RadialKernel spin_gaussian_of_arcmin(double fwhm) {
  return RadialKernel::gaussian(fwhm / 60 * degree, KernelSupport::automatic(1e-5), 2);
}

RingConvolutionSpec spec_of(std::int64_t nside, const RadialKernel& kernel, std::int64_t n_maps,
                            std::int64_t bytes_per_pixel) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.kernels = {kernel};
  spec.n_maps = n_maps;
  spec.error = 1e-5;
  spec.bytes_per_pixel = bytes_per_pixel;
  return spec;
}

/// Input + output + halo + the modes of one field + a fifth of input + output, or a few megabytes
/// on ranks with little data.
void expect_within_rule(const RingConvolutionPlan& plan) {
  const RingConvolutionSpec& spec = plan.spec();
  const std::int64_t maps = 2 * spec.n_maps * plan.own().n_pixels() * spec.bytes_per_pixel;
  const std::int64_t modes_of_one = plan.rows().size() * plan.maps_of_field() * 16;
  const std::int64_t allowed = std::max(maps / 5, std::int64_t{6} << 20);
  const std::int64_t more = plan.mode_bytes() - modes_of_one + plan.workspace_bytes(1);
  EXPECT_LE(more, allowed) << "nside " << spec.grid->nside() << ", support "
                           << plan.support() / degree << " degrees, " << spec.n_maps << " maps, "
                           << plan.n_ranks() << " ranks, modes " << plan.mode_bytes()
                           << ", workspace " << plan.workspace_bytes(1) << ", maps " << maps;
}

TEST(RingConvolutionMemory, BesideMapsHaloAndTheModesOfOneMapIsAFifthOfTheMaps) {
  for (const std::int64_t nside : {512, 1024, 2048}) {
    for (const double fwhm_arcmin : {5.0, 20.0, 60.0, 240.0}) {
      const RadialKernel kernel = gaussian_of_arcmin(fwhm_arcmin);
      for (const int n_ranks : {1, 2, 8}) {
        const auto spec = spec_of(nside, kernel, 1, 8);
        for (int rank = 0; rank < n_ranks; rank += std::max(1, n_ranks - 1))
          expect_within_rule(RingConvolutionPlan(spec, rank, n_ranks));
      }
    }
  }
}

TEST(RingConvolutionMemory, BatchesFloatsAndHardEdgesKeepTheRule) {
  for (const double fwhm_arcmin : {5.0, 60.0}) {
    expect_within_rule(
        RingConvolutionPlan(spec_of(512, gaussian_of_arcmin(fwhm_arcmin), 8, 8), 0, 1));
    expect_within_rule(
        RingConvolutionPlan(spec_of(512, gaussian_of_arcmin(fwhm_arcmin), 8, 4), 0, 1));
    expect_within_rule(
        RingConvolutionPlan(spec_of(1024, gaussian_of_arcmin(fwhm_arcmin), 1, 4), 0, 1));
  }
  for (const double radius : {0.2, 2.0, 10.0})
    expect_within_rule(RingConvolutionPlan(spec_of(512, top_hat(radius), 1, 8), 0, 1));
  for (const double radius : {4.0, 16.0}) {
    for (const int n_ranks : {1, 2})
      expect_within_rule(RingConvolutionPlan(spec_of(1024, top_hat(radius), 1, 4), 0, n_ranks));
  }
}

TEST(RingConvolutionMemory, FieldsOfSpinKeepTheRule) {
  for (const double fwhm_arcmin : {5.0, 60.0, 240.0}) {
    for (const std::int64_t n_maps : {2, 8}) {
      for (const int n_ranks : {1, 3}) {
        const auto spec = spec_of(512, spin_gaussian_of_arcmin(fwhm_arcmin), n_maps, 8);
        expect_within_rule(RingConvolutionPlan(spec, n_ranks - 1, n_ranks));
      }
    }
  }
}

TEST(RingConvolutionMemory, RowsByFftKeepTheRule) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::gauss_legendre(1024, 2048));
  for (const double radius : {4.0, 10.0, 40.0, 180.0}) {
    for (const std::int64_t bytes_per_pixel : {4, 8}) {
      for (const std::int64_t n_maps : {1, 3}) {
        RingConvolutionSpec spec = spec_of(1, top_hat(radius), n_maps, bytes_per_pixel);
        spec.grid = grid;
        const RingConvolutionPlan plan(spec, 0, 1);
        EXPECT_TRUE(plan.modes().row_fft.exists() || radius > 10 || bytes_per_pixel == 4) << radius;
        expect_within_rule(plan);
      }
    }
  }
}

template <class T>
void expect_measured(const RingConvolutionSpec& spec) {
  const std::int64_t before = MemoryMeter::current_bytes();
  MemoryMeter::reset_high_water();
  RingConvolution convolution(Communicator::self(), spec);
  const RingConvolutionPlan& plan = convolution.plan();
  MapBuffer<T> in(spec.n_maps, spec.grid->n_pixels());
  MapBuffer<T> out(spec.n_maps, spec.grid->n_pixels());
  for (std::int64_t i = 0; i < spec.n_maps * spec.grid->n_pixels(); ++i)
    in.view().data()[i] = static_cast<T>(1);
  const std::int64_t held = MemoryMeter::current_bytes();
  convolution.convolve<T>(std::as_const(in).view(), out.view());
  EXPECT_EQ(MemoryMeter::current_bytes(), held);
  const std::int64_t measured = MemoryMeter::high_water_bytes() - before;
  EXPECT_EQ(measured, held - before);
  const std::int64_t planned = in.bytes() + out.bytes() + plan.mode_bytes() + plan.halo_bytes() +
                               plan.workspace_bytes(omp_get_max_threads());
  EXPECT_LE(measured, planned);
  EXPECT_GE(static_cast<double>(measured), 0.8 * static_cast<double>(planned));
}

TEST(RingConvolutionMemory, MeasuredIsPlannedAndACallAllocatesNothing) {
  for (const double fwhm_arcmin : {20.0, 120.0, 600.0}) {
    for (const std::int64_t n_maps : {1, 4}) {
      expect_measured<double>(spec_of(128, gaussian_of_arcmin(fwhm_arcmin), n_maps, 8));
      expect_measured<float>(spec_of(128, gaussian_of_arcmin(fwhm_arcmin), n_maps, 4));
    }
  }
  expect_measured<double>(spec_of(64, top_hat(12), 2, 8));
  for (const double fwhm_arcmin : {20.0, 120.0})
    expect_measured<float>(spec_of(128, spin_gaussian_of_arcmin(fwhm_arcmin), 4, 4));
  RingConvolutionSpec by_fft = spec_of(128, top_hat(20), 2, 8);
  by_fft.path = ConvolutionPath::modes_equal;
  by_fft.rows = KernelRows::fft;
  expect_measured<double>(by_fft);
}

TEST(RingConvolutionMemory, LongerPixelsThanPlannedAreRefused) {
  const RingConvolutionSpec spec = spec_of(4, gaussian_of_arcmin(1200), 1, 4);
  RingConvolution convolution(Communicator::self(), spec);
  MapBuffer<double> in(1, spec.grid->n_pixels());
  MapBuffer<double> out(1, spec.grid->n_pixels());
  EXPECT_THAT([&] { convolution.convolve<double>(std::as_const(in).view(), out.view()); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("pixels of 4 bytes")));
}

}  // namespace
}  // namespace ringweave::detail::test
