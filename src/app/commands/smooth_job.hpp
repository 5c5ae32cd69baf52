// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "app/field_choice.hpp"
#include "app/memory_estimate.hpp"
#include "app/options.hpp"
#include "app/run.hpp"
#include "app/transform_report.hpp"
#include "app/transform_setup.hpp"
#include "convolve/harmonic_smoothing.hpp"
#include "io/map_file.hpp"

namespace ringweave {

/// What `smooth` makes of its options and its input, whichever way the map is smoothed.
struct SmoothJob {
  SmoothOptions options;       ///< defaults filled in
  SmoothingOptions smoothing;  ///< the beam and the weights are still missing
  std::unique_ptr<MapReader> reader;
  FieldChoice choice;
  std::shared_ptr<const RingGrid> grid;  ///< the rings to visit
  Precision precision = Precision::double_;
  int usual_lmax = 0;  ///< where --lmax does not say

  bool is_normalized() const { return smoothing.unseen == UnseenPolicy::normalize; }
};

/// UsageError unless the smoothing is given in exactly one way.
void require_one_kernel(const SmoothOptions& options);

/// What an analysis of this job needs; the same for all fields. Collective.
struct HarmonicWay {
  WeightFiles weights;
  MemoryUse use;
  TransformCount count;
};
HarmonicWay harmonic_way(const Run& run, const SmoothJob& job);

/// The beam of --fwhm, --beam or --kernel. Collective.
Beam beam_of(const Run& run, const SmoothOptions& options, int lmax);

/// Smooths `map` in place with its transform, showing the progress. Collective.
template <class T>
SmoothingReport smooth_fields(Run& run, const SmoothJob& job, SphericalHarmonicTransform& transform,
                              const SmoothingOptions& smoothing, MapView<T> map);

/// Input, kernel and method; the rest is the caller's.
Provenance provenance_of(const Run& run, const SmoothJob& job);

/// Reports how many pixels were UNSEEN and what was removed.
void tell_treatment(Run& run, const SmoothJob& job, std::int64_t unseen_pixels,
                    const LowMultipoles& removed);

/// Collective.
template <class T>
void write_smoothed(Run& run, const SmoothJob& job, const Provenance& provenance,
                    const LocalRings& rings, MapView<const T> map);

/// The harmonic way. Collective.
void smooth_with_transform(Run& run, SmoothJob& job);

}  // namespace ringweave
