// SPDX-License-Identifier: GPL-3.0-or-later
#include <gmock/gmock.h>

#include <memory>
#include <utility>

#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"
#include "support/rank_groups.hpp"
#include "transform/transform_cases.hpp"
#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

constexpr int band_limit = 32;
/// Wide enough that no power is left above it.
constexpr double fwhm = 0.6;

/// Two maps, or the two of a field of spin, on an exact grid and both methods of smoothing, on the
/// same rings.
class RingSmoothing : public OnEveryRankCount {
 protected:
  RingConvolution convolution(int spin = 0) const {
    RingConvolutionSpec spec;
    spec.grid = grid_;
    spec.kernels = {RadialKernel::gaussian(fwhm, KernelSupport::whole(), spin)};
    spec.n_maps = 2;
    return {comm(), spec};
  }
  /// Returns the convolution of masks on the same rings.
  RingConvolution scalar_convolution(const RingConvolution& rings) const {
    RingConvolutionSpec spec;
    spec.grid = grid_;
    spec.kernels = {RadialKernel::gaussian(fwhm, KernelSupport::whole())};
    spec.ring_bands = rings.ring_bands();
    return {comm(), spec};
  }
  SphericalHarmonicTransform transform(const RingConvolution& rings, int spin = 0) const {
    std::vector<int> spins = spin == 0 ? std::vector<int>{0, 0} : std::vector<int>{spin};
    TransformSpec spec = Case{grid_, band_limit, band_limit, std::move(spins)}.spec();
    spec.ring_bands = std::make_shared<RingDistribution>(rings.plan().bands());
    return {comm(), spec};
  }

  /// Random values; UNSEEN where requested, in the first map only.
  template <class T>
  static MapBuffer<T> map_of(const SphericalHarmonicTransform& transform, bool with_unseen) {
    MapBuffer<T> map = random_map<T>(transform);
    const auto first = map.view().component(0);
    for (std::int64_t i = 0; i < first.size(); i += 3) first[i] += 2;
    if (!with_unseen) return map;
    for (std::int64_t r = 0; r < transform.rings().n_rings(); ++r) {
      const Ring& ring = transform.rings().ring(LocalRing{r});
      if (ring.theta < 0.6 || ring.theta > 1.2) continue;
      const std::int64_t begin = transform.rings().first_pixel(LocalRing{r});
      for (std::int64_t j = 0; j < ring.n_phi / 2; ++j) first[begin + j] = static_cast<T>(unseen);
    }
    return map;
  }

  template <class T>
  void expect_the_same(const MaskOptions& treatment, bool with_unseen, double bound,
                       int spin = 0) const {
    RingConvolution rings = convolution(spin);
    RingConvolution of_masks = scalar_convolution(rings);
    SphericalHarmonicTransform harmonic = transform(rings, spin);
    SmoothingOptions options;
    static_cast<MaskOptions&>(options) = treatment;
    options.beam = gaussian_beam(fwhm, band_limit);
    options.weights = std::make_shared<const AnalysisWeights>(
        AnalysisWeights{ring_weights(harmonic.rings()), {}});
    options.n_iter = 0;
    MapBuffer<T> expected = map_of<T>(harmonic, with_unseen);
    MapBuffer<T> in = copy_of(expected);
    MapBuffer<T> out = harmonic.make_map<T>();
    const SmoothingReport by_harmonics = smooth_harmonic<T>(harmonic, options, expected.view());
    const SmoothingReport report = smooth_on_rings<T>(comm(), rings, treatment, in.view(),
                                                      out.view(), spin > 0 ? &of_masks : nullptr);
    EXPECT_EQ(report.maps.front().unseen_pixels, by_harmonics.maps.front().unseen_pixels);
    EXPECT_EQ(report.convolutions, by_harmonics.mask_transforms > 0 ? 2 : 1);
    EXPECT_NEAR(report.maps.front().removed.monopole, by_harmonics.maps.front().removed.monopole,
                1e-6);
    set_unseen_to_zero(out, expected);
    expect_within(relative_error(comm(), out, expected), bound);
  }

  /// Checks a field of spin whose E and B have beams of their own.
  template <class T>
  void expect_the_same_with_two_beams(int spin, double bound) const {
    Beam beam = gaussian_beam(fwhm, band_limit);
    beam.b = gaussian_beam(1.3 * fwhm, band_limit).b;
    std::vector<double> of_field;
    std::vector<double> of_conjugate;
    for (std::size_t l = 0; l < beam.e.size(); ++l) {
      of_field.push_back((beam.e[l] + beam.b[l]) / 2);
      of_conjugate.push_back((beam.e[l] - beam.b[l]) / 2);
    }
    RingConvolutionSpec spec;
    spec.grid = grid_;
    spec.n_maps = 2;
    spec.kernels = {RadialKernel::from_beam(of_field, KernelSupport::whole(), spin)};
    spec.conjugate_kernels = {
        RadialKernel::of_conjugate(of_conjugate, KernelSupport::whole(), spin)};
    RingConvolution rings(comm(), spec);
    SphericalHarmonicTransform harmonic = transform(rings, spin);
    SmoothingOptions options;
    options.beam = beam;
    options.weights = std::make_shared<const AnalysisWeights>(
        AnalysisWeights{ring_weights(harmonic.rings()), {}});
    options.n_iter = 0;
    MapBuffer<T> expected = map_of<T>(harmonic, false);
    const MapBuffer<T> in = copy_of(expected);
    MapBuffer<T> out = harmonic.make_map<T>();
    smooth_harmonic<T>(harmonic, options, expected.view());
    rings.convolve<T>(in, out);
    expect_within(relative_error(comm(), out, expected), bound);
  }

  template <class T>
  static void set_unseen_to_zero(MapBuffer<T>& ours, MapBuffer<T>& theirs) {
    for (std::int64_t i = 0; i < ours.n_components() * ours.size(); ++i) {
      T& a = ours.view().data()[i];
      T& b = theirs.view().data()[i];
      ASSERT_EQ(is_unseen(a), is_unseen(b)) << i;
      if (is_unseen(a)) a = b = 0;
    }
  }

 private:
  Grid grid_ = share(RingGrid::gauss_legendre(band_limit + 1));
};

TEST_P(RingSmoothing, IsTheHarmonicSmoothingOfABandLimitedKernel) {
  expect_the_same<double>({}, false, tolerance::round_trip);
  expect_the_same<float>({}, false, tolerance::single_storage);
}

TEST_P(RingSmoothing, TreatsUnseenPixelsAsTheHarmonicSmoothingDoes) {
  for (const UnseenPolicy unseen :
       {UnseenPolicy::restore, UnseenPolicy::zero, UnseenPolicy::normalize}) {
    MaskOptions treatment;
    treatment.unseen = unseen;
    expect_the_same<double>(treatment, true, tolerance::round_trip);
    expect_the_same<float>(treatment, true, tolerance::single_storage);
  }
}

TEST_P(RingSmoothing, OfFieldsOfSpinIsTheHarmonicSmoothing) {
  MaskOptions treatment;
  treatment.unseen = UnseenPolicy::normalize;
  for (const bool with_unseen : {false, true}) {
    expect_the_same<double>(treatment, with_unseen, tolerance::round_trip, 2);
    expect_the_same<float>(treatment, with_unseen, tolerance::single_storage, 2);
  }
}

TEST_P(RingSmoothing, OfEAndBWithBeamsOfTheirOwnIsTheHarmonicSmoothing) {
  for (const int spin : {1, 2, 3}) {
    expect_the_same_with_two_beams<double>(spin, tolerance::round_trip);
    expect_the_same_with_two_beams<float>(spin, tolerance::single_storage);
  }
}

TEST_P(RingSmoothing, RefusesKernelsOfConjugatesThatDoNotFit) {
  const std::vector<double> b_l(10, 1.0);
  RingConvolutionSpec spec;
  spec.grid = share(RingGrid::gauss_legendre(band_limit + 1));
  spec.n_maps = 2;
  const auto refuses = [&](const std::string& why) {
    EXPECT_THAT([&] { RingConvolution(comm(), spec); }, ThrowsMessage<UsageError>(HasSubstr(why)));
  };
  const RadialKernel of_field = RadialKernel::from_beam(b_l, KernelSupport::whole(), 2);
  const RadialKernel of_conjugate = RadialKernel::of_conjugate(b_l, KernelSupport::whole(), 2);
  spec.kernels = {of_conjugate};
  refuses("give it as conjugate_kernels");
  spec.kernels = {of_field};
  spec.conjugate_kernels = {of_field};
  refuses("a kernel of conjugates that is none");
  spec.conjugate_kernels = {RadialKernel::of_conjugate(b_l, KernelSupport::whole(), 1)};
  refuses("of another spin");
  spec.conjugate_kernels = {of_conjugate, of_conjugate};
  refuses("give as many, or none");
  EXPECT_THROW(RadialKernel::of_conjugate(b_l, KernelSupport::whole(), 0), UsageError);
}

TEST_P(RingSmoothing, RemovesAndPutsBackAsTheHarmonicSmoothingDoes) {
  for (const Remove remove : {Remove::monopole, Remove::dipole}) {
    for (const auto put_back : {MaskOptions::PutBack::no, MaskOptions::PutBack::yes}) {
      expect_the_same<double>({UnseenPolicy::restore, remove, put_back}, true,
                              tolerance::round_trip);
    }
  }
}

TEST_P(RingSmoothing, RefusesMapsItShouldNotSmooth) {
  RingConvolution rings = convolution();
  const SphericalHarmonicTransform harmonic = transform(rings);
  MapBuffer<double> out = harmonic.make_map<double>();
  MaskOptions treatment;
  treatment.unseen = UnseenPolicy::fail;
  MapBuffer<double> holes = map_of<double>(harmonic, true);
  EXPECT_THAT([&] { smooth_on_rings<double>(comm(), rings, treatment, holes.view(), out.view()); },
              ThrowsMessage<DataError>(HasSubstr("--unseen fail")));
  MapBuffer<double> blind = map_of<double>(harmonic, false);
  for (std::int64_t i = 0; i < blind.size(); ++i) blind.view().component(1)[i] = unseen;
  EXPECT_THAT([&] { smooth_on_rings<double>(comm(), rings, {}, blind.view(), out.view()); },
              ThrowsMessage<DataError>(HasSubstr("component 1 are UNSEEN")));
  treatment = {};
  treatment.remove = Remove::monopole;
  MapBuffer<double> small(holes.n_components(), holes.size() - 1);
  EXPECT_THROW(smooth_on_rings<double>(comm(), rings, treatment, small.view(), out.view()),
               UsageError);
}

INSTANTIATE_TEST_SUITE_P(Ranks, RingSmoothing, every_rank_count(), name_of_rank_groups);

}  // namespace
}  // namespace ringweave::detail::test
