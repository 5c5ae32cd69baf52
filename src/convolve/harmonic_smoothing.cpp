// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/harmonic_smoothing.hpp"

#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "sphere/unseen.hpp"

namespace ringweave {
namespace {

template <class T>
AnalysisReport filter(SphericalHarmonicTransform& transform, const SmoothingOptions& options,
                      MapView<T> map, const AnalysisProgress& progress) {
  auto alm = agreed(transform.comm(), [&] { return transform.make_alm<T>(); });
  Analysis analysis(transform, options.weights);
  AnalysisReport report;
  if (options.tolerance > 0) {
    report = analysis.conjugate_gradients<T>(map, options.tolerance, options.max_iter, alm.view(),
                                             progress);
  } else if (options.n_iter > 0) {
    report = analysis.jacobi<T>(map, options.n_iter, alm.view(), progress);
  } else {
    analysis.once_destroying<T>(map, alm.view());
    report.transforms = 1;
  }
  multiply(options.beam, transform.alm_layout(), transform.fields(), alm.view());
  transform.synthesize<T>(alm.view(), map);
  ++report.transforms;
  return report;
}

/// Where the smoothed mask is smaller than this, nearly no data went into the pixel and dividing
/// would only raise noise.
constexpr double least_smoothed_mask = 1e-3;

/// Divides the components of `map` whose mask is that of `component` by the smoothed mask,
/// beginning with `component`. Returns the number of transforms.
template <class T>
int normalize(SphericalHarmonicTransform& scalar, const SmoothingOptions& options,
              const UnseenMask& mask, std::int64_t component, std::vector<char>& done,
              MapView<T> map) {
  auto weight = agreed(scalar.comm(), [&] { return scalar.make_map<T>(); });
  const auto w = weight.view().component(0);
  for (std::int64_t i = 0; i < w.size(); ++i) w[i] = mask.contains(component, i) ? T{0} : T{1};
  const AnalysisReport report = filter<T>(scalar, options, weight.view(), {});
  for (std::int64_t c = component; c < map.n_components(); ++c) {
    if (done[static_cast<std::size_t>(c)] || !mask.same(scalar.comm(), c, component)) continue;
    done[static_cast<std::size_t>(c)] = 1;
    const auto f = map.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < f.size(); ++i) {
      f[i] = w[i] > static_cast<T>(least_smoothed_mask) ? f[i] / w[i] : static_cast<T>(unseen);
    }
  }
  return report.transforms;
}

}  // namespace

template <class T>
UnseenMask mask_unseen(const Communicator& comm, UnseenPolicy policy, MapView<T> map) {
  const UnseenMask mask(comm, MapView<const T>(map));
  const std::int64_t n_pixels = comm.sum(map.size());
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    if (mask.count(c) == n_pixels && n_pixels > 0) {
      throw DataError("", "all " + std::to_string(n_pixels) + " pixels of component " +
                              std::to_string(c) + " are UNSEEN; nothing to transform");
    }
  }
  if (policy == UnseenPolicy::fail && mask.total() > 0) {
    throw DataError(
        "", std::to_string(mask.total()) +
                " pixels are UNSEEN and --unseen fail was given; use restore, zero or normalize");
  }
  mask.set_zero(map);
  return mask;
}

template <class T>
SmoothingReport smooth_harmonic(SphericalHarmonicTransform& transform,
                                const SmoothingOptions& options, MapView<T> map,
                                const AnalysisProgress& progress) {
  const Communicator& comm = transform.comm();
  agree(comm, [&] { transform.require_map(map.n_components(), map.size()); });
  const UnseenMask mask = mask_unseen(comm, options.unseen, map);
  SmoothingReport report;
  report.unseen_pixels = mask.total();
  report.removed =
      fit_low_multipoles<T>(comm, transform.rings(), map.component(0), mask, options.remove);
  add_low_multipoles<T>(transform.rings(), map.component(0), mask, report.removed, -1);

  report.analysis = filter<T>(transform, options, map, progress);

  if (options.unseen == UnseenPolicy::normalize && mask.total() > 0) {
    TransformSpec spec = transform.spec();
    spec.fields = FieldSet({0});
    transform.release_workspace();
    SphericalHarmonicTransform scalar(comm, spec);
    std::vector<char> done(static_cast<std::size_t>(map.n_components()), 0);
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      if (mask.count(c) > 0 && !done[static_cast<std::size_t>(c)])
        report.mask_transforms += normalize<T>(scalar, options, mask, c, done, map);
    }
    for (const auto& [stage, entry] : scalar.times().entries())
      transform.times().add(stage, entry.seconds);
  }
  if (options.unseen == UnseenPolicy::restore || options.unseen == UnseenPolicy::normalize)
    mask.set_unseen(map);
  if (options.put_back == SmoothingOptions::PutBack::yes) {
    const UnseenMask empty(comm, MapView<const T>(map));
    add_low_multipoles<T>(transform.rings(), map.component(0), empty, report.removed, +1);
  }
  return report;
}

#define RINGWEAVE_INSTANTIATE(T)                                                                 \
  template UnseenMask mask_unseen(const Communicator&, UnseenPolicy, MapView<T>);                \
  template SmoothingReport smooth_harmonic(SphericalHarmonicTransform&, const SmoothingOptions&, \
                                           MapView<T>, const AnalysisProgress&);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
