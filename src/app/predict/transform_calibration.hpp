// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/stage_timer.hpp"
#include "perf_models/device_costs.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/options.hpp"
#include "ringweave/times.hpp"

namespace ringweave::detail::inline app {

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

/// Times a synthesis and an adjoint of a field of spin 0 or 2 on HEALPix, with few and with all
/// degrees, each once and with cold caches, as a program runs them. Adds nothing if the data do not
/// fit the device of Backend::cuda. Collective. Error  ResourceError.
void measure_transform(const Communicator& comm, std::int64_t nside, int spin, Backend backend,
                       StageSamples& samples);

/// Times the exchange of transforms too small for measure_transform(): nside from 1 to below_nside,
/// lmax = 2 nside; between devices if MPI sends modes from their memory. Collective.
void measure_small_messages(const Communicator& comm, std::int64_t below_nside, Backend backend,
                            StageSamples& samples);

}  // namespace ringweave::detail::inline app
