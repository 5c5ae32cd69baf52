// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <optional>

#include "base/checked_cast.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"

namespace ringweave {

using namespace detail;

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
  } else {
    report = analysis.jacobi_destroying<T>(map, options.n_iter, alm.view(), progress);
  }
  multiply(options.beam, transform.alm_layout(), transform.fields(), alm.view());
  transform.synthesize<T>(alm.view(), map);
  ++report.transforms;
  return report;
}

/// Divides the components of `map` with UNSEEN pixels by their smoothed masks; components of one
/// mask share it. Counts the transforms in `report`.
template <class T>
void normalize(SphericalHarmonicTransform& scalar, const SmoothingOptions& options,
               const MaskedMap& treated, MapView<T> map, SmoothingReport& report) {
  const UnseenMask& mask = treated.mask();
  std::vector<char> done(to_size(map.n_components()), 0);
  for (std::int64_t component = 0; component < map.n_components(); ++component) {
    if (!treated.is_normalized(component) || done[to_size(component)] != 0) continue;
    auto weight = agreed(scalar.comm(), [&] { return scalar.make_map<T>(); });
    const auto w = weight.view().component(0);
    treated.write_mask<T>(component, w);
    const AnalysisReport filtered = filter<T>(scalar, options, weight.view(), {});
    report.mask_transforms += filtered.transforms;
    report.mask_on_spectra += filtered.on_spectra;
    for (std::int64_t c = component; c < map.n_components(); ++c) {
      if (done[to_size(c)] != 0 || !mask.same(scalar.comm(), c, component)) continue;
      done[to_size(c)] = 1;
      MaskedMap::divide<T>(w, map.component(c));
    }
  }
}

/// The transform of one scalar field next to `transform`, or that itself where it is one. Its times
/// become those of `transform`. Collective.
class ScalarTransform {
 public:
  explicit ScalarTransform(SphericalHarmonicTransform& transform) : transform_(transform) {
    TransformSpec spec = transform.spec();
    if (spec.fields.n_components() == 1) return;
    spec.fields = FieldSet({0});
    transform.release_workspace();
    own_.emplace(transform.comm(), spec);
  }
  ScalarTransform(const ScalarTransform&) = delete;
  ScalarTransform& operator=(const ScalarTransform&) = delete;
  ~ScalarTransform() {
    if (!own_.has_value()) return;
    for (const auto& [stage, entry] : own_->times().entries())
      transform_.times().add(stage, entry.seconds);
  }

  SphericalHarmonicTransform& get() { return own_.has_value() ? *own_ : transform_; }

 private:
  SphericalHarmonicTransform& transform_;
  std::optional<SphericalHarmonicTransform> own_;
};

template <class T>
MaskedMap treat(const SphericalHarmonicTransform& transform, const SmoothingOptions& options,
                const std::string& name, MapView<T> map) {
  try {
    return {transform.comm(), transform.rings(), options, map};
  } catch (const DataError& error) {
    throw DataError(name, error.what());
  }
}

}  // namespace

template <class T>
SmoothingReport smooth_harmonic(SphericalHarmonicTransform& transform,
                                const SmoothingOptions& options, MapView<T> map,
                                const AnalysisProgress& progress) {
  const Communicator& comm = transform.comm();
  const std::int64_t n_maps = std::max<std::int64_t>(1, ssize64(options.maps));
  agree(comm, [&] {
    transform.require_map(map.n_components(), map.size());
    if (map.n_components() % n_maps != 0) {
      throw UsageError("smoothing: " + std::to_string(map.n_components()) +
                       " components are not those of " + std::to_string(n_maps) + " maps");
    }
  });
  const std::int64_t n_components = map.n_components() / n_maps;
  const auto map_of = [&](std::int64_t i) {
    return map.components(i * n_components, n_components);
  };
  SmoothingReport report;
  std::vector<MaskedMap> treated;
  treated.reserve(to_size(n_maps));
  for (std::int64_t i = 0; i < n_maps; ++i) {
    const std::string name = options.maps.empty() ? "" : options.maps[to_size(i)];
    treated.push_back(treat<T>(transform, options, name, map_of(i)));
    report.maps.push_back({treated.back().unseen_pixels(), treated.back().removed()});
  }
  report.analysis = filter<T>(transform, options, map, progress);

  if (std::any_of(treated.begin(), treated.end(),
                  [](const MaskedMap& one) { return one.is_normalized(); })) {
    ScalarTransform scalar(transform);
    for (std::int64_t i = 0; i < n_maps; ++i) {
      if (treated[to_size(i)].is_normalized())
        normalize<T>(scalar.get(), options, treated[to_size(i)], map_of(i), report);
    }
  }
  for (std::int64_t i = 0; i < n_maps; ++i) treated[to_size(i)].finish(map_of(i));
  return report;
}

template SmoothingReport smooth_harmonic(SphericalHarmonicTransform&, const SmoothingOptions&,
                                         MapView<float>, const AnalysisProgress&);
template SmoothingReport smooth_harmonic(SphericalHarmonicTransform&, const SmoothingOptions&,
                                         MapView<double>, const AnalysisProgress&);

}  // namespace ringweave
