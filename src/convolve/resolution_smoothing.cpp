// SPDX-License-Identifier: GPL-3.0-or-later
#include <utility>

#include "base/checked_cast.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/order_moves.hpp"
#include "ringweave/error.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/transform.hpp"
#include "transform/map_preparation.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// a_lm of the orders of another grid's transform, and how they came about.
template <class T>
struct MovedAlm {
  AlmBuffer<T> alm;
  AnalysisReport report;
};

constexpr const char* onto_new_grid = "transform onto the new grid";

/// Analyses a map, whose memory is freed, for a synthesis by `onto`. Collective.
template <class T>
MovedAlm<T> analyse_for(SphericalHarmonicTransform& from, SphericalHarmonicTransform& onto,
                        const SmoothingOptions& options, MapBuffer<T> map,
                        const AnalysisProgress& progress) {
  const Communicator& comm = from.comm();
  Analysis analysis(from, options.weights);
  auto alm = agreed(comm, [&] { return from.make_alm<T>(); });
  AnalysisReport report;
  if (options.tolerance > 0) {
    report = analysis.conjugate_gradients<T>(map.view(), options.tolerance, options.max_iter,
                                             alm.view(), progress);
  } else {
    report = analysis.jacobi_destroying<T>(map.view(), options.n_iter, alm.view(), progress);
  }
  map.release();
  from.release_workspace();
  auto moved = agreed(comm, [&] { return onto.make_alm<T>(); });
  move_orders<T>(comm, from.alm_layout(), alm.view(), onto.alm_layout(), moved.view());
  return {std::move(moved), std::move(report)};
}

/// Scalar transforms on both grids; made where a mask has to follow the map.
struct MaskTransforms {
  MaskTransforms(const SphericalHarmonicTransform& of_map, const SphericalHarmonicTransform& of_new)
      : from(of_map.comm(), scalar(of_map)), onto(of_new.comm(), scalar(of_new)) {}
  static TransformSpec scalar(const SphericalHarmonicTransform& transform) {
    TransformSpec spec = transform.spec();
    spec.fields = FieldSet({0});
    return spec;
  }
  SphericalHarmonicTransform from;
  SphericalHarmonicTransform onto;
};

/// Takes the mask of a component to the new grid, as it is and smoothed, and applies both there:
/// divides by the one, and makes pixels UNSEEN of which the other leaves less than half.
/// Collective.
template <class T>
void follow_mask(MaskTransforms& transforms, const SmoothingOptions& options,
                 const MaskedMap& treated, std::int64_t component, MapView<T> map,
                 SmoothingReport& report) {
  const Communicator& comm = transforms.from.comm();
  constexpr T half = static_cast<T>(0.5);
  const auto mask_on_new_grid = [&](bool is_smoothed) {
    auto weight = agreed(comm, [&] { return transforms.from.make_map<T>(); });
    if (is_smoothed) {
      treated.write_mask<T>(component, weight.view().component(0));
    } else {
      treated.write_seen<T>(component, weight.view().component(0));
    }
    auto moved = analyse_for<T>(transforms.from, transforms.onto, options, std::move(weight), {});
    if (is_smoothed)
      multiply(options.beam, transforms.onto.alm_layout(), transforms.onto.fields(),
               moved.alm.view());
    report.mask_transforms += moved.report.transforms + 1;
    report.mask_on_spectra += moved.report.on_spectra;
    return transforms.onto.synthesize<T>(std::move(moved.alm));
  };
  const auto f = map.component(component);
  if (treated.is_normalized(component)) {
    const MapBuffer<T> smoothed = mask_on_new_grid(true);
    MaskedMap::divide<T>(smoothed.view().component(0), f);
  }
  const MapBuffer<T> seen = mask_on_new_grid(false);
  const auto s = seen.view().component(0);
  for (std::int64_t i = 0; i < f.size(); ++i) {
    if (s[i] < half) f[i] = static_cast<T>(unseen);
  }
}

}  // namespace

template <class T>
SmoothingReport smooth_harmonic_onto(SphericalHarmonicTransform& from,
                                     SphericalHarmonicTransform& onto,
                                     const SmoothingOptions& options, MapBuffer<T>& map,
                                     const AnalysisProgress& progress) {
  const Communicator& comm = from.comm();
  agree(comm, [&] {
    from.require_map(map.n_components(), map.size());
    require_planned(onto_new_grid, onto.fields().n_components(), from.fields().n_components(),
                    "components");
    require_planned(onto_new_grid, onto.spec().lmax, from.spec().lmax, "as the largest degree");
    require_planned(onto_new_grid, onto.spec().mmax, from.spec().mmax, "as the largest order");
  });
  const MaskedMap treated(comm, from.rings(), options, map.view());
  SmoothingReport report{.maps = {{treated.unseen_pixels(), treated.removed()}}};
  auto moved = analyse_for<T>(from, onto, options, std::move(map), progress);
  report.analysis = std::move(moved.report);
  multiply(options.beam, onto.alm_layout(), onto.fields(), moved.alm.view());
  map = onto.synthesize<T>(std::move(moved.alm));
  ++report.analysis.transforms;
  onto.release_workspace();

  const bool restores =
      options.unseen == UnseenPolicy::restore || options.unseen == UnseenPolicy::normalize;
  const auto has_mask = [&](std::int64_t c) {
    return treated.mask().count(c) > 0 || treated.is_normalized(c);
  };
  if (restores && (treated.mask().total() > 0 || treated.is_normalized())) {
    MaskTransforms transforms(from, onto);
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      if (has_mask(c)) follow_mask<T>(transforms, options, treated, c, map.view(), report);
    }
  }
  if (options.put_back == MaskOptions::PutBack::yes) {
    const UnseenMask unseen_now(comm, MapView<const T>(map.view()));
    add_low_multipoles<T>(onto.rings(), map.view().component(0), unseen_now, treated.removed(), +1);
  }
  return report;
}

#define RINGWEAVE_INSTANTIATE(T)                                                         \
  template SmoothingReport smooth_harmonic_onto<T>(                                      \
      SphericalHarmonicTransform&, SphericalHarmonicTransform&, const SmoothingOptions&, \
      MapBuffer<T>&, const AnalysisProgress&);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
