// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "transform/transform_scaling.hpp"

namespace ringweave {

/// A way for ring modes to travel: what the rank sends that sends most, and what that takes.
struct ExchangeWay {
  std::string name;
  std::int64_t sent_bytes = 0;
  Estimate exchange;  ///< what of it does not hide behind the Legendre stage
  Estimate total;     ///< of the whole transform
};

/// One transform on a number of ranks of a machine.
struct ScalingPrediction {
  TransformShares shares;
  TransformWork work;  ///< of the largest rank, as it is estimated
  TransformEstimate seconds;
  /// From all modes of all rings to the best there is. On the host: dense, ragged, folded, single
  /// (precision), overlapped, each with what was before it. On a device the last two are staged
  /// (folded, through the host) instead.
  std::vector<ExchangeWay> ways;
  // Szydlarski et al. (2012), Eq. 17 corrected and as printed; 0 on one rank.
  double dense_seconds = 0;
  double dense_seconds_as_printed = 0;
  /// Ours as printed: what the rank sends that sends most, and an even share of it for itself.
  double exchange_seconds_as_printed = 0;
};

/// Beyond this number of ranks (a power of two) twice as many save less than a quarter of the time,
/// because of what falls least.
struct ScalingEnd {
  enum class Cause { legendre, ring_fft, messages, bytes, copies };
  int n_ranks = 1;
  Cause cause = Cause::messages;
};
/// "legendre", "ring_fft", "messages", "bytes", "copies".
const char* name_of(ScalingEnd::Cause cause);

/// Where predictions compute.
struct ScalingPlace {
  Place place = Place::host;
  int n_threads = 1;
};

/// Predicts how a transform scales on a machine. Answers are kept. Not collective.
class ScalingPredictor {
 public:
  static constexpr int most_ranks = 65536;

  /// O(mmax x ring pairs).
  ScalingPredictor(const TransformSpec& spec, const Machine& machine, const ScalingPlace& place);
  /// O(mmax + n_rings + n_ranks).
  const ScalingPrediction& at(int n_ranks);
  /// Nothing where it does not end up to most_ranks.
  std::optional<ScalingEnd> end();

 private:
  ScalingPrediction predict(int n_ranks) const;
  std::vector<ExchangeWay> ways_of(const ScalingPrediction& prediction) const;
  ScalingEnd::Cause what_falls_least(const ScalingPrediction& few,
                                     const ScalingPrediction& many) const;

  TransformScaling scaling_;
  Machine machine_;
  ScalingPlace place_;
  std::map<int, ScalingPrediction> known_;
};

}  // namespace ringweave
