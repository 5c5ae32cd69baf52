// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/cli/options.hpp"
#include "app/maps/map_list.hpp"
#include "app/maps/map_run.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/transform_report.hpp"
#include "app/run.hpp"
#include "app/transform_setup.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/files.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Options and input of `smooth`, the same for every method.
struct SmoothJob {
  SmoothOptions options;                 ///< defaults filled in
  SmoothingOptions smoothing;            ///< the beam and the weights are still missing
  MapList maps;                          ///< at least one to do
  MapHeader header;                      ///< of the first; the others are like it
  std::unique_ptr<MapReader> reader;     ///< of the only map; null where there are several
  FieldChoice choice;                    ///< of each
  std::shared_ptr<const RingGrid> grid;  ///< the rings to visit
  /// The grid of the smoothed maps where it is another than that of the maps, else null.
  std::shared_ptr<const RingGrid> new_grid{};
  Precision precision = Precision::double_;
  int usual_lmax = 0;              ///< where --lmax does not say
  std::string why_method{};        ///< the method that --method auto took, and why
  SkyFraction sky_fraction{1, 1};  ///< that the mask leaves, once it is read

  bool is_normalized() const { return smoothing.unseen == UnseenPolicy::normalize; }
  /// Tells whether masks are smoothed too.
  MaskSmoothing mask() const { return is_normalized() ? MaskSmoothing::yes : MaskSmoothing::no; }
  /// Returns the number of maps of spin: 2 with Q and U, else 0.
  std::int64_t n_spin_maps() const { return choice.fields.max_spin() > 0 ? 2 : 0; }
  std::int64_t n_scalars() const { return choice.fields.n_components() - n_spin_maps(); }
};

/// Returns the weights and options of the job's analyses, the same for all fields. Collective.
struct HarmonicSettings {
  WeightFiles weights;
  MemoryUse use;
  TransformCount count;
};
HarmonicSettings harmonic_settings(Run& run, const SmoothJob& job);

/// Predicts the harmonic method without iterations, for all maps and masks. Collective.
Estimate predict_harmonic(const Run& run, const SmoothJob& job, int lmax);

/// Smooths `map`, fields of the maps of a group, in place with their transform; shows the progress,
/// puts the iterations into the report and the group's provenance. Collective.
template <class T>
SmoothingReport smooth_fields(Run& run, const SmoothJob& job, SphericalHarmonicTransform& transform,
                              SmoothingOptions smoothing, MapGroup<T>& group, MapView<T> map);

/// Says how an analysis of maps came out, and records it; refuses one that diverges. Collective.
/// maps  the names of their files
void tell_analysis(Run& run, const SmoothJob& job, const std::vector<std::string>& maps, int lmax,
                   const AnalysisReport& analysis, Provenance& provenance);

/// Shows passes and residuals of an analysis.
AnalysisProgress progress_of(Run& run);

/// The transforms of a smoothing that is done.
TransformCount count_of(const SmoothingReport& report);

}  // namespace ringweave::detail::inline app
