// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/ring_convolution.hpp"

#include <functional>
#include <string>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "convolve/ring/host/host_ring_convolver.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {

RingConvolution::RingConvolution(const Communicator& comm, const RingConvolutionSpec& spec)
    : comm_(comm) {
  agree(comm_, [&] {
    if (spec.backend != Backend::host) {
      throw UsageError("ring convolution: not implemented on GPUs yet; choose the host backend");
    }
    plan_ = std::make_unique<const RingConvolutionPlan>(spec, comm_.rank(), comm_.size());
  });
  convolver_ = make_host_ring_convolver(comm_, *plan_);
}

RingConvolution::~RingConvolution() = default;
RingConvolution::RingConvolution(RingConvolution&&) noexcept = default;

template <class T>
void RingConvolution::require(MapView<const T> in, MapView<T> out) const {
  constexpr const char* where = "ring convolution";
  const std::int64_t n_maps = plan_->spec().n_maps;
  require_planned(where, in.n_components(), n_maps, "maps in");
  require_planned(where, out.n_components(), n_maps, "maps out");
  require_planned(where, in.size(), rings().n_pixels(), "pixels in");
  require_planned(where, out.size(), rings().n_pixels(), "pixels out");
  if (static_cast<std::int64_t>(sizeof(T)) > plan_->spec().bytes_per_pixel) {
    throw UsageError("ring convolution: the plan was made for pixels of " +
                     std::to_string(plan_->spec().bytes_per_pixel) + " bytes, these have " +
                     std::to_string(sizeof(T)));
  }
  if (in.size() == 0) return;
  const T* in_end = in.data() + (n_maps - 1) * in.stride() + in.size();
  const T* out_end = out.data() + (n_maps - 1) * out.stride() + out.size();
  const std::less<const T*> before;
  if (before(in.data(), out_end) && before(out.data(), in_end))
    throw UsageError("ring convolution: input and output share memory; give it another map");
}

template <class T>
void RingConvolution::convolve(MapView<const T> in, MapView<T> out) {
  agree(comm_, [&] { require(in, out); });
  convolver_->convolve(in, out, times_);
}

template void RingConvolution::require(MapView<const double>, MapView<double>) const;
template void RingConvolution::require(MapView<const float>, MapView<float>) const;
template void RingConvolution::convolve(MapView<const double>, MapView<double>);
template void RingConvolution::convolve(MapView<const float>, MapView<float>);

}  // namespace ringweave
