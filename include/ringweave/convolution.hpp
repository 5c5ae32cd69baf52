// SPDX-License-Identifier: GPL-3.0-or-later
// Convolution with radial kernels on rings, and with kernels split between rings and harmonics.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <ringweave/communicator.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/kernel.hpp>
#include <ringweave/transform.hpp>
#include <ringweave/views.hpp>

namespace ringweave::detail::inline distribute {
class RingDistribution;
}
namespace ringweave::detail::inline convolve {
class RingConvolutionPlan;
struct SplitMachine;
struct SplitPlan;
}

namespace ringweave {

/// Definition of a convolution.
enum class ConvolutionMode {
  exact,  ///< the sum over pixels
  plain   ///< the paper's basic algorithm: every ring keeps the modes up to its own Nyquist
};

/// Way in which the sum is formed. `automatic` takes the one with the shortest predicted time.
enum class ConvolutionPath {
  automatic,
  pixels,      ///< sums over pixels everywhere
  modes,       ///< products of ring modes everywhere; needs a kernel without high degrees
  modes_equal  ///< products of modes among the rings of one length, sums over pixels elsewhere
};

/// Way in which the rows of a kernel's modes are made. `automatic` takes the faster one, as
/// predicted, for every group of pairs of rings.
enum class KernelRows {
  automatic,
  sums,  ///< cosine sums over the kernel's samples
  fft    ///< FFTs wherever the number of samples around a ring has factors for them
};

/// Specification of a ring convolution, the same on every rank.
struct RingConvolutionSpec {
  std::shared_ptr<const RingGrid> grid;  ///< of the maps; must be set
  /// Kernels of one spin: one for all fields, or one for each. A field of spin 0 is a map, one of
  /// spin s > 0 is two, as Q and U with HEALPix's signs.
  std::vector<RadialKernel> kernels;
  std::int64_t n_maps = 1;                            ///< two for each field of spin, as Q and U
  ConvolutionMode mode = ConvolutionMode::exact;      ///< definition of the convolution
  ConvolutionPath path = ConvolutionPath::automatic;  ///< way in which its sums are formed
  KernelRows rows = KernelRows::automatic;  ///< way in which the rows of a kernel's modes are made
  /// Error allowed in the sum, relative to its rms; 0: rounding. The truncation of the kernel at
  /// its support is not part of it.
  double error = 0;
  /// Degrees of the kernels above this one are ignored, whatever their power for white maps; 0: all
  /// degrees count that the error does not cover.
  int highest_degree = 0;
  /// Bytes of a stored pixel, for which memory is planned. Maps of a longer type are refused.
  std::int64_t bytes_per_pixel = sizeof(double);
  Backend backend = Backend::host;  ///< place of the sums and FFTs
  /// Owners of the rings, as ring_bands() of another convolution on the same grid has them; null:
  /// bands of equal cost.
  std::shared_ptr<const detail::RingDistribution> ring_bands{};
  /// Kernels of the conjugates of fields of spin (RadialKernel::of_conjugate), whose results are
  /// added: as many as `kernels`, or none. Summed over pixels.
  std::vector<RadialKernel> conjugate_kernels{};
};

/// Convolution of maps with radial kernels ring by ring, without computing a_lm:
///
///     s_p = sum_q w_q K(|n_p - n_q|) r_q,   w_q the grid's quadrature weight of pixel q.
///
/// With kernels of spin s, r_q is a field of that spin carried from q to p along the great circle
/// (docs/ring_convolution.md, the exact mode only). Results are bitwise the same for any number of
/// threads. Members are not collective unless they say so. One call at a time per object. T is the
/// storage type of maps, float or double.
/// From  Elsner & Wandelt (2011), A&A 532, A35 (ARKCoS)
class RingConvolution {
 public:
  /// Plans everything and allocates it. Collective.
  /// Error  UsageError on all ranks where the specification contradicts itself or asks for the
  ///        impossible, or this build lacks the backend; ResourceError on all when memory or a
  ///        device fails one.
  RingConvolution(const Communicator& comm, const RingConvolutionSpec& spec);
  ~RingConvolution();
  RingConvolution(RingConvolution&&) noexcept;  ///< moves the state

  const LocalRings& rings() const;  ///< the rings this rank owns
  /// Returns the owners of all rings, for a transform of the same maps (TransformSpec::ring_bands).
  std::shared_ptr<const detail::RingDistribution> ring_bands() const;

  /// Convolves maps. Allocates nothing after the first call. Collective.
  /// in   [map][own pixel], read only
  /// out  [map][own pixel], overwritten; other memory than `in`
  /// Error  UsageError on all ranks when require() throws on one; ResourceError on all when memory
  ///        or a device fails one.
  template <class T>
  void convolve(MapView<const T> in, MapView<T> out);
  /// Does the same with buffers. Collective.
  template <class T>
  void convolve(const ComponentBuffer<T>& in, ComponentBuffer<T>& out) {
    convolve<T>(in.view(), out.view());
  }

  /// Throws UsageError unless convolve() takes these maps of this rank: their numbers and sizes,
  /// the bytes of a pixel, and memory that is not shared.
  template <class T>
  void require(MapView<const T> in, MapView<T> out) const;

  /// Returns the bytes this rank handed to MPI in the last convolve(): pixels and modes of its
  /// halo.
  std::int64_t halo_bytes_sent() const;
  /// Returns the seconds of "halo", "ring_fft", "modes", "stencil", "sectors" of this rank so far;
  /// on a device of "pixels" in place of the last two, and of "upload" and "download".
  StageTimes& times();

  /// Returns the plan, for Ringweave's own reports.
  const detail::RingConvolutionPlan& plan() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Places and order of the parts of a split kernel.
struct SplitBackends {
  Backend harmonic = Backend::host;  ///< of the part in a_lm
  Backend rings = Backend::host;     ///< of the compact part
  /// Tells whether ranks that do both parts do one of them in a thread of its own, on a copy of the
  /// maps, at the same time as the other: the rings where they alone are on a device, else the
  /// harmonic part. Worth it where one part is on a device. They are done one after the other
  /// without MPI_THREAD_MULTIPLE, and where both are on the device.
  bool concurrent = false;

  /// Returns whether ranks with both parts do them at once, MPI permitting.
  bool work_at_once() const {
    return concurrent && !(harmonic == Backend::cuda && rings == Backend::cuda);
  }
};

/// Costs by which one of the splits that keep the error is chosen.
enum class SplitChoice {
  as_placed,  ///< those of the specification's ranks, threads and backends: the fastest there
  /// Takes those of one rank and thread of the host: the same split, and so the same maps, for any
  /// ranks, threads and backends.
  one_core,
};

/// Specification of a split: the kernel, the maps, the allowed error, and the ranks for which times
/// are predicted.
struct KernelSplitSpec {
  /// l = 0..lmax, not all 0 from the spin on; of E and of B for fields of spin
  std::vector<double> k_l;
  /// C_l of the maps, l = 0..lmax or more; empty: white up to lmax, no power above. Values above
  /// lmax (up to 4 nside) are power that the harmonic method would drop: pixels of independent
  /// noise have C_l to 4 nside. For fields of spin the sum of E and B; its scale does not matter.
  std::vector<double> cl{};
  int spin = 0;            ///< of the fields, 0 to RadialKernel::most_spin
  std::int64_t nside = 0;  ///< of the HEALPix maps; lmax at most 3 nside - 1
  /// Bound on SplitError::total, 1e-13 to less than 1.
  double error = 1e-5;
  /// Factor of the residual of the fit, as in Eq. 6 of the paper, where 5 stands for all errors
  /// that a convolution adds. Ours adds little: 2 covers the largest measured error, of a CMB map
  /// whose lowest degrees happened to be weak (docs/kernel_splitting.md).
  double alpha = measured_alpha;
  static constexpr double measured_alpha = 2;  ///< covers the largest measured error
  static constexpr double papers_alpha = 5;    ///< of the paper
  /// Rounding of the ring convolution, relative to its result: single precision.
  double convolver_error = 1e-7;
  /// Supports to try, radians, ascending; empty: every 36 / lmax (30 arcmin at lmax 4096) up to
  /// twenty times that, and an eighth, a quarter, a half and three quarters of it.
  std::vector<double> theta_cuts{};
  int n_ranks = 1;           ///< that the maps will be on
  int n_threads = 1;         ///< of each rank
  SplitBackends backends{};  ///< places of the two parts
  /// Ranks that do the harmonic part while the others do the rings; fewer than all. 0: all do both
  /// parts; none: whichever is predicted to be fastest.
  std::optional<int> n_harmonic{};
  SplitChoice choice = SplitChoice::as_placed;  ///< costs by which the split is chosen
  /// Machine of the predictions, for Ringweave's own program; null: a typical one.
  std::shared_ptr<const detail::SplitMachine> machine{};
};

/// Predicted rms of the error over the rms of the convolved map, and its contributions.
struct SplitError {
  double fit = 0;       ///< Eq. 2 over the denominator of Eq. 6: the residual in degrees <= lmax
  double aliased = 0;   ///< degrees of the compact part above lmax, onto which pixels alias power
  double rounding = 0;  ///< of the ring convolution, in power that cancels between the two parts
  double total = 0;     ///< root of (alpha fit)^2 + aliased^2 + rounding^2
};

/// One support of the search.
struct SplitCandidate {
  double theta_cut = 0;  ///< radians
  /// Least degree within the bound; -1: the compact part is enough.
  int l_cut = 0;
  /// Tells whether there are two parts within the bound. If not, l_cut and error are those of the
  /// closest try: l_cut = lmax - 1, or a harmonic part that is the whole kernel.
  bool is_found = false;
  double error = 0;  ///< SplitError::total as the fit has it, or of parts that miss the bound
  /// Number of ranks, the last ones, that do the harmonic part while the others convolve on rings;
  /// 0: all ranks do both.
  int n_harmonic = 0;
  // Predicted for one field: a map, or the two of a spin.
  Estimate harmonic{};  ///< of the part in a_lm
  Estimate rings{};     ///< of the compact part
  Estimate sending{};   ///< the field to the ranks of the harmonic part, and theirs back
  /// Sum of the parts (at once: the slower one); side by side the slower part and the sending.
  Estimate total{};
};

/// Split of K_l into a part with degrees l <= l_cut, to be applied to a_lm, and a compact one with
/// theta <= theta_cut, for rings: K_l = harmonic_l + (Legendre transform of compact)_l, for fields
/// of spin s the transform by d^l_ss. Of all supports and placements the one with the least
/// predicted time within the error bound; with SplitChoice::one_core the support with the least
/// time on one core, in the placement that is fastest for it. Copies share their data. Not
/// collective.
///
/// The harmonic part takes up whatever the compact part has in degrees <= l_cut, so only degrees
/// above are fitted: K(theta) as a sum of polynomials on the cap, least squares with the weights
/// (2l+1) C_l. The fit is also charged for two errors that these weights do not see: power below
/// l_cut that cancels between the parts (times convolver_error), and power above lmax (times the
/// share that the grid aliases).
/// From  Sutter, Wandelt & Elsner (2012), arXiv:1211.3556 (scytale), Sect. 2, with the C_l that Eq.
///       6 lacks
class KernelSplit {
 public:
  /// Searches. OpenMP over supports; the same for any number of threads.
  /// Cost   a tenth of a second per support of 240 arcmin at lmax 4096.
  /// Error  UsageError when the specification contradicts itself or a number of it is out of its
  ///        range.
  explicit KernelSplit(const KernelSplitSpec& spec);

  /// Backend of each part of a split, as in KernelSplitSpec.
  struct Place {
    SplitBackends backends{};                     ///< as KernelSplitSpec::backends
    std::optional<int> n_harmonic{};              ///< as KernelSplitSpec::n_harmonic
    SplitChoice choice = SplitChoice::as_placed;  ///< as KernelSplitSpec::choice
  };
  /// Searches once and returns the split for each of these places, which take the place of the
  /// specification's backends, n_harmonic and choice. Rings are planned for every place; else cost
  /// and errors are those of the constructor.
  static std::vector<KernelSplit> in_places(const KernelSplitSpec& spec,
                                            std::span<const Place> places);

  /// Ways to convolve, of which the fastest is chosen by prediction.
  enum class Verdict {
    split,     ///< is predicted to be fastest
    rings,     ///< the compact part is the whole kernel and fastest
    harmonic,  ///< no split keeps the bound, or none is faster than the a_lm of all degrees
  };
  Verdict verdict() const;  ///< the fastest way, as predicted
  /// Explains the verdict in a sentence.
  const std::string& reason() const;

  /// Tells whether the fastest split keeps the bound. best() to error() describe it and throw
  /// UsageError if there is none.
  bool has_parts() const;
  const SplitCandidate& best() const;  ///< the split that was chosen
  /// Returns K_l of the harmonic part, l = 0..l_cut; empty where l_cut = -1.
  const std::vector<double>& harmonic() const;
  /// Returns the kernel of the compact part.
  const RadialKernel& compact() const;
  /// Returns the error of the actual parts, with K(theta) as tabulated.
  const SplitError& error() const;

  /// Returns the candidates of all supports, ascending, with the predictions that the choice went
  /// by; best() has those of the specification's ranks.
  const std::vector<SplitCandidate>& scan() const;
  std::int64_t nside() const;  ///< of the maps it is for
  /// Returns the prediction for the a_lm of all degrees.
  const Estimate& harmonic_only() const;

 private:
  struct Data;
  explicit KernelSplit(std::shared_ptr<const Data> data);
  std::shared_ptr<const Data> data_;
};

/// The maps a split kernel is applied to.
struct SplitMaps {
  std::shared_ptr<const RingGrid> grid;  ///< HEALPix of the nside the split was searched for
  std::int64_t n_maps = 1;               ///< two for each field of spin, as Q and U
  /// Bytes of a stored pixel, for which memory is planned. Maps of a longer type are refused.
  std::int64_t bytes_per_pixel = sizeof(double);
  SplitBackends backends{};  ///< places of the two parts
  /// Owners of the rings, as ring_bands() of a convolution of the same placement on the same grid;
  /// null: bands of equal cost.
  std::shared_ptr<const detail::RingDistribution> ring_bands{};
};

/// Convolution of scalar maps, or of fields of spin, with a split kernel: its harmonic part through
/// a_lm of degrees up to l_cut, its compact part on the rings, with the grid's own quadrature
/// weights in both. No iterations. As the split is placed (SplitCandidate::n_harmonic), all ranks
/// do both parts, or two groups of ranks one each, side by side. Either part may be on a device
/// (SplitMaps::backends): its group's, or that of ranks whose cores do the other part.
///
/// Results are bitwise the same for any number of threads. Members are not collective unless they
/// say so. One call at a time per object. T is the storage type of maps, float or double.
/// From  Sutter, Wandelt & Elsner (2012), arXiv:1211.3556 (scytale)
class SplitConvolution {
 public:
  /// Plans both parts and allocates the memory of the rings. Collective.
  /// Error  UsageError on all ranks when the split has no parts, is for another grid, or is placed
  ///        on more ranks than there are; ResourceError on all when memory fails one, or where a
  ///        device is asked for and none is of use.
  SplitConvolution(const Communicator& comm, const KernelSplit& split, const SplitMaps& maps);
  ~SplitConvolution();
  SplitConvolution(SplitConvolution&&) noexcept;  ///< moves the state

  /// Returns the rings of the maps this rank owns; ranks that only do the harmonic part own none.
  const LocalRings& rings() const;
  /// Returns the owners of all rings, for a transform of the same maps (TransformSpec::ring_bands).
  std::shared_ptr<const detail::RingDistribution> ring_bands() const;

  /// Convolves maps. Collective.
  /// in   [map][own pixel]; its contents are lost
  /// out  [map][own pixel], overwritten; other memory than `in`
  /// Memory  besides both parts' own: a_lm of degrees up to l_cut; the maps once more where the
  ///         parts are done at once, or side by side (on the ranks of the harmonic part).
  /// Error  UsageError on all ranks when one has maps that RingConvolution::require() refuses;
  ///        ResourceError on all when memory or a device fails one.
  template <class T>
  void convolve(MapView<T> in, MapView<T> out);
  /// Does the same with buffers. Collective.
  template <class T>
  void convolve(ComponentBuffer<T>& in, ComponentBuffer<T>& out) {
    convolve<T>(in.view(), out.view());
  }

  /// Returns the seconds of "sending" of this rank so far, side by side. The parts have their own.
  StageTimes& times();
  /// Returns the ring convolution; null on ranks that only do the harmonic part.
  RingConvolution* ring_convolution();
  /// Returns the transform; null on ranks that only convolve on rings, and where the compact part
  /// is the whole kernel.
  SphericalHarmonicTransform* transform();

  /// Returns the plan, for Ringweave's own reports.
  const detail::SplitPlan& plan() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
