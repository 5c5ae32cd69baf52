// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/view.hpp"
#include "convolve/harmonic_smoothing.hpp"
#include "convolve/masked_map.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Smooths scalar maps by a RingConvolution or a SplitConvolution, treating UNSEEN pixels and low
/// multipoles as smooth_harmonic() does: masks, removes, convolves, divides by the smoothed mask,
/// puts back.
///
/// in   [map][own pixel]; its content is lost
/// out  [map][own pixel], overwritten; other memory than `in`
/// Memory as many maps again where the mask is smoothed. Its report has one treatment, of all maps
/// together. Collective.
/// Error  DataError when every pixel of a map is UNSEEN, or one is and unseen = fail.
template <class T, class Convolution>
SmoothingReport smooth_on_rings(const Communicator& comm, Convolution& convolution,
                                const MaskOptions& treatment, MapView<T> in, MapView<T> out);

}  // namespace ringweave
