// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/predict/lensing_prediction.hpp"
#include "app/predict/point_prediction.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_scaling.hpp"

namespace ringweave::detail::inline app {

/// One variant of the exchange of ring modes: bytes of the rank that sends most, and time.
struct ExchangeVariant {
  std::string name;
  std::int64_t sent_bytes = 0;
  Estimate exchange;  ///< the part not hidden behind the Legendre stage
  Estimate total;     ///< of the whole transform
};

/// Prediction of one transform on a number of ranks of a machine.
struct ScalingPrediction {
  TransformShares shares;
  TransformWork work;  ///< of the rank with most work
  TransformEstimate seconds;
  PointEstimate points{};  ///< of a transform to points, whose rows are the rings
  Estimate deflection{};   ///< of a lensed map, whose pixels are the points
  Estimate total() const { return seconds.total() + points.total() + deflection; }
  /// Variants from all modes of all rings to the best one. On the host: dense, ragged, folded,
  /// single (precision), overlapped, each including those before it. On a device the last two are
  /// replaced by staged (folded, through the host).
  std::vector<ExchangeVariant> ways;
  // Szydlarski et al. (2012), Eq. 17 corrected and as printed; 0 on one rank.
  double dense_seconds = 0;
  double dense_seconds_as_printed = 0;
  /// Eq. 17 as printed for the folded exchange: the bytes of the rank that sends most, and an even
  /// share of them for itself.
  double exchange_seconds_as_printed = 0;
};

/// End of useful scaling: beyond this number of ranks (a power of two) twice as many save less than
/// a quarter of the time. The cause is the part that decreases least.
struct ScalingEnd {
  enum class Cause { legendre, ring_fft, messages, bytes, copies };
  int n_ranks = 1;
  Cause cause = Cause::messages;
};
/// Returns "legendre", "ring_fft", "messages", "bytes" or "copies".
const char* name_of(ScalingEnd::Cause cause);

/// Place where the predicted transform computes.
struct ScalingPlace {
  Place place = Place::host;
  int n_threads = 1;
  StagesOnDevice on_device = StagesOnDevice::both;  ///< one alone: place is device_in_blocks
};

/// The most ranks a user may ask about.
inline constexpr int most_predicted_ranks = 1 << 20;

/// Predicts how a transform scales on a machine. Results are cached. Not collective.
class ScalingPredictor {
 public:
  static constexpr int most_ranks = 65536;

  /// Makes the predictor of a transform.
  /// Cost   O(mmax x ring pairs).
  ScalingPredictor(const TransformSpec& spec, const Machine& machine, const ScalingPlace& place);
  /// Makes the predictor of a transform to points, with the backend of its specification.
  ScalingPredictor(const EvenPoints& points, const Machine& machine, int n_threads);
  /// Makes the predictor of a lensed map and its deflection, which is on the host.
  ScalingPredictor(const LensedGrid& lensed, const Machine& machine, int n_threads);
  /// Predicts one number of ranks. Cost   O(mmax + n_rings + n_ranks).
  const ScalingPrediction& at(int n_ranks);
  /// Finds the end of scaling; nothing if it is beyond most_ranks.
  std::optional<ScalingEnd> end();

 private:
  ScalingPrediction predict(int n_ranks) const;
  std::vector<ExchangeVariant> ways_of(const ScalingPrediction& prediction) const;
  ScalingEnd::Cause scaling_limit(const ScalingPrediction& few,
                                  const ScalingPrediction& many) const;

  TransformScaling scaling_;
  Machine machine_;
  ScalingPlace place_;
  std::optional<EvenPoints> points_;
  std::optional<LensedGrid> lensed_;
  std::map<int, ScalingPrediction> known_;
};

}  // namespace ringweave::detail::inline app
