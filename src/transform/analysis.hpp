// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {

/// Quadrature weights of an analysis for the rings and pixels this rank owns.
struct AnalysisWeights {
  std::vector<double>
      ring;  ///< [owned ring], steradians times HEALPix ring weights; see ring_weights()
  std::vector<double> pixel;  ///< [owned pixel], HEALPix pixel weights; empty: 1
};

/// How an analysis ended.
struct AnalysisReport {
  int iterations = 0;
  int transforms = 0;  ///< syntheses and adjoints
  int on_spectra = 0;  ///< of these, to and from the spectra of rings, without FFTs
  /// Relative residual each pass began with: ||f - S a|| / ||f|| for Jacobi, ||S^T W (f - S a)|| /
  /// ||S^T W f|| for conjugate gradients, whose last entry is the one it ended with.
  std::vector<double> residuals{};
};

/// Called after each pass with its number (from 0), how many there will be at most, and the
/// residual (< 0: unknown).
using AnalysisProgress = std::function<void(int pass, int passes, double residual)>;

/// Map -> a_lm, the inverse of the synthesis as far as the grid allows. Exact (to rounding) on
/// Gauss-Legendre, Clenshaw-Curtis and Fejer grids for lmax up to RingGrid::default_lmax();
/// approximate on HEALPix, where iterations reduce the error. On the host iterations without pixel
/// weights take no FFTs but those of the first analysis: the residual is that of the rings'
/// spectra.
class Analysis {
 public:
  Analysis(SphericalHarmonicTransform& transform, AnalysisWeights weights);
  /// Shares the weights with others.
  Analysis(SphericalHarmonicTransform& transform, std::shared_ptr<const AnalysisWeights> weights);

  /// a = A f, then n_iter times a += A (f - S a), with A = S^T W (healpy's map2alm(iter = n_iter)).
  /// map read only; alm overwritten. Holds one more map while iterating. Collective.
  template <class T>
  AnalysisReport jacobi(MapView<const T> map, int n_iter, AlmView<T> alm,
                        const AnalysisProgress& progress = {});

  /// The same, using the map's memory as scratch: its content is lost. Holds one more map if
  /// needs_residual_map() and n_iter > 0. Collective.
  template <class T>
  AnalysisReport jacobi_destroying(MapView<T> map, int n_iter, AlmView<T> alm,
                                   const AnalysisProgress& progress = {});

  /// Whether residuals are made of pixels: where these have weights of their own, or lie on a
  /// device.
  bool needs_residual_map() const { return !weights_->pixel.empty() || !transform_.has_spectra(); }

  /// The same without iterations, consuming the map. Collective.
  template <class T>
  AlmBuffer<T> once(MapBuffer<T>&& map);

  /// The same without iterations, using the map's memory as scratch: its content is lost.
  /// Collective.
  template <class T>
  void once_destroying(MapView<T> map, AlmView<T> alm);

  /// Conjugate gradients on S^T W S a = S^T W f, until the residual falls to `tolerance` or
  /// max_iter passes are done. The best a_lm in the weighted least-squares sense; needs three more
  /// a_lm arrays and a map. Collective. Error  UsageError when tolerance is not in (0, 1).
  template <class T>
  AnalysisReport conjugate_gradients(MapView<const T> map, double tolerance, int max_iter,
                                     AlmView<T> alm, const AnalysisProgress& progress = {});

 private:
  template <class T>
  void weigh_pixels(MapView<T> map) const;
  /// jacobi() with the residual made of pixels; `work` holds the same as `map`.
  template <class T>
  AnalysisReport jacobi_on_pixels(MapView<const T> map, int n_iter, AlmView<T> alm, MapView<T> work,
                                  const AnalysisProgress& progress);

  SphericalHarmonicTransform& transform_;
  std::shared_ptr<const AnalysisWeights> weights_;
};

/// Inner product of real fields' a_lm, sum over components of a_l0 b_l0 + 2 sum_{m > 0}
/// Re(conj(a_lm) b_lm), over all ranks. Collective.
template <class T>
double inner_product(const Communicator& comm, const AlmLayout& layout, AlmView<const T> a,
                     AlmView<const T> b);

/// Sum of squares over all pixels of all ranks. Collective.
template <class T>
double squared_norm(const Communicator& comm, MapView<const T> map);

}  // namespace ringweave
