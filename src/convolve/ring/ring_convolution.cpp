// SPDX-License-Identifier: GPL-3.0-or-later
#include <functional>
#include <string>

#include "base/checked_cast.hpp"
#include "convolve/ring/host/host_ring_convolver.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/options.hpp"
#include "ringweave/times.hpp"

namespace ringweave {

using namespace detail;

struct RingConvolution::Impl {
  Communicator comm;
  std::unique_ptr<const RingConvolutionPlan> plan{};
  std::unique_ptr<RingConvolver> convolver{};
  StageTimes times{};
};

RingConvolution::RingConvolution(const Communicator& comm, const RingConvolutionSpec& spec)
    : impl_(std::make_unique<Impl>(Impl{comm})) {
  agree(comm, [&] {
    if (spec.backend != Backend::host) {
      throw UsageError("ring convolution: not implemented on GPUs yet; choose the host backend");
    }
    impl_->plan = std::make_unique<const RingConvolutionPlan>(spec, comm.rank(), comm.size());
  });
  impl_->convolver = make_host_ring_convolver(comm, *impl_->plan);
}

RingConvolution::~RingConvolution() = default;
RingConvolution::RingConvolution(RingConvolution&&) noexcept = default;

const RingConvolutionPlan& RingConvolution::plan() const { return *impl_->plan; }
const LocalRings& RingConvolution::rings() const { return plan().own(); }
std::shared_ptr<const RingDistribution> RingConvolution::ring_bands() const {
  return std::make_shared<const RingDistribution>(plan().bands());
}
std::int64_t RingConvolution::halo_bytes_sent() const {
  return impl_->convolver->halo_bytes_sent();
}
StageTimes& RingConvolution::times() { return impl_->times; }

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
  impl_->convolver->convolve(in, out, impl_->times);
}

template void RingConvolution::require(MapView<const double>, MapView<double>) const;
template void RingConvolution::require(MapView<const float>, MapView<float>) const;
template void RingConvolution::convolve(MapView<const double>, MapView<double>);
template void RingConvolution::convolve(MapView<const float>, MapView<float>);

}  // namespace ringweave
