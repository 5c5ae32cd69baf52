// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/scaling_prediction.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Sets how a transform with these options exchanges its modes.
void set_passes(TransformSpec spec, int n_ranks, TransformWork& work) {
  if (spec.exchange.schedule == ExchangeSchedule::whole &&
      spec.exchange.precision == ModePrecision::double_)
    return;
  // The number of passes is the same on every rank.
  const TransformPlan plan(spec, 0, n_ranks);
  if (!plan.always_in_passes()) return;
  work.n_passes = plan.n_passes;
  if (spec.exchange.schedule == ExchangeSchedule::overlapped)
    work.timing = ExchangeTiming::beside_legendre;
}

/// Returns the fraction of the exchange's time that does not depend on bandwidth.
double latency_share(const TransformWork& work, const Machine& machine) {
  const double messages = std::max(1.0, (work.n_ranks - 1.0) * work.n_passes);
  const double bytes = static_cast<double>(work.sent_bytes) / messages;
  const bool between_devices =
      work.place == Place::device && machine.device && machine.device->network;
  const Network& network = between_devices ? *machine.device->network : machine.network;
  const double seconds = network.message_seconds(bytes);
  return seconds > 0 ? network.latency_of(bytes) / seconds : 0;
}

}  // namespace

const char* name_of(ScalingEnd::Cause cause) {
  constexpr std::array names = {"legendre", "ring_fft", "messages", "bytes", "copies"};
  return names[static_cast<std::size_t>(cause)];
}

ScalingPredictor::ScalingPredictor(const TransformSpec& spec, const Machine& machine,
                                   const ScalingPlace& place)
    : scaling_(spec), machine_(machine), place_(place) {}

ScalingPredictor::ScalingPredictor(const EvenPoints& points, const Machine& machine, int n_threads)
    : scaling_(points.rows()),
      machine_(machine),
      place_{points.rows().backend == Backend::cuda ? Place::device_in_blocks : Place::host,
             n_threads},
      points_(points) {}

ScalingPredictor::ScalingPredictor(const LensedGrid& lensed, const Machine& machine, int n_threads)
    : ScalingPredictor(lensed.points(), machine, n_threads) {
  lensed_ = lensed;
}

const ScalingPrediction& ScalingPredictor::at(int n_ranks) {
  const auto known = known_.find(n_ranks);
  if (known != known_.end()) return known->second;
  return known_.emplace(n_ranks, predict(n_ranks)).first->second;
}

ScalingPrediction ScalingPredictor::predict(int n_ranks) const {
  ScalingPrediction prediction;
  prediction.shares = scaling_.shares(n_ranks);
  TransformWork& work = prediction.work = prediction.shares.largest;
  work.n_threads = place_.n_threads;
  work.place = place_.place;
  work.on_device = place_.on_device;
  if (work.place != Place::device) set_passes(scaling_.spec(), n_ranks, work);
  prediction.seconds = estimate_transform(work, machine_);
  if (points_) {
    PointShare share = lensed_ ? lensed_->share(n_ranks, place_.n_threads)
                               : points_->share(n_ranks, place_.n_threads);
    share.work.backend = points_->rows().backend;
    prediction.points = estimate_points(share.work, machine_);
    if (lensed_) prediction.deflection = lensed_->deflection(n_ranks, place_.n_threads, machine_);
    // The fine rows are never all in memory.
    prediction.shares.largest_bytes = share.bytes;
    prediction.shares.mean_bytes = static_cast<double>(share.bytes);
  }
  if (n_ranks > 1) {
    const double sent = static_cast<double>(prediction.shares.largest.sent_bytes);
    prediction.exchange_seconds_as_printed =
        printed_exchange_seconds(sent * n_ranks / (n_ranks - 1), n_ranks, machine_.network);
    prediction.dense_seconds_as_printed =
        printed_exchange_seconds(prediction.shares.dense.rank_bytes(), n_ranks, machine_.network);
    prediction.dense_seconds =
        corrected_exchange_seconds(prediction.shares.dense, machine_.network);
    prediction.ways = ways_of(prediction);
  }
  return prediction;
}

std::vector<ExchangeVariant> ScalingPredictor::ways_of(const ScalingPrediction& prediction) const {
  TransformWork work = prediction.work;
  work.place = place_.place;
  work.on_device = place_.on_device;
  work.n_passes = 1;
  work.timing = ExchangeTiming::after_legendre;
  std::vector<ExchangeVariant> ways;
  const auto add = [&](const char* name) {
    const TransformEstimate seconds = estimate_transform(work, machine_);
    ways.push_back({name, work.sent_bytes, seconds.exchange, seconds.total()});
  };
  const bool halved = scaling_.spec().exchange.precision == ModePrecision::single_;
  const std::int64_t folded = work.sent_bytes * (halved ? 2 : 1);
  work.sent_bytes = prediction.shares.dense_sent_bytes;
  add("dense");
  work.sent_bytes = prediction.shares.ragged_sent_bytes;
  add("ragged");
  work.sent_bytes = folded;
  add("folded");
  if (work.place == Place::device) {
    work.route = ModeRoute::staged;
    add("staged");
    return ways;
  }
  work.sent_bytes = folded / 2;
  TransformSpec spec = scaling_.spec();
  spec.exchange.precision = ModePrecision::single_;
  spec.exchange.schedule = ExchangeSchedule::whole;
  set_passes(spec, work.n_ranks, work);
  add("single");
  spec.exchange.schedule = ExchangeSchedule::overlapped;
  set_passes(spec, work.n_ranks, work);
  add("overlapped");
  return ways;
}

ScalingEnd::Cause ScalingPredictor::scaling_limit(const ScalingPrediction& few,
                                                  const ScalingPrediction& many) const {
  using Cause = ScalingEnd::Cause;
  const auto parts = [&](const ScalingPrediction& one) {
    const double latency = latency_share(one.work, machine_) * one.seconds.exchange.seconds;
    return std::vector<std::pair<Cause, double>>{
        {Cause::legendre, one.seconds.legendre.seconds},
        {Cause::ring_fft, one.seconds.ring_fft.seconds},
        {Cause::messages, latency},
        {Cause::bytes, one.seconds.exchange.seconds - latency},
        {Cause::copies, one.seconds.copies.seconds}};
  };
  const auto before = parts(few);
  const auto after = parts(many);
  std::size_t worst = 0;
  const auto lost = [&](std::size_t i) { return after[i].second - before[i].second / 2; };
  for (std::size_t i = 1; i < after.size(); ++i)
    if (lost(i) > lost(worst)) worst = i;
  return after[worst].first;
}

std::optional<ScalingEnd> ScalingPredictor::end() {
  constexpr double worthwhile = 0.75;
  // Start at two ranks, because a single rank has no exchange.
  for (int n_ranks = 2; n_ranks < most_ranks; n_ranks *= 2) {
    const ScalingPrediction& few = at(n_ranks);
    const ScalingPrediction& many = at(2 * n_ranks);
    if (many.total().seconds <= worthwhile * few.total().seconds) continue;
    return ScalingEnd{n_ranks, scaling_limit(few, many)};
  }
  return std::nullopt;
}

}  // namespace ringweave::detail::inline app
