// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring_smoothing.hpp"

#include "base/buffer.hpp"
#include "distribute/agree.hpp"

namespace ringweave {
namespace {

/// Divides the maps with UNSEEN pixels by their smoothed masks; all of a batch are smoothed at
/// once.
template <class T>
void normalize(const Communicator& comm, RingConvolution& convolution, const TreatedMap& treated,
               MapView<T> scratch, MapView<T> out) {
  for (std::int64_t c = 0; c < scratch.n_components(); ++c)
    treated.write_mask<T>(c, scratch.component(c));
  auto smoothed =
      agreed(comm, [&] { return MapBuffer<T>(scratch.n_components(), scratch.size()); });
  convolution.convolve<T>(scratch, smoothed.view());
  for (std::int64_t c = 0; c < out.n_components(); ++c) {
    if (treated.mask().count(c) == 0) continue;
    TreatedMap::divide<T>(smoothed.view().component(c), out.component(c));
  }
}

}  // namespace

template <class T>
RingSmoothingReport smooth_rings(const Communicator& comm, RingConvolution& convolution,
                                 const MapTreatment& treatment, MapView<T> in, MapView<T> out) {
  const TreatedMap treated(comm, convolution.rings(), treatment, in);
  RingSmoothingReport report{treated.mask().total(), treated.removed()};
  convolution.convolve<T>(in, out);
  if (treated.is_normalized()) {
    normalize(comm, convolution, treated, in, out);
    ++report.convolutions;
  }
  treated.finish(out);
  return report;
}

template RingSmoothingReport smooth_rings(const Communicator&, RingConvolution&,
                                          const MapTreatment&, MapView<float>, MapView<float>);
template RingSmoothingReport smooth_rings(const Communicator&, RingConvolution&,
                                          const MapTreatment&, MapView<double>, MapView<double>);

}  // namespace ringweave
