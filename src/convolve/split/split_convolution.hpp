// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "base/stage_timer.hpp"
#include "base/task_thread.hpp"
#include "convolve/split/kernel_split.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/halo/ring_transfer.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/times.hpp"
#include "ringweave/transform.hpp"
#include "ringweave/views.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline convolve {

/// Convolves scalar maps with a split kernel: its harmonic part through a_lm of degrees up to
/// l_cut, its compact part on the rings, with the grid's own quadrature weights in both. No
/// iterations. As the split is placed (SplitPlacement), all ranks do both parts, or two groups of
/// ranks one each, side by side. The harmonic part may be on a device (SplitMaps::harmonic): its
/// group's, or that of ranks whose cores convolve on rings meanwhile.
class SplitConvolution {
 public:
  /// Plans both parts.
  /// Error  UsageError on all ranks when the split has no parts, or is placed on more ranks than
  /// there are; ResourceError where a device is asked for and none is of use. Collective.
  SplitConvolution(const Communicator& comm, const KernelSplit& split, const SplitMaps& maps);
  ~SplitConvolution();
  SplitConvolution(const SplitConvolution&) = delete;
  SplitConvolution& operator=(const SplitConvolution&) = delete;

  const SplitPlan& plan() const { return plan_; }
  /// Rings of the maps; ranks that only do the harmonic part own none.
  const LocalRings& rings() const { return plan_.own; }
  /// Null on ranks that only do the harmonic part.
  RingConvolution* ring_convolution() { return rings_ ? &*rings_ : nullptr; }
  /// Null on ranks that only convolve on rings, and where the compact part is the whole kernel.
  SphericalHarmonicTransform* transform() { return transform_ ? &*transform_ : nullptr; }
  const SphericalHarmonicTransform* transform() const {
    return transform_ ? &*transform_ : nullptr;
  }

  /// in   [map][own pixel]; its content is lost
  /// out  [map][own pixel], overwritten; other memory than `in`
  /// Memory beside both parts' own: a_lm of degrees up to l_cut; the maps once more where the parts
  /// are done at once, or side by side (on the ranks of the harmonic part, and
  /// plan().buffer_bytes()). Collective.
  /// Error  UsageError on all ranks when a shape is wrong on one.
  template <class T>
  void convolve(MapView<T> in, MapView<T> out);

  /// Seconds of "sending" of this rank so far, side by side.
  StageTimes& times() { return times_; }

 private:
  /// Work of the thread of the harmonic part, which its device is bound to.
  template <class Work>
  void on_harmonic_thread(Work work);
  void end_harmonic();
  /// Maps become their harmonic part.
  template <class T>
  void smooth(AlmView<T> alm, MapView<T> map);
  template <class T>
  void convolve_one_after_other(MapView<T> in, MapView<T> out);
  template <class T>
  void convolve_at_once(MapView<T> in, MapView<T> out);
  template <class T>
  void convolve_side_by_side(MapView<T> in, MapView<T> out);

  Communicator comm_;
  Communicator harmonic_comm_;  ///< of the transform, which a thread of its own may free
  SplitPlan plan_;
  std::optional<RingConvolution> rings_;
  std::optional<SphericalHarmonicTransform> transform_;
  std::optional<TaskThread> side_;     ///< makes, uses and frees the transform, at once
  std::optional<RingTransfer> there_;  ///< maps to the ranks of the harmonic part
  std::optional<RingTransfer> back_;
  Beam harmonic_;
  std::vector<double> ring_weights_;
  StageTimes times_;
};

}  // namespace ringweave::detail::inline convolve
