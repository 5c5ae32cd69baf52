// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "convolve/ring/ring_convolver.hpp"

namespace ringweave::detail::inline convolve {

/// Makes the host convolver: OpenMP over rings and orders, SIMD over pixels, symmetries and orders.
std::unique_ptr<RingConvolver> make_host_ring_convolver(const Communicator& comm,
                                                        const RingConvolutionPlan& plan);
/// Returns the bytes of its tables and scratch.
std::int64_t host_workspace_bytes(const RingConvolutionPlan& plan, int n_threads);

}  // namespace ringweave::detail::inline convolve
