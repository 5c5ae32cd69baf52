// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <ringweave/analysis.hpp>
#include <ringweave/convolution.hpp>
#include <ringweave/spectra.hpp>

namespace ringweave {

/// Treatment of a map before and after its smoothing, the same for every method.
struct MaskOptions {
  UnseenPolicy unseen = UnseenPolicy::restore;  ///< of UNSEEN pixels
  Remove remove = Remove::none;                 ///< from component 0
  /// Choice to add the removed multipoles to the smoothed map.
  enum class PutBack { no, yes };
  PutBack put_back = PutBack::no;  ///< of the multipoles of `remove`
  /// Factors of every component, [own pixel], 0 to 1. Pixels of 0 are UNSEEN, but not to
  /// UnseenPolicy::fail. Null: 1.
  std::shared_ptr<const std::vector<double>> mask{};
};

/// Options of smooth_harmonic().
struct SmoothingOptions : MaskOptions {
  Beam beam;                                       ///< factors b_l of the a_lm
  std::shared_ptr<const AnalysisWeights> weights;  ///< must be set
  int n_iter = 3;                                  ///< corrections of the analysis
  /// Residual at which conjugate gradients end, of at most max_iter passes, instead of n_iter
  /// corrections; 0: n_iter.
  double tolerance = 0;
  int max_iter = 100;  ///< most passes of conjugate gradients
  /// Names of several maps that are smoothed together, for error messages. Their fields are alike
  /// and follow one another. Empty: one map.
  std::vector<std::string> maps{};
};

/// Treatment that a map got before its smoothing.
struct TreatmentReport {
  std::vector<std::int64_t> unseen_pixels{};  ///< [component], masked ones among them
  LowMultipoles removed{};                    ///< of component 0
};

/// Treatment and cost of a smoothing.
struct SmoothingReport {
  std::vector<TreatmentReport> maps;  ///< one for each map, or one of all
  // smooth_harmonic() only.
  AnalysisReport analysis{};  ///< its transforms include the synthesis
  int mask_transforms = 0;    ///< of one scalar field, for UnseenPolicy::normalize
  int mask_on_spectra = 0;    ///< of these, as AnalysisReport::on_spectra
  // smooth_on_rings() only.
  int convolutions = 0;  ///< two where the mask was smoothed too
};

/// Smooths `map` in place: masks, removes the low multipoles, analyses, multiplies by the beam,
/// synthesizes, puts back. T is the storage type, float or double.
///
/// map      [component][own pixel], the fields of the transform. A beam's t acts on scalar fields,
///          its e and b on spin fields.
/// Unseen   UnseenPolicy::normalize divides every component by the identically smoothed mask (seen
///          pixels 1, or their factor in the mask): edge errors fall about tenfold. Pixels without
///          data stay UNSEEN.
/// Several maps come out as they would one by one, unless a tolerance couples them.
/// Memory   the a_lm, the transform's workspace, and one more map where
///          Analysis::needs_residual_map(). Collective.
/// Error    DataError when every pixel of a component is UNSEEN, one is and unseen = fail, or too
///          few are seen to fit the low multipoles; UsageError on all ranks when the map or the
///          mask of one has a wrong size, and as those of Analysis; ResourceError on all when
///          memory or a device fails one.
template <class T>
SmoothingReport smooth_harmonic(SphericalHarmonicTransform& transform,
                                const SmoothingOptions& options, MapView<T> map,
                                const AnalysisProgress& progress = {});

/// Smooths `map` as smooth_harmonic() does and takes it to another grid, without its a_lm in a
/// file.
///
/// from, onto  transforms of the same fields and degrees on the two grids
/// map         [component][own pixel] of `from`; becomes that of `onto`
/// Unseen      UnseenPolicy::restore and normalize take the mask to the new grid too: a pixel is
///             UNSEEN where less than half is left of it, to the degrees of the transforms.
/// Memory      the a_lm twice, and one map of each grid where pixels are UNSEEN. Collective.
/// Error       as smooth_harmonic(); UsageError also where the transforms differ in their degrees
///             or numbers of components
template <class T>
SmoothingReport smooth_harmonic_onto(SphericalHarmonicTransform& from,
                                     SphericalHarmonicTransform& onto,
                                     const SmoothingOptions& options, MapBuffer<T>& map,
                                     const AnalysisProgress& progress = {});

/// Smooths maps by a RingConvolution or a SplitConvolution: masks, removes the low multipoles,
/// convolves, divides by the smoothed mask, puts back. UNSEEN pixels and low multipoles as
/// smooth_harmonic(). The report has one treatment, of all maps together. T is the storage type,
/// float or double.
///
/// in   [map][own pixel]; its contents are lost
/// out  [map][own pixel], overwritten; other memory than `in`
/// of_masks  for maps of spin and UnseenPolicy::normalize: convolves one scalar map, a mask, on the
///           same rings
/// Memory  as many maps again where the mask is smoothed, with of_masks one. Collective.
/// Error  DataError when every pixel of a map is UNSEEN, one is and unseen = fail, or too few are
///        seen to fit the low multipoles; UsageError on all ranks when the mask of one has a wrong
///        size, when maps of spin are to be normalized without of_masks, and as those of
///        convolve(); ResourceError on all when memory or a device fails one.
template <class T, class Convolution>
SmoothingReport smooth_on_rings(const Communicator& comm, Convolution& convolution,
                                const MaskOptions& treatment, MapView<T> in, MapView<T> out,
                                Convolution* of_masks = nullptr);

}  // namespace ringweave
