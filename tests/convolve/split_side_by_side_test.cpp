// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>
#include <omp.h>

#include <algorithm>
#include <vector>

#include "base/device.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/halo/ring_transfer.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "split_problem.hpp"
#include "support/noise.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr std::int64_t nside = 64;

/// A split for that many ranks, the last n_harmonic of which run the harmonic part.
KernelSplit split_for(int n_ranks, int n_harmonic, int spin = 0) {
  KernelSplitSpec spec = split_problem(nside, spin);
  spec.theta_cuts.pop_back();
  SplitCosts costs;
  costs.harmonic = costs.sending = [](int, int) { return Estimate{1}; };
  costs.rings = [](double, int) { return Estimate{1}; };
  spec.machine = machine_with(costs);
  spec.n_ranks = n_ranks;
  spec.n_harmonic = n_harmonic;
  return KernelSplit(spec);
}

/// White maps, the first with a hole; independent of the distribution of rings.
template <class T>
MapBuffer<T> white_maps(const LocalRings& rings, std::int64_t n_maps, bool with_hole) {
  MapBuffer<T> map(n_maps, rings.n_pixels());
  for (std::int64_t c = 0; c < n_maps; ++c) {
    T* value = map.view().component(c).data();
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const Ring& ring = rings.ring(LocalRing{r});
      const int number = static_cast<int>(index(rings.global(LocalRing{r})));
      const bool has_hole = with_hole && c == 0 && ring.theta > 0.6 && ring.theta < 1.2;
      for (int j = 0; j < ring.n_phi; ++j) {
        const bool in_hole = has_hole && 2 * j < ring.n_phi;
        const double x = noise_pair(seed, static_cast<std::uint32_t>(c), number, j).re;
        *value++ = static_cast<T>(in_hole ? unseen : x);
      }
    }
  }
  return map;
}

/// The smoothed maps and the distribution of their rings.
template <class T>
struct Smoothed {
  RingDistribution bands;
  MapBuffer<T> map;
  SmoothingReport report;
};

constexpr SplitBackends at_once_on_host{Backend::host, Backend::host, true};

class SplitSideBySide : public OnEveryRankCount {
 protected:
  template <class T>
  Smoothed<T> smooth(int n_harmonic, std::int64_t n_maps, const MaskOptions& treatment,
                     bool with_hole, const SplitBackends& backends = {}, int spin = 0) const {
    SplitConvolution convolution(comm(), split_for(comm().size(), n_harmonic, spin),
                                 {grid_, n_maps, sizeof(T), backends});
    const bool does_harmonic = n_harmonic == 0 || comm().rank() >= comm().size() - n_harmonic;
    EXPECT_EQ(convolution.transform() != nullptr, does_harmonic);
    EXPECT_EQ(convolution.ring_convolution() != nullptr, n_harmonic == 0 || !does_harmonic);
    MapBuffer<T> in = white_maps<T>(convolution.rings(), n_maps, with_hole);
    MapBuffer<T> out(n_maps, convolution.rings().n_pixels());
    const SmoothingReport report =
        smooth_on_rings<T>(comm(), convolution, treatment, in.view(), out.view());
    return {convolution.plan().bands, std::move(out), report};
  }

  template <class T>
  void expect_as_one_after_other(std::int64_t n_maps, const MaskOptions& treatment, bool with_hole,
                                 double bound, int spin = 0) const {
    const Smoothed<T> together = smooth<T>(0, n_maps, treatment, with_hole, {}, spin);
    for (int n_harmonic = 1; n_harmonic < comm().size(); ++n_harmonic) {
      SCOPED_TRACE(std::to_string(n_harmonic) + " of " + std::to_string(comm().size()));
      Smoothed<T> apart = smooth<T>(n_harmonic, n_maps, treatment, with_hole, {}, spin);
      EXPECT_EQ(apart.report.maps.front().unseen_pixels,
                together.report.maps.front().unseen_pixels);
      EXPECT_EQ(apart.report.convolutions, together.report.convolutions);
      MapBuffer<T> expected(n_maps, apart.map.size());
      RingTransfer(comm(), together.bands, apart.bands, n_maps)
          .template move<T>(together.map.view(), expected.view());
      for (std::int64_t i = 0; i < n_maps * expected.size(); ++i) {
        T& ours = apart.map.view().data()[i];
        T& theirs = expected.view().data()[i];
        ASSERT_EQ(is_unseen(ours), is_unseen(theirs)) << i;
        if (is_unseen(ours)) ours = theirs = 0;
      }
      expect_within(relative_error(comm(), apart.map, expected), bound);
    }
  }

  Grid grid_ = share(RingGrid::healpix(nside));
};

TEST_P(SplitSideBySide, IsOneAfterTheOtherForAllSizesOfTheGroups) {
  expect_as_one_after_other<double>(1, {}, false, tolerance::round_trip);
  expect_as_one_after_other<float>(1, {}, false, tolerance::single_storage);
}

TEST_P(SplitSideBySide, TakesBatchesAndMasks) {
  MaskOptions treatment;
  treatment.remove = Remove::dipole;
  treatment.unseen = UnseenPolicy::normalize;
  expect_as_one_after_other<double>(3, treatment, true, tolerance::round_trip);
}

TEST_P(SplitSideBySide, TakesFieldsOfSpin) {
  if (comm().size() > 3) return;
  for (const std::int64_t n_maps : {2, 4})
    expect_as_one_after_other<double>(n_maps, {}, false, tolerance::round_trip, 2);
  expect_as_one_after_other<float>(2, {}, false, tolerance::single_storage, 2);
}

// Of two splits with one placement, as those of T and of Q and U.
TEST_P(SplitSideBySide, TakesTheBandsOfAnotherSplit) {
  if (comm().size() > 3) return;
  for (int n_harmonic = 0; n_harmonic < comm().size(); ++n_harmonic) {
    const SplitConvolution spins(comm(), split_for(comm().size(), n_harmonic, 2), {grid_, 2});
    const auto bands = spins.ring_bands();
    const SplitMaps maps{.grid = grid_, .ring_bands = bands};
    const SplitConvolution scalars(comm(), split_for(comm().size(), n_harmonic), maps);
    EXPECT_EQ(scalars.rings().n_pixels(), spins.rings().n_pixels());
    for (std::int64_t r = 0; r < grid_->n_rings(); ++r)
      EXPECT_EQ(scalars.ring_bands()->owner(RingId{r}), bands->owner(RingId{r}));
    if (n_harmonic == 0) continue;
    const SplitConvolution all(comm(), split_for(comm().size(), 0, 2), {grid_, 2});
    const SplitMaps on_all{.grid = grid_, .ring_bands = all.ring_bands()};
    EXPECT_THAT([&] { SplitConvolution(comm(), split_for(comm().size(), n_harmonic), on_all); },
                ThrowsMessage<UsageError>(HasSubstr("there are fewer")));
  }
}

TEST_P(SplitSideBySide, DoesNotDependOnTheNumberOfThreads) {
  if (comm().size() == 1) return;
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  const Smoothed<double> one = smooth<double>(1, 2, {}, false);
  omp_set_num_threads(3);
  const Smoothed<double> three = smooth<double>(1, 2, {}, false);
  omp_set_num_threads(before);
  // Bitwise equal: no value is 0 or NaN. Ranks of the harmonic part have none.
  const auto n = one.map.n_components() * one.map.size();
  EXPECT_TRUE(
      std::equal(one.map.view().data(), one.map.view().data() + n, three.map.view().data()));
}

TEST_P(SplitSideBySide, AtOnceIsOneAfterTheOtherToTheLastBit) {
  MaskOptions treatment;
  treatment.unseen = UnseenPolicy::normalize;
  for (const std::int64_t n_maps : {1, 3}) {
    const Smoothed<double> in_turn = smooth<double>(0, n_maps, treatment, true);
    const Smoothed<double> at_once = smooth<double>(0, n_maps, treatment, true, at_once_on_host);
    EXPECT_EQ(at_once.report.convolutions, in_turn.report.convolutions);
    const double* expected = in_turn.map.view().data();
    EXPECT_TRUE(
        std::equal(expected, expected + n_maps * in_turn.map.size(), at_once.map.view().data()));
  }
  const Smoothed<double> in_turn = smooth<double>(0, 2, {}, false, {}, 2);
  const Smoothed<double> at_once = smooth<double>(0, 2, {}, false, at_once_on_host, 2);
  EXPECT_TRUE(same_bits(at_once.map, in_turn.map));
}

TEST_P(SplitSideBySide, AtOnceRefusesMapsOfAnotherShapeAndGoesOn) {
  SplitConvolution convolution(comm(), split_for(comm().size(), 0),
                               {grid_, 1, sizeof(double), at_once_on_host});
  const std::int64_t n = convolution.rings().n_pixels();
  MapBuffer<double> wrong(1, n + (comm().is_root() ? 1 : 0));
  MapBuffer<double> in = white_maps<double>(convolution.rings(), 1, false);
  MapBuffer<double> out(1, n);
  EXPECT_THROW(convolution.convolve<double>(wrong.view(), out.view()), UsageError);
  convolution.convolve<double>(in.view(), out.view());
}

TEST_P(SplitSideBySide, OnADeviceIsAsOnTheHost) {
  if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
  for (int n_harmonic = 0; n_harmonic < comm().size(); ++n_harmonic) {
    for (const int spin : {0, 2}) {
      const Smoothed<double> host = smooth<double>(n_harmonic, 2, {}, false, {}, spin);
      for (const auto& [harmonic, rings] :
           {std::pair{Backend::cuda, Backend::host}, std::pair{Backend::host, Backend::cuda},
            std::pair{Backend::cuda, Backend::cuda}}) {
        const Smoothed<double> device =
            smooth<double>(n_harmonic, 2, {}, false, {harmonic, rings, n_harmonic == 0}, spin);
        expect_within(relative_error(comm(), device.map, host.map), tolerance::round_trip);
      }
    }
  }
}

TEST_P(SplitSideBySide, RefusesMapsOfAnotherShapeOnAllRanks) {
  if (comm().size() == 1) return;
  SplitConvolution convolution(comm(), split_for(comm().size(), 1), {grid_, 2});
  const std::int64_t n = convolution.rings().n_pixels();
  const auto refuses = [&](std::int64_t n_maps, std::int64_t size) {
    MapBuffer<double> in(n_maps, size);
    MapBuffer<double> out(2, n);
    EXPECT_THROW(convolution.convolve<double>(in.view(), out.view()), UsageError);
  };
  // Of one rank of either group.
  refuses(2, n + (comm().is_root() ? 1 : 0));
  refuses(comm().is_root() ? 1 : 2, n);
  refuses(2, n + (comm().rank() == comm().size() - 1 ? 1 : 0));
}

TEST_P(SplitSideBySide, RefusesASplitForMoreRanks) {
  const KernelSplit split = split_for(comm().size() + 1, comm().size());
  EXPECT_THAT([&] { SplitConvolution convolution(comm(), split, {grid_}); },
              ThrowsMessage<UsageError>(HasSubstr("search it for as many ranks as there are")));
}

TEST_P(SplitSideBySide, PlansTheSameOnEveryRankAndNothingTwice) {
  for (int n_harmonic = 0; n_harmonic < comm().size(); ++n_harmonic) {
    const SplitPlan plan(split_for(comm().size(), n_harmonic), {grid_}, comm().rank(),
                         comm().size());
    EXPECT_EQ(comm().sum(plan.own.n_pixels()), grid_->n_pixels());
    EXPECT_EQ(plan.own.n_pixels() > 0, plan.does_rings());
    EXPECT_EQ(comm().sum(std::int64_t{plan.does_rings()}), comm().size() - n_harmonic);
    EXPECT_EQ(plan.buffer_bytes() > 0, n_harmonic > 0 && plan.does_rings());
    EXPECT_EQ(plan.rings.n_ranks(), comm().size() - n_harmonic);
    EXPECT_EQ(plan.harmonic->n_ranks, n_harmonic > 0 ? n_harmonic : comm().size());
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, SplitSideBySide, every_rank_count(), name_of_rank_groups);

}  // namespace
}  // namespace ringweave::detail::test
