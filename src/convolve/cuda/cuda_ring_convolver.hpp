// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "convolve/ring_convolver.hpp"

namespace ringweave {

/// The convolution on a CUDA device. Error  UsageError when this build lacks CUDA.
std::unique_ptr<RingConvolver> make_cuda_ring_convolver(const Communicator& comm,
                                                        const RingConvolutionPlan& plan);

}  // namespace ringweave
