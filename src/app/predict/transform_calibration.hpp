// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/backend.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/communicator.hpp"
#include "perf_models/device_costs.hpp"

namespace ringweave {

/// Seconds of the slowest rank, all having begun together. Collective.
template <class Work>
double timed(const Communicator& comm, const Work& work) {
  StageTimes times;
  comm.barrier();
  {
    const StageTimer timer(&times, "work");
    work();
  }
  return comm.max(times.seconds("work"));
}

/// Transforms of some sizes that were timed on the host.
struct HostTransformSamples {
  std::vector<Sample> legendre_scalar, legendre_spin, ring_fft, ring_fft_modes, planning;
  std::vector<MessageSample> messages;
};

/// A synthesis and an adjoint of a field of spin 0 or 2 on HEALPix, with few and with all degrees,
/// each once and from cold caches, as a program runs them. Collective. Error  ResourceError.
void measure_transform(const Communicator& comm, std::int64_t nside, int spin,
                       HostTransformSamples& samples);
/// The same with the data on a device; nothing is added where they do not fit it. Collective. Error
/// ResourceError.
void measure_transform(const Communicator& comm, std::int64_t nside, int spin,
                       DeviceSamples& samples);

/// The Alltoallv of transforms too small for the above: nside from 1 to below_nside, lmax = 2
/// nside. Collective.
void measure_small_messages(const Communicator& comm, std::int64_t below_nside,
                            HostTransformSamples& samples);
/// The same from one device to another, where MPI takes modes from there. Collective.
void measure_small_messages(const Communicator& comm, std::int64_t below_nside,
                            DeviceSamples& samples);

}  // namespace ringweave
