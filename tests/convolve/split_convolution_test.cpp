// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "ringweave/analysis.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"
#include "split_problem.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// Both methods of smoothing two white maps, or the two of a field of spin, on the same rings.
class SplitSmoothing : public OnEveryRankCount {
 protected:
  template <class T>
  void expect_the_same(std::int64_t nside, const MaskOptions& treatment, bool with_unseen,
                       double more = 0, int spin = 0) const {
    const KernelSplitSpec spec = split_problem(nside, spin);
    const KernelSplit split(spec);
    ASSERT_TRUE(split.has_parts()) << split.reason();
    const Grid grid = share(RingGrid::healpix(nside));
    SplitConvolution convolution(comm(), split, {grid, 2, sizeof(T)});
    const int lmax = static_cast<int>(2 * nside);
    std::vector<int> spins = spin == 0 ? std::vector<int>{0, 0} : std::vector<int>{spin};
    TransformSpec transform = Case{grid, lmax, lmax, std::move(spins)}.spec();
    const auto bands = transform.ring_bands = convolution.ring_bands();
    SphericalHarmonicTransform harmonic(comm(), transform);
    SmoothingOptions options;
    static_cast<MaskOptions&>(options) = treatment;
    options.beam.t = options.beam.e = options.beam.b = spec.k_l;
    options.weights = std::make_shared<const AnalysisWeights>(
        AnalysisWeights{ring_weights(harmonic.rings()), {}});
    options.n_iter = 0;
    MapBuffer<T> expected = synthesized(harmonic, random_alm<T>(harmonic));
    if (with_unseen) punch_holes(harmonic.rings(), expected);
    MapBuffer<T> in = copy_of(expected);
    MapBuffer<T> out = harmonic.make_map<T>();
    const SmoothingReport by_harmonics = smooth_harmonic<T>(harmonic, options, expected.view());
    std::optional<SplitConvolution> of_masks;
    if (spin > 0 && treatment.unseen == UnseenPolicy::normalize) {
      of_masks.emplace(comm(), KernelSplit(split_problem(nside)),
                       SplitMaps{.grid = grid, .bytes_per_pixel = sizeof(T), .ring_bands = bands});
    }
    const SmoothingReport report = smooth_on_rings<T>(comm(), convolution, treatment, in.view(),
                                                      out.view(), of_masks ? &*of_masks : nullptr);
    EXPECT_EQ(report.maps.front().unseen_pixels, by_harmonics.maps.front().unseen_pixels);
    EXPECT_EQ(report.convolutions, by_harmonics.mask_transforms > 0 ? 2 : 1);
    for (std::int64_t i = 0; i < out.n_components() * out.size(); ++i) {
      T& ours = out.view().data()[i];
      T& theirs = expected.view().data()[i];
      ASSERT_EQ(is_unseen(ours), is_unseen(theirs)) << i;
      if (is_unseen(ours)) ours = theirs = 0;
    }
    const RelativeError error = relative_error(comm(), out, expected);
    EXPECT_LE(error.rms, split.error().total + more);
    EXPECT_GT(error.rms, 0);
    const SplitError& predicted = split.error();
    testing::Test::RecordProperty(
        "rms_at_nside_" + std::to_string(nside) + "_spin_" + std::to_string(spin),
        testing::PrintToString(error.rms) + " predicted " +
            testing::PrintToString(predicted.total) + " of fit " +
            testing::PrintToString(predicted.fit) + " aliased " +
            testing::PrintToString(predicted.aliased));
  }

  template <class T>
  static void punch_holes(const LocalRings& rings, MapBuffer<T>& map) {
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const Ring& ring = rings.ring(LocalRing{r});
      if (ring.theta < 0.6 || ring.theta > 1.2) continue;
      const std::int64_t begin = rings.first_pixel(LocalRing{r});
      for (std::int64_t j = 0; j < ring.n_phi / 2; ++j)
        map.view().component(0)[begin + j] = static_cast<T>(unseen);
    }
  }
};

TEST_P(SplitSmoothing, IsTheHarmonicSmoothingWithinThePredictedError) {
  expect_the_same<double>(64, {}, false);
  expect_the_same<float>(64, {}, false, tolerance::single_storage);
}

TEST_P(SplitSmoothing, IsTheHarmonicSmoothingOnFinerGridsToo) {
  if (comm().size() > 3) return;  // larger groups are covered by the coarse grid
  for (const std::int64_t nside : {128, 256}) expect_the_same<double>(nside, {}, false);
}

TEST_P(SplitSmoothing, OfFieldsOfSpinIsTheHarmonicSmoothingWithinThePredictedError) {
  if (comm().size() > 3) return;
  for (const int spin : {1, 2, 3}) {
    expect_the_same<double>(64, {}, false, 0, spin);
    expect_the_same<float>(64, {}, false, tolerance::single_storage, spin);
  }
  expect_the_same<double>(128, {}, false, 0, 2);
}

TEST_P(SplitSmoothing, TreatsUnseenPixelsAsTheHarmonicSmoothingDoes) {
  // A mask's edges have degrees above lmax, which no prediction includes.
  constexpr double of_edges = 1e-4;
  MaskOptions treatment;
  for (const UnseenPolicy policy : {UnseenPolicy::restore, UnseenPolicy::normalize}) {
    treatment.unseen = policy;
    expect_the_same<double>(64, treatment, true, of_edges);
    if (comm().size() <= 3) expect_the_same<double>(64, treatment, true, of_edges, 2);
  }
}

TEST_P(SplitSmoothing, RefusesToDivideFieldsOfSpinByMasksThatNothingConvolves) {
  SplitConvolution convolution(comm(), KernelSplit(split_problem(64, 2)),
                               {share(RingGrid::healpix(64)), 2});
  MapBuffer<double> in(2, convolution.rings().n_pixels());
  MapBuffer<double> out(2, convolution.rings().n_pixels());
  MaskOptions treatment;
  treatment.unseen = UnseenPolicy::normalize;
  for (SplitConvolution* of_masks : {static_cast<SplitConvolution*>(nullptr), &convolution}) {
    EXPECT_THAT(
        [&] {
          smooth_on_rings<double>(comm(), convolution, treatment, in.view(), out.view(), of_masks);
        },
        ThrowsMessage<UsageError>(HasSubstr("on the same rings as of_masks")));
  }
}

TEST_P(SplitSmoothing, RefusesAKernelWithoutASplit) {
  KernelSplitSpec spec = split_problem(64);
  spec.error = 1e-10;
  const KernelSplit split(spec);
  EXPECT_THAT([&] { SplitConvolution convolution(comm(), split, {share(RingGrid::healpix(64))}); },
              ThrowsMessage<UsageError>(HasSubstr("no compact part keeps the error")));
}

TEST_P(SplitSmoothing, RefusesMapsOfAnotherGrid) {
  const KernelSplit split(split_problem(64));
  const auto refuses = [&](const Grid& grid, const std::string& what) {
    EXPECT_THAT([&] { SplitConvolution convolution(comm(), split, {grid}); },
                ThrowsMessage<UsageError>(HasSubstr("of nside 64 and SplitMaps::grid is " + what)));
  };
  refuses(share(RingGrid::healpix(32)), "healpix:32");
  refuses(nullptr, "not set");
}

TEST_P(SplitSmoothing, RefusesMapsThatAreNoFields) {
  const KernelSplit split(split_problem(64, 2));
  EXPECT_THAT(
      [&] {
        SplitConvolution convolution(comm(), split, {share(RingGrid::healpix(64)), 3});
      },
      ThrowsMessage<UsageError>(HasSubstr("fields of that spin are pairs of maps")));
}

TEST_P(SplitSmoothing, RefusesBandsOfAnotherGrid) {
  const KernelSplit split(split_problem(64, 2));
  const SplitConvolution other(comm(), split, {share(RingGrid::healpix(64)), 2});
  EXPECT_THAT(
      [&] {
        SplitConvolution convolution(
            comm(), split,
            {.grid = share(RingGrid::healpix(64)), .n_maps = 2, .ring_bands = other.ring_bands()});
      },
      ThrowsMessage<UsageError>(HasSubstr("those of another grid or number of ranks")));
}

INSTANTIATE_TEST_SUITE_P(Ranks, SplitSmoothing, every_rank_count(), name_of_rank_groups);

}  // namespace
}  // namespace ringweave::detail::test
