// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring_convolver.hpp"

#include "convolve/cuda/cuda_ring_convolver.hpp"
#include "convolve/host/host_ring_convolver.hpp"

namespace ringweave {

std::unique_ptr<RingConvolver> make_ring_convolver(const Communicator& comm,
                                                   const RingConvolutionPlan& plan) {
  if (plan.spec().backend == Backend::cuda) return make_cuda_ring_convolver(comm, plan);
  return make_host_ring_convolver(comm, plan);
}

std::int64_t ring_convolver_bytes(const RingConvolutionPlan& plan, int n_threads) {
  return host_workspace_bytes(plan, n_threads);
}

}  // namespace ringweave
