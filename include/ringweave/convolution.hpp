// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <ringweave/communicator.hpp>
#include <ringweave/execution.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/kernel.hpp>
#include <ringweave/views.hpp>

namespace ringweave::detail::inline distribute {
class RingDistribution;
}
namespace ringweave::detail::inline convolve {
class RingConvolutionPlan;
}

namespace ringweave {

/// Definition of a convolution.
enum class ConvolutionMode {
  exact,  ///< the sum over pixels
  plain   ///< the paper's basic algorithm: every ring keeps the modes up to its own Nyquist
};

/// How the sum is formed. `automatic` takes the path with the shortest predicted time.
enum class ConvolutionPath {
  automatic,
  pixels,      ///< sums over pixels everywhere
  modes,       ///< products of ring modes everywhere; needs a kernel without high degrees
  modes_equal  ///< products of modes among the rings of one length, sums over pixels elsewhere
};

/// How the rows of a kernel's modes are made. `automatic` takes the faster way, as predicted, for
/// every group of pairs of rings.
enum class KernelRows {
  automatic,
  sums,  ///< cosine sums over the kernel's samples
  fft    ///< FFTs wherever the number of samples around a ring has factors for them
};

/// Specification of a ring convolution, the same on every rank.
struct RingConvolutionSpec {
  std::shared_ptr<const RingGrid> grid;
  /// One for all maps, or one for each map.
  std::vector<RadialKernel> kernels;
  std::int64_t n_maps = 1;
  ConvolutionMode mode = ConvolutionMode::exact;
  ConvolutionPath path = ConvolutionPath::automatic;
  KernelRows rows = KernelRows::automatic;
  /// Error allowed in the sum, relative to its rms; 0: rounding. The truncation of the kernel at
  /// its support is not part of it.
  double error = 0;
  /// Degrees of the kernels above this one are ignored, whatever their power for white maps; 0: all
  /// degrees count that the error does not cover.
  int highest_degree = 0;
  /// Bytes of a stored pixel, for which memory is planned. Maps of a longer type are refused.
  std::int64_t bytes_per_pixel = sizeof(double);
  Backend backend = Backend::host;
};

/// Convolves maps with radial kernels ring by ring, without computing a_lm:
///
///     s_p = sum_q w_q K(|n_p - n_q|) r_q,   w_q the grid's quadrature weight of pixel q.
///
/// Scalar fields only. Results are bitwise the same for any number of threads. One call at a time
/// per object. T is the storage type of maps, float or double.
/// From  Elsner & Wandelt (2011), A&A 532, A35 (ARKCoS)
class RingConvolution {
 public:
  /// Plans everything and allocates it. Collective.
  /// Error  UsageError on all ranks where the specification contradicts itself or asks for the
  ///        impossible.
  RingConvolution(const Communicator& comm, const RingConvolutionSpec& spec);
  ~RingConvolution();
  RingConvolution(RingConvolution&&) noexcept;

  const LocalRings& rings() const;  ///< the rings this rank owns
  /// Which rank owns which rings, for a transform of the same maps (TransformSpec::ring_bands).
  std::shared_ptr<const detail::RingDistribution> ring_bands() const;

  /// in   [map][own pixel], read only
  /// out  [map][own pixel], overwritten; other memory than `in`
  /// No allocation. Collective.
  /// Error  UsageError on all ranks when a shape is wrong on one.
  template <class T>
  void convolve(MapView<const T> in, MapView<T> out);
  template <class T>
  void convolve(const ComponentBuffer<T>& in, ComponentBuffer<T>& out) {
    convolve<T>(in.view(), out.view());
  }

  /// Throws UsageError unless convolve() takes these maps of this rank. Not collective.
  template <class T>
  void require(MapView<const T> in, MapView<T> out) const;

  /// Bytes this rank handed to MPI in the last convolve(): pixels and modes of its halo.
  std::int64_t halo_bytes_sent() const;
  /// Seconds of "halo", "ring_fft", "modes", "stencil", "sectors" of this rank so far.
  StageTimes& times();

  /// For Ringweave's own reports.
  const detail::RingConvolutionPlan& plan() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
