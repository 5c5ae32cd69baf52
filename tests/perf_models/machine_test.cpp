// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/machine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "perf_models/machine_combination.hpp"
#include "perf_models/machine_file.hpp"
#include "perf_models/point_model.hpp"
#include "perf_models/transform_model.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

using ::testing::HasSubstr;

std::string refusal_of(const std::string& text) {
  try {
    parse_machine(text, "machine.json");
  } catch (const DataError& error) {
    return error.what();
  }
  return "not refused";
}

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  const auto place = text.find(what);
  EXPECT_NE(place, std::string::npos) << what;
  return text.replace(place, what.size(), by);
}

TEST(Machine, SurvivesItsFile) {
  Machine machine = typical_machine();
  machine.name = "a \"quoted\" name";
  machine.n_ranks = 2;
  machine.legendre_scalar = CostCurve({{100, 1.0 / 3}, {200, 1e-11}}, 0.1);
  machine.network.long_byte = 1.0 / 7;
  const Machine read = parse_machine(machine_text(machine), "machine.json");
  EXPECT_EQ(read.name, machine.name);
  EXPECT_EQ(read.n_ranks, 2);
  ASSERT_EQ(read.legendre_scalar.points().size(), 2u);
  EXPECT_EQ(read.legendre_scalar.points()[0].seconds, 1.0 / 3);
  EXPECT_EQ(read.network.long_byte, 1.0 / 7);
  EXPECT_EQ(machine_text(read), machine_text(machine));
}

TEST(Machine, OfAnEarlierVersionHasLikelyCostsOfWhatCameLater) {
  Machine machine = typical_machine();
  machine.point_sums = machine.convolution_spin = CostCurve({{100, 1e-3}}, 0.1);
  machine.convolution_sectors = CostCurve({{100, 3}}, 0.1);
  const std::string text = machine_text(machine);
  EXPECT_EQ(parse_machine(text, "").point_sums.points()[0].seconds, 1e-3);
  EXPECT_EQ(parse_machine(text, "").convolution_spin.points()[0].seconds, 1e-3);
  std::string without = replaced(text, "\"point_sums\"", "\"other\"");
  without = replaced(without, "\"convolution_spin\"", "\"another\"");
  EXPECT_EQ(parse_machine(without, "").point_sums.points()[0].seconds,
            typical_machine().point_sums.points()[0].seconds);
  EXPECT_EQ(parse_machine(without, "").convolution_spin.points()[0].seconds, 3);
}

TEST(PointModel, SharesSumsOverThreadsAndSendsValues) {
  PointWork work{.lmax = 1000, .operations = 1e9, .sent_bytes = 1e6};
  const Machine& machine = typical_machine();
  const PointEstimate one = estimate_points(work, machine);
  EXPECT_EQ(one.value_exchange.seconds, 0) << "one rank";
  work.n_threads = 4;
  work.n_ranks = 2;
  const PointEstimate many = estimate_points(work, machine);
  EXPECT_DOUBLE_EQ(many.points.seconds, one.points.seconds / 4);
  EXPECT_DOUBLE_EQ(many.value_exchange.seconds,
                   exchange_estimate(machine.network, work.sent_bytes, 2).seconds);
}

TEST(Machine, RefusesWhatIsNoMachineFileNamingFileAndEntry) {
  EXPECT_THAT(refusal_of(""), HasSubstr("machine.json: not a machine file"));
  EXPECT_THAT(refusal_of("{\"format\": \"other\"}"), HasSubstr("not a machine file"));
  EXPECT_THAT(refusal_of("[1, 2]"), HasSubstr("not a machine file"));
  const std::string good = machine_text(typical_machine());
  EXPECT_THAT(refusal_of(replaced(good, "\"ring_fft\"", "\"ring_ffts\"")),
              HasSubstr("\"ring_fft\": missing"));
  EXPECT_THAT(refusal_of(replaced(good, "\"ranks\": 1", "\"ranks\": 0")), HasSubstr("\"ranks\""));
  for (const char* ranks : {"\"one\"", "1.5", "1e300", "4294967297"}) {
    EXPECT_THAT(refusal_of(replaced(good, "\"ranks\": 1", std::string("\"ranks\": ") + ranks)),
                HasSubstr("\"ranks\""));
  }
  EXPECT_THAT(refusal_of(replaced(good, "\"long_byte\": ", "\"long_byte\": -")),
              HasSubstr("\"long_byte\""));
}

TEST(Machine, LeavesOutWhatNestsDeeply) {
  constexpr std::size_t depth = 1000000;
  const std::string good = machine_text(typical_machine());
  const std::string deep = std::string(depth, '[') + std::string(depth, ']');
  const std::string text = replaced(good, "{", "{\"other\": " + deep + ", ");
  EXPECT_EQ(machine_text(parse_machine(text, "")), good);
  EXPECT_THAT(refusal_of(replaced(good, "\"name\": ", "\"name\": " + deep + ", \"was\": ")),
              HasSubstr("\"name\""));
}

TEST(Machine, DescribedOnesSayWhatNobodyMeasured) {
  for (const std::string& name : described_machine_names()) {
    const Machine machine = described_machine(name);
    EXPECT_TRUE(machine.date.empty()) << name;
    EXPECT_EQ(machine_text(parse_machine(machine_text(machine), name)), machine_text(machine));
    EXPECT_EQ(machine.device.has_value(), machine.backend == "cuda") << name;
    if (!machine.device) continue;
    EXPECT_THAT(machine.name, HasSubstr("not measured"));
    EXPECT_GE(machine.device->network->uncertainty, 0.5);
    if (name == "h100_cluster") {
      EXPECT_THAT(machine.notes, HasSubstr("No network was measured"));
      continue;
    }
    EXPECT_THAT(machine.notes, HasSubstr("No GPU was measured"));
    EXPECT_GE(machine.device->legendre_scalar.uncertainty(), 0.5);
  }
  EXPECT_EQ(typical_machine().name, described_machine("typical").name);
}

TEST(Machine, AnUnknownNameIsRefusedWithThoseThereAre) {
  try {
    described_machine("abacus");
    FAIL() << "not refused";
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("abacus"));
    EXPECT_THAT(error.what(), HasSubstr("a100_cluster, cpu_cluster, h100_cluster"));
  }
}

TEST(TransformModel, AnExchangeInPassesSendsMoreMessages) {
  Machine machine = typical_machine();
  machine.network = {1e-5, 1e-9, 1e-5, 1e-9, 65536, 0};
  TransformWork work;
  work.n_ranks = 5;
  work.sent_bytes = 1 << 20;
  const double at_once = estimate_transform(work, machine).exchange.seconds;
  work.n_passes = 8;
  EXPECT_NEAR(estimate_transform(work, machine).exchange.seconds - at_once, 7 * 4 * 1e-5, 1e-12);
}

TEST(TransformModel, AnOverlappedExchangeHidesNoMoreThanTheLegendreStageLasts) {
  Machine machine = typical_machine();
  machine.network = {0, 1e-9, 0, 1e-9, 65536, 0};
  TransformWork work;
  work.lmax = 4096;
  work.n_ranks = 2;
  work.sent_bytes = 1 << 20;
  work.n_passes = 8;
  const Estimate whole = estimate_transform(work, machine).exchange;
  work.timing = ExchangeTiming::beside_legendre;
  EXPECT_DOUBLE_EQ(estimate_transform(work, machine).exchange.seconds, whole.seconds)
      << "there is nothing to hide behind";
  work.scalar_flops = 1e15;
  const Estimate hidden = estimate_transform(work, machine).exchange;
  EXPECT_NEAR(hidden.seconds, whole.seconds / 8, 1e-12) << "the last pass shows";
  EXPECT_GT(hidden.sigma, whole.sigma);
}

TEST(TransformModel, SharesWorkOutOverThreadsAndSendsFromEveryRank) {
  const Machine& machine = typical_machine();
  TransformWork work;
  work.lmax = 1024;
  work.longest_ring = 2048;
  work.scalar_flops = 1e9;
  work.fft_pixel_bytes = 1 << 26;
  work.fft_mode_bytes = 1 << 25;
  const TransformEstimate one = estimate_transform(work, machine);
  EXPECT_EQ(one.exchange.seconds, 0);
  EXPECT_DOUBLE_EQ(one.total().seconds, one.legendre.seconds + one.ring_fft.seconds);
  work.n_threads = 4;
  EXPECT_DOUBLE_EQ(estimate_transform(work, machine).legendre.seconds, one.legendre.seconds / 4);
  work.n_ranks = 2;
  work.sent_bytes = 1 << 20;
  EXPECT_GT(estimate_transform(work, machine).exchange.seconds, 0);
}

TEST(Machine, OfSeveralCalibrationsHasTheirMediansAndTheirScatter) {
  std::vector<Machine> launches(3, typical_machine());
  const double costs[] = {1e-11, 2e-11, 1.5e-11};
  for (std::size_t i = 0; i < launches.size(); ++i) {
    launches[i].date = "2026-01-0" + std::to_string(i + 1);
    launches[i].legendre_scalar = CostCurve({{100, costs[i]}}, 0.02);
    launches[i].network.short_latency = 1e-6 * static_cast<double>(i + 1);
  }
  const Machine machine = combine_machines(launches);
  EXPECT_EQ(machine.legendre_scalar.points().front().seconds, 1.5e-11);
  EXPECT_GT(machine.legendre_scalar.uncertainty(), 0.3);
  EXPECT_EQ(machine.network.short_latency, 2e-6);
  EXPECT_GT(machine.network.uncertainty, launches[0].network.uncertainty);
  EXPECT_EQ(machine.ring_fft.uncertainty(), launches[0].ring_fft.uncertainty());
  EXPECT_EQ(machine.date, "2026-01-03");
  EXPECT_THAT(machine.notes, HasSubstr("3 calibrations, the first of 2026-01-01"));
}

TEST(Machine, IsNotCombinedFromUnlikeCalibrations) {
  Machine measured = typical_machine();
  measured.date = "2026-01-01";
  Machine other = measured;
  other.n_ranks = 2;
  const auto refusal = [](const std::vector<Machine>& machines) {
    try {
      combine_machines(machines);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("not refused");
  };
  EXPECT_THAT(refusal({measured}), HasSubstr("two or more"));
  EXPECT_THAT(refusal({measured, other}), HasSubstr("the number of ranks is 1 in one and 2"));
  EXPECT_THAT(refusal({measured, typical_machine()}), HasSubstr("is described"));
}

}  // namespace
}  // namespace ringweave::detail
