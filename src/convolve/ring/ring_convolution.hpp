// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_convolver.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Convolves maps with radial kernels ring by ring, without going through a_lm:
///
///   s_p = sum_q w_q K(|n_p - n_q|) r_q,   w_q the grid's quadrature weight of pixel q.
///
/// Scalar fields only. Results are bitwise the same for any number of threads. One call at a time
/// per object. T is the storage type of maps, float or double.
/// From  Elsner & Wandelt (2011), A&A 532, A35 (ARKCoS)
class RingConvolution {
 public:
  /// Plans everything and allocates it. UsageError on all ranks where the specification contradicts
  /// itself or asks for what cannot be done. Collective.
  RingConvolution(const Communicator& comm, const RingConvolutionSpec& spec);
  ~RingConvolution();
  RingConvolution(RingConvolution&&) noexcept;

  const RingConvolutionPlan& plan() const { return *plan_; }
  const LocalRings& rings() const { return plan_->own(); }

  /// in   [map][own pixel], read only
  /// out  [map][own pixel], overwritten; other memory than `in`
  /// Error  UsageError on all ranks when a shape is wrong on one. No allocation. Collective.
  template <class T>
  void convolve(MapView<const T> in, MapView<T> out);

  /// UsageError unless convolve() takes these maps of this rank. Not collective.
  template <class T>
  void require(MapView<const T> in, MapView<T> out) const;

  /// Bytes this rank handed to MPI in the last convolve(): pixels and modes of its halo.
  std::int64_t halo_bytes_sent() const { return convolver_->halo_bytes_sent(); }
  /// Seconds of "halo", "ring_fft", "modes", "stencil", "sectors" of this rank so far.
  StageTimes& times() { return times_; }

 private:
  Communicator comm_;
  std::unique_ptr<const RingConvolutionPlan> plan_;
  std::unique_ptr<RingConvolver> convolver_;
  StageTimes times_;
};

}  // namespace ringweave
