// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/simd/instruction_sets.hpp"
#include "convolve/direct_convolution.hpp"
#include "hwy/highway.h"
#include "ringweave/convolution.hpp"
#include "support/angles.hpp"
#include "support/only_target.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {
namespace {

template <class T>
Pixels convolved(const RingConvolutionSpec& spec, const Pixels& map) {
  RingConvolution convolution(Communicator::self(), spec);
  const std::int64_t n = spec.grid->n_pixels();
  MapBuffer<T> in(1, n);
  MapBuffer<T> out(1, n);
  for (std::int64_t p = 0; p < n; ++p) in.view().component(0)[p] = static_cast<T>(map[to_size(p)]);
  convolution.convolve<T>(std::as_const(in).view(), out.view());
  const View<T> pixels = out.view().component(0);
  return {pixels.data(), pixels.data() + n};
}

// Stencil, sectors and modes, with series and with tables: each file is compiled for several
// instruction sets.
TEST(RingConvolutionSimd, EverySetThisMachineRunsEqualsTheSumOverPixels) {
  const std::vector<double> ends{0, 20 * degree};
  const std::vector<double> ones{1, 1};
  const RingGrid grid = RingGrid::healpix(16);
  const Pixels map = random_pixels(grid, 7);
  for (const bool has_edge : {true, false}) {
    RingConvolutionSpec spec;
    spec.grid = std::make_shared<const RingGrid>(grid);
    spec.kernels = {has_edge
                        ? RadialKernel::from_profile(ends, ones, KernelSupport::whole())
                        : RadialKernel::gaussian(12 * degree, KernelSupport::automatic(1e-13))};
    const Pixels expected = convolve_directly(grid, spec.kernels[0], map);
    for (const auto path :
         {ConvolutionPath::pixels, ConvolutionPath::modes, ConvolutionPath::modes_equal}) {
      if (has_edge && path == ConvolutionPath::modes) continue;
      spec.path = path;
      spec.rows = path == ConvolutionPath::modes_equal ? KernelRows::fft : KernelRows::automatic;
      std::int64_t runnable = hwy::SupportedTargets() & HWY_TARGETS;
      ASSERT_NE(runnable, 0);
      for (; runnable != 0; runnable &= runnable - 1) {
        const std::int64_t target = runnable & -runnable;
        const OnlyTarget scope(target);
        EXPECT_LE(relative_rms(convolved<double>(spec, map), expected), tolerance::round_trip)
            << hwy::TargetName(target);
        EXPECT_LE(relative_rms(convolved<float>(spec, map), expected), tolerance::single_storage)
            << hwy::TargetName(target);
      }
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
