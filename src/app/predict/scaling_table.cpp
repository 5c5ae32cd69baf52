// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/scaling_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>

#include "app/predict/memory_estimate.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string bytes_of(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

/// Messages may be a few bytes.
std::string message_text(double bytes) {
  return bytes < 10240 ? fmt::format("{:.0f} B", bytes) : bytes_text(bytes);
}

int ranks_of(const ScalingPrediction& row) { return row.shares.largest.n_ranks; }

bool has_copies(const std::vector<ScalingPrediction>& rows) {
  for (const ScalingPrediction& row : rows)
    if (row.seconds.copies.seconds > 0) return true;
  return false;
}

void say_seconds(Run& run, const std::vector<ScalingPrediction>& rows) {
  const bool copies = has_copies(rows);
  run.say(fmt::format("{:>8}{:>12}{:>12}{:>12}{}{:>12}{:>9}{:>14}{:>14}", "ranks", "Legendre, s",
                      "ring FFT, s", "exchange, s", copies ? "   copies, s" : "", "total, s",
                      "+- %", "dense exch., s", "as printed, s"));
  for (const ScalingPrediction& row : rows) {
    const Estimate total = row.seconds.total();
    run.say(fmt::format(
        "{:>8}{:>12.3g}{:>12.3g}{:>12.3g}{}{:>12.3g}{:>9.0f}{:>14.3g}{:>14.3g}", ranks_of(row),
        row.seconds.legendre.seconds, row.seconds.ring_fft.seconds, row.seconds.exchange.seconds,
        copies ? fmt::format("{:>12.3g}", row.seconds.copies.seconds) : "", total.seconds,
        100 * total.sigma / total.seconds, row.dense_seconds, row.dense_seconds_as_printed));
  }
}

void say_shares(Run& run, const std::vector<ScalingPrediction>& rows) {
  run.say("most of any rank; messages of the rank that sends most");
  run.say(fmt::format("{:>8}{:>10}{:>12}{:>12}{:>12}{:>10}{:>14}{:>14}", "ranks", "work/mean",
                      "memory/mean", "memory", "sent", "messages", "mean message", "largest"));
  for (const ScalingPrediction& row : rows) {
    const TransformShares& shares = row.shares;
    run.say(fmt::format("{:>8}{:>10.3f}{:>12.3f}{:>12}{:>12}{:>10}{:>14}{:>14}", ranks_of(row),
                        shares.work_imbalance(), shares.memory_imbalance(),
                        bytes_of(shares.largest_bytes), bytes_of(shares.largest.sent_bytes),
                        shares.messages.count, message_text(shares.messages.mean_bytes),
                        message_text(static_cast<double>(shares.messages.largest_bytes))));
  }
}

void say_ways(Run& run, const std::vector<ScalingPrediction>& rows) {
  bool has_head = false;
  for (const ScalingPrediction& row : rows) {
    if (row.ways.empty()) continue;
    if (!has_head) {
      run.say("variants of the exchange: bytes of the rank that sends most, seconds not hidden");
      std::string head = fmt::format("{:>8}", "ranks");
      for (const ExchangeWay& way : row.ways) head += fmt::format("{:>23}", way.name);
      run.say(head);
      has_head = true;
    }
    std::string line = fmt::format("{:>8}", ranks_of(row));
    for (const ExchangeWay& way : row.ways)
      line += fmt::format("{:>12} {:>8.3g} s", bytes_of(way.sent_bytes), way.exchange.seconds);
    run.say(line);
  }
}

std::string why(const ScalingEnd& end, const ScalingPrediction& many) {
  const TransformShares& shares = many.shares;
  switch (end.cause) {
    case ScalingEnd::Cause::legendre:
      return fmt::format(
          "an order stays on one rank: at {} ranks {} have any, and the busiest has {:.2f} times "
          "the mean work",
          ranks_of(many), shares.n_ranks_with_orders, shares.work_imbalance());
    case ScalingEnd::Cause::ring_fft:
      return fmt::format("a ring stays on one rank: at {} ranks {} have any", ranks_of(many),
                         shares.n_ranks_with_rings);
    case ScalingEnd::Cause::messages:
      return fmt::format(
          "latency: at {} ranks each sends to {} others, {} on average", ranks_of(many),
          ranks_of(many) - 1,
          message_text(static_cast<double>(shares.largest.sent_bytes) / (ranks_of(many) - 1)));
    case ScalingEnd::Cause::bytes:
      return fmt::format("bandwidth: {} a rank at {} ranks", bytes_of(shares.largest.sent_bytes),
                         ranks_of(many));
    case ScalingEnd::Cause::copies: break;
  }
  return "copies to and from devices";
}

}  // namespace

void say_scaling(Run& run, const std::vector<ScalingPrediction>& rows) {
  say_seconds(run, rows);
  say_shares(run, rows);
  say_ways(run, rows);
}

nlohmann::ordered_json json_of(const ScalingPrediction& row) {
  const TransformShares& shares = row.shares;
  nlohmann::ordered_json json = {
      {"ranks", ranks_of(row)},
      {"legendre_seconds", row.seconds.legendre.seconds},
      {"ring_fft_seconds", row.seconds.ring_fft.seconds},
      {"exchange_seconds", row.seconds.exchange.seconds},
      {"exchange_seconds_as_printed", row.exchange_seconds_as_printed},
      {"copies_seconds", row.seconds.copies.seconds},
      {"total_seconds", row.seconds.total().seconds},
      {"uncertainty_seconds", row.seconds.total().sigma},
      {"dense_exchange_seconds", row.dense_seconds},
      {"dense_exchange_seconds_as_printed", row.dense_seconds_as_printed},
      {"sent_bytes", shares.largest.sent_bytes},
      {"memory_bytes", shares.largest_bytes},
      {"mean_memory_bytes", shares.mean_bytes},
      {"memory_imbalance", shares.memory_imbalance()},
      {"work_imbalance", shares.work_imbalance()},
      {"ranks_with_orders", shares.n_ranks_with_orders},
      {"ranks_with_rings", shares.n_ranks_with_rings},
      {"messages", shares.messages.count},
      {"mean_message_bytes", shares.messages.mean_bytes},
      {"largest_message_bytes", shares.messages.largest_bytes},
  };
  json["exchanges"] = nlohmann::ordered_json::object();
  for (const ExchangeWay& way : row.ways) {
    json["exchanges"][way.name] = {{"sent_bytes", way.sent_bytes},
                                   {"seconds", way.exchange.seconds},
                                   {"uncertainty_seconds", way.exchange.sigma},
                                   {"total_seconds", way.total.seconds}};
  }
  return json;
}

std::string text_of(const std::optional<ScalingEnd>& end, ScalingPredictor& predictor) {
  if (!end) {
    return fmt::format("scaling: up to {} ranks twice as many save a quarter of the time or more",
                       ScalingPredictor::most_ranks);
  }
  return fmt::format(
      "scaling ends at {} ranks, beyond which twice as many save less than a quarter of the time; "
      "{}",
      end->n_ranks, why(*end, predictor.at(2 * end->n_ranks)));
}

}  // namespace ringweave::detail::inline app
