// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"

namespace ringweave::detail::gpu {

/// Multiplies a field of spin s at points by exp(i s gamma), or by exp(-i s gamma). A thread has a
/// point.
struct TurnFrames {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;

  const double* cos_gamma;
  const double* sin_gamma;
  std::int64_t n_points;
  double sign;  ///< of the exponent
  int spin;
  // Components of the field.
  double* first;
  double* second;

  std::int64_t n_blocks() const { return (n_points + block_threads - 1) / block_threads; }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    block.each([&](int thread) {
      const std::int64_t i = block.index() * block_threads + thread;
      if (i >= n_points) return;
      const double cosine = cos_gamma[i];
      const double sine = sign * sin_gamma[i];
      double q = first[i];
      double u = second[i];
      for (int s = 0; s < spin; ++s) {
        const double turned = std::fma(cosine, q, -sine * u);
        u = std::fma(cosine, u, sine * q);
        q = turned;
      }
      first[i] = q;
      second[i] = u;
    });
  }
};

}  // namespace ringweave::detail::gpu
