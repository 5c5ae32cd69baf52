// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "convolve/masked_map.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/views.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Divides the maps with UNSEEN pixels by their smoothed masks; all of a batch are smoothed at
/// once.
template <class T, class Convolution>
void normalize(const Communicator& comm, Convolution& convolution, const MaskedMap& treated,
               MapView<T> scratch, MapView<T> out) {
  for (std::int64_t c = 0; c < scratch.n_components(); ++c)
    treated.write_mask<T>(c, scratch.component(c));
  auto smoothed =
      agreed(comm, [&] { return MapBuffer<T>(scratch.n_components(), scratch.size()); });
  convolution.template convolve<T>(scratch, smoothed.view());
  for (std::int64_t c = 0; c < out.n_components(); ++c) {
    if (!treated.is_normalized(c)) continue;
    MaskedMap::divide<T>(smoothed.view().component(c), out.component(c));
  }
}

/// The same for maps of spin: masks are scalar maps, and those that are alike are smoothed once.
template <class T, class Convolution>
void normalize_spin(const Communicator& comm, Convolution& of_masks, const MaskedMap& treated,
                    MapView<T> scratch, MapView<T> out) {
  auto smoothed = agreed(comm, [&] { return MapBuffer<T>(1, scratch.size()); });
  std::vector<char> done(to_size(out.n_components()), 0);
  for (std::int64_t first = 0; first < out.n_components(); ++first) {
    if (!treated.is_normalized(first) || done[to_size(first)] != 0) continue;
    treated.write_mask<T>(first, scratch.component(0));
    of_masks.template convolve<T>(scratch.components(0, 1), smoothed.view());
    for (std::int64_t c = first; c < out.n_components(); ++c) {
      if (done[to_size(c)] != 0 || !treated.mask().same(comm, c, first)) continue;
      done[to_size(c)] = 1;
      MaskedMap::divide<T>(smoothed.view().component(0), out.component(c));
    }
  }
}

int spin_of(const RingConvolution& convolution) { return convolution.plan().spin(); }
int spin_of(const SplitConvolution& convolution) { return convolution.plan().rings.spin(); }

/// Throws a UsageError where fields of spin are to be divided by masks that nothing convolves.
template <class Convolution>
void require_masks(const Convolution& convolution, const MaskOptions& treatment,
                   const Convolution* of_masks) {
  if (treatment.unseen != UnseenPolicy::normalize || spin_of(convolution) == 0) return;
  if (of_masks == nullptr || spin_of(*of_masks) != 0) {
    throw UsageError(
        "UnseenPolicy::normalize: fields of spin are divided by smoothed masks, which are scalar "
        "maps; give a convolution of one scalar map on the same rings as of_masks");
  }
}

}  // namespace

template <class T, class Convolution>
SmoothingReport smooth_on_rings(const Communicator& comm, Convolution& convolution,
                                const MaskOptions& treatment, MapView<T> in, MapView<T> out,
                                Convolution* of_masks) {
  agree(comm, [&] { require_masks(convolution, treatment, of_masks); });
  const MaskedMap treated(comm, convolution.rings(), treatment, in);
  SmoothingReport report{.maps = {{treated.unseen_pixels(), treated.removed()}}, .convolutions = 1};
  convolution.template convolve<T>(in, out);
  if (treated.is_normalized()) {
    if (of_masks != nullptr) {
      normalize_spin<T>(comm, *of_masks, treated, in, out);
    } else {
      normalize<T>(comm, convolution, treated, in, out);
    }
    ++report.convolutions;
  }
  treated.finish(out);
  return report;
}

#define RINGWEAVE_INSTANTIATE(T, Convolution)                                                     \
  template SmoothingReport smooth_on_rings(const Communicator&, Convolution&, const MaskOptions&, \
                                           MapView<T>, MapView<T>, Convolution*);
RINGWEAVE_INSTANTIATE(float, RingConvolution)
RINGWEAVE_INSTANTIATE(double, RingConvolution)
RINGWEAVE_INSTANTIATE(float, SplitConvolution)
RINGWEAVE_INSTANTIATE(double, SplitConvolution)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
