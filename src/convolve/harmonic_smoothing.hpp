// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/buffer.hpp"
#include "convolve/masked_map.hpp"
#include "sphere/beam.hpp"
#include "transform/analysis.hpp"

namespace ringweave {

/// How a map is smoothed by multiplying its a_lm with a beam.
struct SmoothingOptions : MaskOptions {
  Beam beam;
  std::shared_ptr<const AnalysisWeights> weights;
  int n_iter = 3;
  double tolerance =
      0;  ///< > 0: conjugate gradients to this residual, at most max_iter passes, instead of n_iter
  int max_iter = 100;
  /// Of several maps that go together, each treated by itself, a name that an error can say. Their
  /// fields are alike and follow one another. Empty: one map.
  std::vector<std::string> maps{};
};

/// What was done to a map around its smoothing.
struct TreatmentReport {
  std::int64_t unseen_pixels = 0;  ///< of all its components together
  LowMultipoles removed{};
};

/// What smoothing did, whichever way it went.
struct SmoothingReport {
  std::vector<TreatmentReport> maps;
  // Of smooth_harmonic().
  AnalysisReport analysis{};  ///< its transforms count the synthesis too
  int mask_transforms = 0;  ///< of one scalar field, for normalize; their times are the transform's
  int mask_on_spectra = 0;  ///< of these, as AnalysisReport::on_spectra
  // Of smooth_on_rings().
  int convolutions = 0;  ///< two where the mask was smoothed too
};

/// Smooths `map` in place: masks, removes the low multipoles, analyses, multiplies by the beam,
/// synthesizes, puts back. The fields of the transform are those of the map; a beam's t acts on
/// scalar fields, its e and b on spin fields. unseen = normalize divides every component by the
/// identically smoothed mask (seen pixels 1): edge errors fall about tenfold; pixels without data
/// stay UNSEEN. Several maps come out as they would one by one, unless a
/// tolerance couples them. Needs the a_lm and the transform's workspace, and
/// where its Analysis does, one more map. Collective.
/// Error DataError when every pixel is UNSEEN, or one is and unseen = fail.
template <class T>
SmoothingReport smooth_harmonic(SphericalHarmonicTransform& transform,
                                const SmoothingOptions& options, MapView<T> map,
                                const AnalysisProgress& progress = {});

}  // namespace ringweave
