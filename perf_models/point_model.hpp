// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "perf_models/machine.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline perf_models {

/// Work of a rank for the points of a transform (one direction), without Legendre stage, exchange
/// of modes and FFT of rows.
struct PointWork {
  int lmax = 0;
  double operations = 0;  ///< on vectors, for the taps of all its points
  double sent_bytes = 0;  ///< of values, to other ranks
  int n_ranks = 1;
  int n_threads = 1;
  Backend backend = Backend::host;
  int ranks_of_device = 1;  ///< ranks that share a device
};

struct PointEstimate {
  Estimate points;
  Estimate value_exchange;

  Estimate total() const { return points + value_exchange; }
};

/// Predicts sums over taps and the exchange of values, as the mean of both directions. For a device
/// unknown to the machine, uses the host's costs.
PointEstimate estimate_points(const PointWork& work, const Machine& machine);

}  // namespace ringweave::detail::inline perf_models
