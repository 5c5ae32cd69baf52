// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <vector>

#include "ringweave/execution.hpp"

namespace ringweave::detail::inline perf_models {

/// The cost of a message between two ranks: latency + bytes x seconds per byte, with one pair of
/// constants for short messages and one for long ones.
struct Network {
  double short_latency = 5e-6;  ///< seconds
  double short_byte = 1e-9;     ///< seconds
  double long_latency = 5e-6;
  double long_byte = 1e-9;
  double longest_short = 65536;  ///< bytes
  double uncertainty = 0.5;      ///< one standard deviation over the value

  double message_seconds(double bytes) const;
  double latency_of(double bytes) const;  ///< part independent of the bandwidth
};

/// A timed message.
struct MessageSample {
  double bytes = 0;
  double seconds = 0;
};

/// Fits both pairs by least squares of relative differences; samples up to `longest_short` bytes
/// are short. Error  UsageError unless there are two different sizes on either side.
Network fit_network(const std::vector<MessageSample>& samples, double longest_short);
/// The same with the usual limit of short messages; empty where there are too few sizes.
std::optional<Network> fit_network_if_enough(const std::vector<MessageSample>& samples);

/// Predicts the Alltoallv of a transform, in passes or (one pass) at once: in each pass one message
/// to each of the other ranks, one after the other. `sent_bytes`: sent by a rank to all others
/// together.
Estimate exchange_estimate(const Network& network, double sent_bytes, int n_ranks,
                           int n_passes = 1);

/// Szydlarski, Esterie, Falcou, Grigori & Stompor (2012), Eqs. 16 and 17 and Figure 4: dense
/// exchange of n_rings x (mmax + 1) modes between n_ranks ranks.
struct DenseExchange {
  double n_rings = 0;
  double n_orders = 0;
  double mode_bytes = 16;
  int n_ranks = 1;
  double rank_bytes() const { return n_rings * n_orders * mode_bytes / n_ranks; }  ///< Eq. 16
};
/// Eq. 17 as printed: everything a rank holds, including what stays, is one message; up to 256 kB
/// Bruck's algorithm, which MPI_Alltoallv does not use.
double printed_exchange_seconds(double rank_bytes, int n_ranks, const Network& network);
/// Eq. 17 with one message of n_rings n_orders mode_bytes / n_ranks^2, pairwise at any size.
double corrected_exchange_seconds(const DenseExchange& exchange, const Network& network);

}  // namespace ringweave::detail::inline perf_models
