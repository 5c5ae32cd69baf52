// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/cuda/ring_fft_sequence.hpp"
#include "fft/ring_problem.hpp"
#include "support/emulated_block.hpp"
#include "support/emulated_fft.hpp"

namespace ringweave::detail {

/// The launches of a device ring FFT, run on the host.
template <class Machine>
class EmulatedRingFftOn {
 public:
  static constexpr std::int64_t roomy = std::int64_t{1} << 26;

  explicit EmulatedRingFftOn(const RingFftShape& shape, std::int64_t workspace_bytes = roomy)
      : sequence_(gpu::DeviceRingPlan(shape, workspace_bytes), machine_),
        workspace_(machine_, sequence_.workspace_size()) {
    sequence_.work_in(workspace_);
  }

  template <class T>
  void synthesize(const std::vector<std::complex<double>>& modes, MapView<T> map) {
    sequence_.synthesize(reinterpret_cast<const gpu::Double2*>(modes.data()), map.data(),
                         map.stride());
  }
  template <class T>
  void adjoint(MapView<const T> map, std::span<const double> weights,
               std::vector<std::complex<double>>& modes) {
    sequence_.adjoint(map.data(), map.stride(), weights.empty() ? nullptr : weights.data(),
                      reinterpret_cast<gpu::Double2*>(modes.data()));
  }
  std::int64_t bytes() const { return sequence_.bytes() + workspace_.bytes(); }
  const Machine& machine() const { return machine_; }

 private:
  gpu::WithFfts<Machine> machine_;
  gpu::RingFftSequence<gpu::WithFfts<Machine>> sequence_;
  gpu::RingFftWorkspace<gpu::WithFfts<Machine>> workspace_;
};
using EmulatedRingFft = EmulatedRingFftOn<gpu::EmulatedMachine>;

}  // namespace ringweave::detail
