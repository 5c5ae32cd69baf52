// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/exchange_model.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline perf_models {
namespace {

struct Line {
  double latency = 0;
  double byte = 0;
  double uncertainty = 0;  ///< rms of the relative differences
};

/// Minimizes the sum of ((latency + byte x - y) / y)^2 over latency >= 0 and byte >= 0.
Line fit_line(const std::vector<MessageSample>& samples) {
  double s1 = 0, sx = 0, sxx = 0, sy = 0, sxy = 0;
  for (const auto& [bytes, seconds] : samples) {
    const double weight = 1 / (seconds * seconds);
    s1 += weight;
    sx += weight * bytes;
    sxx += weight * bytes * bytes;
    sy += weight * seconds;
    sxy += weight * bytes * seconds;
  }
  const double determinant = s1 * sxx - sx * sx;
  if (!(determinant > 1e-12 * s1 * sxx))
    throw UsageError("latency and bandwidth can only be fitted to messages of two or more sizes");
  Line line{(sxx * sy - sx * sxy) / determinant, (s1 * sxy - sx * sy) / determinant, 0};
  if (line.latency < 0) line = {0, sxy / sxx, 0};
  if (line.byte < 0) line = {sy / s1, 0, 0};
  double sum = 0;
  for (const auto& [bytes, seconds] : samples) {
    const double off = (line.latency + line.byte * bytes) / seconds - 1;
    sum += off * off;
  }
  line.uncertainty = std::sqrt(sum / static_cast<double>(samples.size()));
  return line;
}

}  // namespace

double Network::message_seconds(double bytes) const {
  return latency_of(bytes) + (bytes <= longest_short ? short_byte : long_byte) * bytes;
}

double Network::latency_of(double bytes) const {
  return bytes <= longest_short ? short_latency : long_latency;
}

Network fit_network(const std::vector<MessageSample>& samples, double longest_short) {
  std::vector<MessageSample> small;
  std::vector<MessageSample> large;
  for (const MessageSample& sample : samples)
    (sample.bytes <= longest_short ? small : large).push_back(sample);
  const Line of_small = fit_line(small);
  const Line of_large = fit_line(large);
  return {of_small.latency, of_small.byte, of_large.latency,
          of_large.byte,    longest_short, std::max(of_small.uncertainty, of_large.uncertainty)};
}

std::optional<Network> fit_network_if_enough(const std::vector<MessageSample>& samples) {
  const double longest_short = Network().longest_short;
  std::set<double> short_sizes;
  std::set<double> long_sizes;
  for (const MessageSample& sample : samples)
    (sample.bytes <= longest_short ? short_sizes : long_sizes).insert(sample.bytes);
  if (short_sizes.size() < 2 || long_sizes.size() < 2) return std::nullopt;
  return fit_network(samples, longest_short);
}

Estimate exchange_estimate(const Network& network, double sent_bytes, int n_ranks, int n_passes) {
  if (n_ranks < 2) return {};
  const double messages = (n_ranks - 1.0) * n_passes;
  const double seconds = messages * network.message_seconds(sent_bytes / messages);
  return {seconds, seconds * network.uncertainty};
}

double printed_exchange_seconds(double rank_bytes, int n_ranks, const Network& network) {
  constexpr double longest_short = 256 * 1024;
  const double steps = rank_bytes <= longest_short ? std::log2(n_ranks) : n_ranks - 1.0;
  return steps * network.message_seconds(rank_bytes);
}

double corrected_exchange_seconds(const DenseExchange& exchange, const Network& network) {
  const double ranks = exchange.n_ranks;
  return (ranks - 1) * network.message_seconds(exchange.rank_bytes() / ranks);
}

}  // namespace ringweave::detail::inline perf_models
