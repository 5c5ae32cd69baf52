// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "base/view.hpp"
#include "convolve/kernel_split.hpp"
#include "convolve/ring_convolution.hpp"
#include "sphere/beam.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {

/// What a SplitConvolution plans its parts from. The transform has no ring bands yet: they are
/// those of the convolution.
struct SplitPartSpecs {
  RingConvolutionSpec rings;
  std::optional<TransformSpec> harmonic;  ///< none where the compact part is the whole kernel

  /// Arguments and errors as for SplitConvolution. Not collective.
  SplitPartSpecs(const KernelSplit& split, const std::shared_ptr<const RingGrid>& grid,
                 std::int64_t n_maps, std::int64_t bytes_per_pixel);
};

/// Convolves scalar maps with a split kernel: its harmonic part through a_lm of degrees up to
/// l_cut, its compact part on the rings, with the grid's own quadrature weights in both. No
/// iterations.
class SplitConvolution {
 public:
  /// Plans both parts.
  /// grid             what the split was searched for: HEALPix of its nside
  /// bytes_per_pixel  of the maps; those of a longer type are refused
  /// Error  UsageError on all ranks when the split has no parts. Collective.
  SplitConvolution(const Communicator& comm, const KernelSplit& split,
                   const std::shared_ptr<const RingGrid>& grid, std::int64_t n_maps = 1,
                   std::int64_t bytes_per_pixel = sizeof(double));

  const LocalRings& rings() const { return rings_->rings(); }
  RingConvolution& ring_convolution() { return *rings_; }
  /// Null where the compact part is the whole kernel.
  SphericalHarmonicTransform* transform() { return transform_ ? &*transform_ : nullptr; }

  /// in   [map][own pixel]; its content is lost
  /// out  [map][own pixel], overwritten; other memory than `in`
  /// Memory beside both parts' own: a_lm of degrees up to l_cut. Collective.
  template <class T>
  void convolve(MapView<T> in, MapView<T> out);

 private:
  Communicator comm_;
  std::optional<RingConvolution> rings_;
  std::optional<SphericalHarmonicTransform> transform_;
  Beam harmonic_;
  std::vector<double> ring_weights_;
};

}  // namespace ringweave
