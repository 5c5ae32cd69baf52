// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/harmonic_smoothing.hpp"

#include "distribute/agree.hpp"

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

/// Divides the components of `map` whose mask is that of `component` by the smoothed mask,
/// beginning with `component`. Returns the number of transforms.
template <class T>
int normalize(SphericalHarmonicTransform& scalar, const SmoothingOptions& options,
              const TreatedMap& treated, std::int64_t component, std::vector<char>& done,
              MapView<T> map) {
  auto weight = agreed(scalar.comm(), [&] { return scalar.make_map<T>(); });
  const auto w = weight.view().component(0);
  treated.write_mask<T>(component, w);
  const AnalysisReport report = filter<T>(scalar, options, weight.view(), {});
  for (std::int64_t c = component; c < map.n_components(); ++c) {
    if (done[static_cast<std::size_t>(c)] || !treated.mask().same(scalar.comm(), c, component))
      continue;
    done[static_cast<std::size_t>(c)] = 1;
    TreatedMap::divide<T>(w, map.component(c));
  }
  return report.transforms;
}

}  // namespace

template <class T>
SmoothingReport smooth_harmonic(SphericalHarmonicTransform& transform,
                                const SmoothingOptions& options, MapView<T> map,
                                const AnalysisProgress& progress) {
  const Communicator& comm = transform.comm();
  agree(comm, [&] { transform.require_map(map.n_components(), map.size()); });
  const TreatedMap treated(comm, transform.rings(), options, map);
  SmoothingReport report;
  report.unseen_pixels = treated.mask().total();
  report.removed = treated.removed();
  report.analysis = filter<T>(transform, options, map, progress);

  if (treated.is_normalized()) {
    TransformSpec spec = transform.spec();
    spec.fields = FieldSet({0});
    transform.release_workspace();
    SphericalHarmonicTransform scalar(comm, spec);
    std::vector<char> done(static_cast<std::size_t>(map.n_components()), 0);
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      if (treated.mask().count(c) > 0 && !done[static_cast<std::size_t>(c)])
        report.mask_transforms += normalize<T>(scalar, options, treated, c, done, map);
    }
    for (const auto& [stage, entry] : scalar.times().entries())
      transform.times().add(stage, entry.seconds);
  }
  treated.finish(map);
  return report;
}

template SmoothingReport smooth_harmonic(SphericalHarmonicTransform&, const SmoothingOptions&,
                                         MapView<float>, const AnalysisProgress&);
template SmoothingReport smooth_harmonic(SphericalHarmonicTransform&, const SmoothingOptions&,
                                         MapView<double>, const AnalysisProgress&);

}  // namespace ringweave
