// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/exchange_model.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

// alpha = 1e-5, beta = 1e-9 of Szydlarski et al. (2012).
constexpr Network paper_network{1e-5, 1e-9, 1e-5, 1e-9, 65536, 0};
constexpr Network without_latency{0, 1e-9, 0, 1e-9, 65536, 0};

std::vector<MessageSample> samples_of(const Network& network) {
  std::vector<MessageSample> samples;
  for (double bytes = 64; bytes < 1e9; bytes *= 4)
    samples.push_back({bytes, network.message_seconds(bytes)});
  return samples;
}

TEST(ExchangeModel, FindsLatencyAndBandwidthOfShortAndLongMessages) {
  const Network made{1e-6, 3e-9, 2e-5, 1e-10, 65536, 0};
  const Network found = fit_network(samples_of(made), 65536);
  EXPECT_NEAR(found.short_latency, made.short_latency, 1e-9 * made.short_latency);
  EXPECT_NEAR(found.short_byte, made.short_byte, 1e-9 * made.short_byte);
  EXPECT_NEAR(found.long_latency, made.long_latency, 1e-6 * made.long_latency);
  EXPECT_NEAR(found.long_byte, made.long_byte, 1e-9 * made.long_byte);
  EXPECT_LT(found.uncertainty, 1e-6);
}

TEST(ExchangeModel, NeverFindsNegativeCosts) {
  const Network found = fit_network({{100, 1e-5}, {200, 0.9e-5}, {1e6, 1e-4}, {1e7, 2e-3}}, 65536);
  EXPECT_GE(found.short_byte, 0);
  EXPECT_GE(found.long_latency, 0);
  EXPECT_GT(found.uncertainty, 0);
}

TEST(ExchangeModel, NeedsTwoSizesOnEitherSide) {
  EXPECT_THROW(fit_network({{100, 1e-5}, {1e6, 1e-4}, {1e7, 1e-3}}, 65536), UsageError);
}

TEST(ExchangeModel, SendsAMessageToEveryOtherRank) {
  const Network network{1e-6, 1e-9, 2e-6, 1e-10, 1000, 0.1};
  EXPECT_EQ(exchange_estimate(network, 0, 1).seconds, 0);
  EXPECT_DOUBLE_EQ(exchange_estimate(network, 4e6, 5).seconds, 4 * (2e-6 + 1e-10 * 1e6));
  EXPECT_DOUBLE_EQ(exchange_estimate(network, 400, 5).seconds, 4 * (1e-6 + 1e-9 * 100));
}

// Szydlarski et al. (2012), Fig. 4: nside 4096, 512 processes, alpha = 1e-5, beta = 1e-9.
TEST(ExchangeModel, HasEquations16And17AsPrintedAndCorrected) {
  const DenseExchange exchange{16383, 8192, 16, 512};
  const double volume = 16383.0 * 8192 * 16;
  EXPECT_DOUBLE_EQ(printed_exchange_seconds(exchange.rank_bytes(), exchange.n_ranks, paper_network),
                   511 * (1e-5 + 1e-9 * (volume / 512)));
  EXPECT_DOUBLE_EQ(corrected_exchange_seconds(exchange, paper_network),
                   511 * (1e-5 + 1e-9 * (volume / 512 / 512)));
}

TEST(ExchangeModel, TakesBrucksStepsForShortMessagesOnlyAsPrinted) {
  const DenseExchange exchange{255, 128, 16, 4};
  const double volume = 255.0 * 128 * 16;
  EXPECT_DOUBLE_EQ(printed_exchange_seconds(exchange.rank_bytes(), exchange.n_ranks, paper_network),
                   2 * (1e-5 + 1e-9 * (volume / 4)));
  EXPECT_DOUBLE_EQ(corrected_exchange_seconds(exchange, paper_network),
                   3 * (1e-5 + 1e-9 * (volume / 16)));
}

// The paper's "independent of the number of processes" follows from its Eq. 16; a rank's volume
// falls with it.
TEST(ExchangeModel, SaysThatCommunicationFallsWithTheNumberOfRanks) {
  DenseExchange few{16383, 8192, 16, 64};
  DenseExchange many = few;
  many.n_ranks = 256;
  EXPECT_NEAR(printed_exchange_seconds(many.rank_bytes(), many.n_ranks, without_latency) /
                  printed_exchange_seconds(few.rank_bytes(), few.n_ranks, without_latency),
              1, 0.02);
  EXPECT_NEAR(corrected_exchange_seconds(many, without_latency) /
                  corrected_exchange_seconds(few, without_latency),
              0.25, 0.01);
}

}  // namespace
}  // namespace ringweave::detail
