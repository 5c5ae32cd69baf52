// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/checked_cast.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_convolution_stage.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave {

using namespace detail;

struct RingConvolution::Impl {
  Impl(const Communicator& of, const RingConvolutionSpec& spec)
      : comm(of),
        plan(agreed(comm, [&] { return RingConvolutionPlan(spec, comm.rank(), comm.size()); })),
        stage(spec.backend == Backend::cuda ? make_cuda_ring_convolution(comm, plan)
                                            : make_host_ring_convolution(comm, plan)) {}

  Communicator comm;
  RingConvolutionPlan plan;
  std::unique_ptr<RingConvolutionStage> stage;  ///< refers to the plan
};

RingConvolution::RingConvolution(const Communicator& comm, const RingConvolutionSpec& spec)
    : impl_(std::make_unique<Impl>(comm, spec)) {}

RingConvolution::~RingConvolution() = default;
RingConvolution::RingConvolution(RingConvolution&&) noexcept = default;

const RingConvolutionPlan& RingConvolution::plan() const { return impl_->plan; }
const LocalRings& RingConvolution::rings() const { return plan().own(); }
std::shared_ptr<const RingDistribution> RingConvolution::ring_bands() const {
  return std::make_shared<const RingDistribution>(plan().bands());
}
std::int64_t RingConvolution::halo_bytes_sent() const { return impl_->stage->halo_bytes_sent(); }
StageTimes& RingConvolution::times() { return impl_->stage->times(); }

template <class T>
void RingConvolution::require(MapView<const T> in, MapView<T> out) const {
  constexpr const char* where = "ring convolution";
  const std::int64_t n_maps = plan().spec().n_maps;
  require_planned(where, in.n_components(), n_maps, "maps in");
  require_planned(where, out.n_components(), n_maps, "maps out");
  require_planned(where, in.size(), rings().n_pixels(), "pixels in");
  require_planned(where, out.size(), rings().n_pixels(), "pixels out");
  if (static_cast<std::int64_t>(sizeof(T)) > plan().spec().bytes_per_pixel) {
    throw UsageError("ring convolution: the plan was made for pixels of " +
                     std::to_string(plan().spec().bytes_per_pixel) + " bytes, these have " +
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
  agree(impl_->comm, [&] { require(in, out); });
  impl_->stage->convolve(in, out);
}

template void RingConvolution::require(MapView<const double>, MapView<double>) const;
template void RingConvolution::require(MapView<const float>, MapView<float>) const;
template void RingConvolution::convolve(MapView<const double>, MapView<double>);
template void RingConvolution::convolve(MapView<const float>, MapView<float>);

}  // namespace ringweave
