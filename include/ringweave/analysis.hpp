// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <ringweave/communicator.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/spectra.hpp>
#include <ringweave/transform.hpp>

namespace ringweave {

/// Quadrature weights of an analysis for the rings and pixels this rank owns.
struct AnalysisWeights {
  std::vector<double> ring;   ///< [owned ring], steradians; see ring_weights()
  std::vector<double> pixel;  ///< [owned pixel], HEALPix pixel weights; empty: 1
};

/// Iterations, cost and residuals of an analysis.
struct AnalysisReport {
  int iterations = 0;  ///< corrections or passes that were made
  int transforms = 0;  ///< syntheses and adjoints
  int on_spectra = 0;  ///< of these, to and from the spectra of rings, without FFTs
  /// Relative residual at the start of each pass: ||f - S a|| / ||f|| for Jacobi, ||S^T W (f - S
  /// a)|| / ||S^T W f|| for conjugate gradients, with the final one as last entry.
  std::vector<double> residuals{};
};

/// Function that is called after each pass with its number (from 0), the largest number of passes,
/// and the residual (< 0: unknown).
using AnalysisProgress = std::function<void(int pass, int passes, double residual)>;

/// Analysis of maps: map -> a_lm, the inverse of the synthesis as far as the grid allows. Exact (to
/// rounding) on Gauss-Legendre, Clenshaw-Curtis and Fejer grids for lmax up to
/// RingGrid::default_lmax(); approximate on HEALPix, where iterations reduce the error. On the
/// host, iterations without pixel weights need no further FFTs, because the residual is formed from
/// the spectra of the rings. T is the storage type, float or double.
///
///   maps   [component][own pixel], as those of the transform
///   a_lm   [component][my order m][l = m..lmax], as those of the transform
/// Error  UsageError on all ranks when a shape is wrong on one; ResourceError on all when memory or
///        a device fails one.
class Analysis {
 public:
  /// Keeps a reference to the transform. Collective.
  /// Error  UsageError on all ranks when one has a wrong number of ring weights, or of pixel
  ///        weights where it has some.
  Analysis(SphericalHarmonicTransform& transform, AnalysisWeights weights);
  /// Shares the weights with other analyses. Collective.
  /// Error  UsageError as above, and when `weights` is null.
  Analysis(SphericalHarmonicTransform& transform, std::shared_ptr<const AnalysisWeights> weights);

  /// Computes a = A f, then n_iter (0 or more) times a += A (f - S a), with A = S^T W (healpy's
  /// map2alm(iter = n_iter)). Reads map, overwrites alm. Holds one more map while iterating.
  /// Collective.
  /// Error  UsageError also when n_iter is negative.
  template <class T>
  AnalysisReport jacobi(MapView<const T> map, int n_iter, AlmView<T> alm,
                        const AnalysisProgress& progress = {});

  /// Does the same with buffers. Collective.
  template <class T>
  AnalysisReport jacobi(const ComponentBuffer<T>& map, int n_iter,
                        ComponentBuffer<std::complex<T>>& alm,
                        const AnalysisProgress& progress = {}) {
    return jacobi<T>(map.view(), n_iter, alm.view(), progress);
  }

  /// Does the same with scratch of the caller's, so that calls with one `report` allocate nothing
  /// from the second time on. `work` is as large as the map; it and `report` are overwritten.
  /// Collective.
  template <class T>
  void jacobi_within(MapView<const T> map, int n_iter, AlmView<T> alm, MapView<T> work,
                     AnalysisReport& report, const AnalysisProgress& progress = {});

  /// Does the same with the map's memory as scratch: its contents are lost. Holds one more map if
  /// needs_residual_map() and n_iter > 0. Collective.
  template <class T>
  AnalysisReport jacobi_destroying(MapView<T> map, int n_iter, AlmView<T> alm,
                                   const AnalysisProgress& progress = {});

  /// Tells whether residuals are formed from pixels: with pixel weights, and on a device.
  bool needs_residual_map() const { return !weights_->pixel.empty() || !transform_.has_spectra(); }

  /// Returns A f. Frees the map as soon as it is no longer needed. Collective.
  template <class T>
  AlmBuffer<T> once(MapBuffer<T>&& map);

  /// Computes A f with the map's memory as scratch: its contents are lost. Collective.
  template <class T>
  void once_destroying(MapView<T> map, AlmView<T> alm);

  /// Solves S^T W S a = S^T W f by conjugate gradients, until the residual falls to `tolerance` or
  /// max_iter passes are done: the a_lm of the weighted least-squares fit. Reads map, overwrites
  /// alm. Holds three more a_lm arrays and a map. Collective.
  /// Error  UsageError also when tolerance is not in (0, 1).
  ///
  /// From  Hestenes & Stiefel (1952), J. Res. Natl. Bur. Stand. 49, 409
  template <class T>
  AnalysisReport conjugate_gradients(MapView<const T> map, double tolerance, int max_iter,
                                     AlmView<T> alm, const AnalysisProgress& progress = {});

 private:
  template <class T>
  void weigh_pixels(MapView<T> map) const;
  /// jacobi() with the residual made of pixels; `work` holds the same as `map`.
  template <class T>
  void jacobi_on_pixels(MapView<const T> map, int n_iter, AlmView<T> alm, MapView<T> work,
                        AnalysisReport& report, const AnalysisProgress& progress);
  /// jacobi() with the residual made of spectra, which replace the pixels of `work`.
  template <class T>
  void jacobi_on_spectra(MapView<T> work, int n_iter, AlmView<T> alm, AnalysisReport& report,
                         const AnalysisProgress& progress);

  SphericalHarmonicTransform& transform_;
  std::shared_ptr<const AnalysisWeights> weights_;
};

/// Returns the inner product of the a_lm of real fields: the sum over components of a_l0 b_l0 + 2
/// sum_{m > 0} Re(conj(a_lm) b_lm), over all ranks. Collective. Error  UsageError where components
/// or sizes are not those of the layout, or not the same.
template <class T>
double inner_product(const Communicator& comm, const AlmLayout& layout, AlmView<const T> a,
                     AlmView<const T> b);

/// Returns the sum of squares over all pixels of all ranks.
/// map  [component][own pixel]
/// Collective.
template <class T>
double squared_norm(const Communicator& comm, MapView<const T> map);

/// Returns C_l^XY = sum_m Re(conj(x_lm) y_lm) / (2 l + 1) of the a_lm of all ranks. One component:
/// TT; two: EE BB EB; three: TT EE BB TE EB TB. The same on every rank. Collective.
/// Error  UsageError for another number of components, or of coefficients than the layout's.
template <class T>
Spectra power_spectra(const Communicator& comm, const AlmLayout& layout, AlmView<const T> alm);

/// Returns the cross spectra of two skies, x_lm of the first and y_lm of the second, as
/// power_spectra(). Two components: EE BB EB BE; three: TT EE BB TE EB TB ET BE BT. Collective.
/// Error  UsageError as power_spectra(), and where they differ in their number of components.
template <class T>
Spectra cross_spectra(const Communicator& comm, const AlmLayout& layout, AlmView<const T> first,
                      AlmView<const T> second);

/// Treatment of UNSEEN pixels: restore (zero for the transform, put back after), zero, normalize
/// (divide by the smoothed mask), fail (DataError).
enum class UnseenPolicy { restore, zero, normalize, fail };

/// Monopole and dipole of a scalar map, in its unit: monopole + dipole . direction, on the unit
/// sphere.
struct LowMultipoles {
  double monopole = 0;             ///< in the unit of the map
  std::array<double, 3> dipole{};  ///< its vector (x, y, z), in the unit of the map
};
/// Choice of the low multipoles to remove from a map.
enum class Remove { none, monopole, dipole };

/// The part of the sphere that a mask leaves: the means, by area, of its values w and of their
/// squares.
struct SkyFraction {
  double f_sky = 0;       ///< mean of w over the sphere, 0 to 1
  double of_squares = 0;  ///< by which the spectra of a masked sky are too small, on average
};

/// Returns the sky fraction of a mask. Rings that the grid lacks, being a subset, count as masked.
/// mask  [own pixel], 0 to 1
/// Collective. Error  UsageError for another number of pixels.
SkyFraction sky_fraction(const Communicator& comm, const LocalRings& rings,
                         std::span<const double> mask);

/// Lets a mask fall to zero smoothly: multiplies pixels at a distance d < angle from the nearest
/// pixel of 0 by (1 - cos(pi x)) / 2 with x = sin(d / 2) / sin(angle / 2). From  Grain et al.
/// (2009), Eq. 60, "C2". Cost  pixels within the angle of an edge of the mask, times rings within
/// the angle. OpenMP over rings. Collective.
/// mask   [own pixel], 0 to 1
/// angle  radians
/// Error  UsageError for an angle that is not above 0 and at most pi, or another number of pixels.
void apodise(const Communicator& comm, const LocalRings& rings, double angle,
             std::span<double> mask);

}  // namespace ringweave
