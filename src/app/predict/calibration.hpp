// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/progress.hpp"
#include "perf_models/machine.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {

struct CalibrationSizes {
  std::int64_t least_nside = 128;
  std::int64_t most_nside = 2048;
  int repeats = 5;
};

/// A cost whose turns differ.
struct CostSpread {
  std::string cost;  ///< its name in the machine file
  double ratio = 1;  ///< as spread_of_turns()
};

/// A machine, and how far its measurements can be relied on.
struct Calibration {
  Machine machine;                  ///< without a date
  std::vector<CostSpread> spreads;  ///< of all costs of computations, the largest first
};

/// Times the program's own stages on this job's ranks and threads: transforms, exchange, ring
/// convolutions and files (`folder` must be writable) at every power of two times least_nside up to
/// most_nside; with Backend::cuda also transforms on the ranks' devices. Costs that cannot be
/// measured, such as the exchange on one rank, are those of the typical machine. Collective. Error
/// ResourceError when memory or disk are too small for the largest size, or the device for every
/// size.
/// n_sharers  ranks that share a device
Calibration calibrate_machine(const Communicator& comm, Progress& progress,
                              const CalibrationSizes& sizes, Backend backend, int n_sharers,
                              const std::string& folder);

/// Returns about how many seconds calibrate_machine() takes on a machine, without
/// the computations of a device. Collective.
double predict_calibration(const Communicator& comm, const Machine& machine,
                           const CalibrationSizes& sizes, Backend backend);

}  // namespace ringweave::detail::inline app
