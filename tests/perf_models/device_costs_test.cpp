// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/device_costs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "perf_models/machine_file.hpp"
#include "perf_models/point_model.hpp"
#include "perf_models/transform_model.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

using ::testing::HasSubstr;

/// Stages that take the given time, within a tenth.
StageSamples samples_of(double per_flop, double per_byte, double per_copied_byte) {
  StageSamples samples;
  for (const double lmax : {256.0, 512.0, 1024.0}) {
    const double flops = lmax * lmax * lmax;
    const double bytes = lmax * lmax;
    samples.stages["legendre_scalar"].push_back({lmax, flops, flops * per_flop});
    samples.stages["legendre_spin"].push_back({lmax, flops, 2 * flops * per_flop});
    samples.stages["ring_fft"].push_back({2 * lmax, bytes, bytes * per_byte});
    samples.stages["ring_fft_modes"].push_back({2 * lmax, bytes, 3 * bytes * per_byte});
    samples.stages["to_device"].push_back({bytes, bytes, bytes * per_copied_byte});
    samples.stages["to_host"].push_back({bytes, bytes, 2 * bytes * per_copied_byte});
    for (const char* stage :
         {"convolution_pixels", "convolution_ring_fft", "convolution_modes", "point_sums"})
      samples.stages[stage].push_back({2 * lmax, 1, 0.01});
  }
  return samples;
}

constexpr double per_flop = 1e-13;
constexpr double per_byte = 1e-12;
constexpr double per_copied_byte = 1e-10;

Machine machine_with_device() {
  Machine machine = typical_machine();
  machine.device = fit_device("made up", samples_of(per_flop, per_byte, per_copied_byte));
  machine.network = {0, 1e-9, 0, 1e-9, 65536, 0};
  return machine;
}

TransformWork work_on_device() {
  TransformWork work;
  work.lmax = 512;
  work.longest_ring = 1024;
  work.scalar_flops = 1e9;
  work.spin_flops = 1e9;
  work.legendre_work = 0.5;
  work.fft_pixel_bytes = 1 << 20;
  work.fft_mode_bytes = 1 << 19;
  work.alm_bytes = 1 << 18;
  work.n_threads = 4;
  work.place = Place::device;
  return work;
}

TEST(DeviceCosts, PredictWhatTheyWereFittedTo) {
  const TransformEstimate estimate = estimate_transform(work_on_device(), machine_with_device());
  // Neither the host's threads nor its resampling matter.
  EXPECT_NEAR(estimate.legendre.seconds, 3 * 1e9 * per_flop, 1e-9 * per_flop);
  EXPECT_NEAR(estimate.ring_fft.seconds, (1 + 1.5) * (1 << 20) * per_byte, 1e-12);
  EXPECT_EQ(estimate.exchange.seconds, 0);
  // Copied to the device once and from it (twice as expensive) once, half of the data each way.
  EXPECT_NEAR(estimate.copies.seconds, 1.5 * ((1 << 20) + (1 << 18)) * per_copied_byte, 1e-9);
  EXPECT_DOUBLE_EQ(estimate.total().seconds,
                   estimate.legendre.seconds + estimate.ring_fft.seconds + estimate.copies.seconds);
}

TEST(DeviceCosts, RanksThatShareADeviceWaitForEachOther) {
  TransformWork work = work_on_device();
  const TransformEstimate alone = estimate_transform(work, machine_with_device());
  work.ranks_of_device = 3;
  const TransformEstimate shared = estimate_transform(work, machine_with_device());
  EXPECT_DOUBLE_EQ(shared.legendre.seconds, 3 * alone.legendre.seconds);
  EXPECT_DOUBLE_EQ(shared.copies.seconds, 3 * alone.copies.seconds);
}

TEST(DeviceCosts, ModesGoStraightOrThroughTheHost) {
  Machine machine = machine_with_device();
  TransformWork work = work_on_device();
  work.n_ranks = 3;
  work.sent_bytes = 1 << 21;
  const double staged = (1 << 21) * (1e-9 + 3 * per_copied_byte);
  EXPECT_NEAR(estimate_transform(work, machine).exchange.seconds, staged, 1e-6 * staged)
      << "nobody measured messages between devices";
  machine.device->network = Network{0, 1e-10, 0, 1e-10, 65536, 0};
  EXPECT_NEAR(estimate_transform(work, machine).exchange.seconds, (1 << 21) * 1e-10, 1e-9);
  work.route = ModeRoute::staged;
  EXPECT_NEAR(estimate_transform(work, machine).exchange.seconds, staged, 1e-6 * staged);
}

TEST(DeviceCosts, BlocksCopyModesTooAndExchangeThemOnTheHost) {
  const Machine machine = machine_with_device();
  TransformWork work = work_on_device();
  work.n_ranks = 3;
  work.sent_bytes = 1 << 21;
  const TransformEstimate whole = estimate_transform(work, machine);
  work.place = Place::device_in_blocks;
  const TransformEstimate blocks = estimate_transform(work, machine);
  EXPECT_NEAR(blocks.copies.seconds - whole.copies.seconds, 2 * 1.5 * (1 << 19) * per_copied_byte,
              1e-9);
  EXPECT_NEAR(blocks.exchange.seconds, (1 << 21) * 1e-9, 1e-9);
}

TEST(DeviceCosts, AStageOfItsOwnCopiesWhatItReadsAndWrites) {
  const Machine machine = machine_with_device();
  TransformWork work = work_on_device();
  work.place = Place::host;
  const TransformEstimate host = estimate_transform(work, machine);
  work.place = Place::device_in_blocks;
  const TransformEstimate both = estimate_transform(work, machine);
  work.on_device = StagesOnDevice::legendre;
  const TransformEstimate legendre = estimate_transform(work, machine);
  EXPECT_DOUBLE_EQ(legendre.legendre.seconds, both.legendre.seconds);
  EXPECT_DOUBLE_EQ(legendre.ring_fft.seconds, host.ring_fft.seconds);
  EXPECT_NEAR(legendre.copies.seconds, 1.5 * ((1 << 19) + (1 << 18)) * per_copied_byte, 1e-9);
  work.on_device = StagesOnDevice::ring_fft;
  const TransformEstimate ring_fft = estimate_transform(work, machine);
  EXPECT_DOUBLE_EQ(ring_fft.legendre.seconds, host.legendre.seconds);
  EXPECT_DOUBLE_EQ(ring_fft.ring_fft.seconds, both.ring_fft.seconds);
  EXPECT_NEAR(ring_fft.copies.seconds, 1.5 * ((1 << 20) + (1 << 19)) * per_copied_byte, 1e-9);
  EXPECT_NEAR(legendre.copies.seconds + ring_fft.copies.seconds, both.copies.seconds, 1e-9);
}

TEST(DeviceCosts, AMachineWithoutADeviceTakesItsHost) {
  TransformWork work = work_on_device();
  const double on_device = estimate_transform(work, typical_machine()).total().seconds;
  work.place = Place::host;
  EXPECT_EQ(on_device, estimate_transform(work, typical_machine()).total().seconds);
}

TEST(DeviceCosts, RowsOfPointsStayOnTheDevice) {
  TransformWork work = work_on_device();
  work.place = Place::device_in_blocks;
  const TransformEstimate to_map = estimate_transform(work, machine_with_device());
  work.is_to_fine_rows = true;
  work.summed_rings = 0.6;
  work.theta_bytes = 1 << 21;
  const TransformEstimate to_rows = estimate_transform(work, machine_with_device());
  EXPECT_NEAR(to_rows.legendre.seconds,
              0.6 * to_map.legendre.seconds + per_byte * static_cast<double>(work.theta_bytes),
              0.01 * to_map.legendre.seconds);
  EXPECT_EQ(to_rows.ring_fft.seconds, to_map.ring_fft.seconds);
  const auto copied = static_cast<double>(work.alm_bytes + 2 * work.fft_mode_bytes);
  EXPECT_NEAR(to_map.copies.seconds / to_rows.copies.seconds,
              (copied + static_cast<double>(work.fft_pixel_bytes)) / copied, 0.01);
}

TEST(DeviceCosts, RanksTakeTurnsWithPoints) {
  PointWork work{.lmax = 512, .operations = 1e9, .n_threads = 4};
  const Machine machine = machine_with_device();
  const double on_host = estimate_points(work, machine).points.seconds;
  work.backend = Backend::cuda;
  const double on_device = estimate_points(work, machine).points.seconds;
  EXPECT_NEAR(on_device, 1e9 * 0.01, 1e9 * 1e-4);
  work.ranks_of_device = 3;
  EXPECT_DOUBLE_EQ(estimate_points(work, machine).points.seconds, 3 * on_device);
  EXPECT_EQ(estimate_points(work, typical_machine()).points.seconds, on_host)
      << "a machine without a device";
}

TEST(DeviceCosts, NeedEveryStageAndTakeMessagesOnlyOfEnoughSizes) {
  StageSamples samples = samples_of(per_flop, per_byte, per_copied_byte);
  for (const double bytes : {100.0, 1000.0, 1e6, 1e7}) {
    EXPECT_FALSE(fit_device("device", samples).network);
    samples.messages.push_back({bytes, 1e-6 + 1e-10 * bytes});
  }
  ASSERT_TRUE(fit_device("device", samples).network);
  EXPECT_NEAR(fit_device("device", samples).network->long_byte, 1e-10, 1e-12);
  samples.stages["to_host"].clear();
  EXPECT_THROW(fit_device("device", samples), UsageError);
}

TEST(DeviceCosts, SurviveTheirFile) {
  Machine machine = machine_with_device();
  EXPECT_EQ(machine_text(parse_machine(machine_text(machine), "file")), machine_text(machine));
  EXPECT_FALSE(parse_machine(machine_text(machine), "file").device->network);
  machine.device->network = Network{1e-6, 1e-9, 2e-6, 1e-10, 65536, 0.25};
  const Machine read = parse_machine(machine_text(machine), "file");
  EXPECT_EQ(read.device->name, "made up");
  EXPECT_EQ(read.device->network->long_byte, 1e-10);
  EXPECT_EQ(machine_text(read), machine_text(machine));
}

TEST(DeviceCosts, OfAnEarlierVersionHaveTheConvolutionsOfAnH100) {
  std::string text = machine_text(machine_with_device());
  for (const std::string name : {"\"convolution_pixels\"", "\"convolution_ring_fft\"",
                                 "\"convolution_modes\"", "\"point_sums\""})
    text.replace(text.rfind(name), name.size(), "\"other\"");
  const DeviceCosts read = *parse_machine(text, "file").device;
  const DeviceCosts h100 = *described_machine("h100_cluster").device;
  EXPECT_EQ(read.convolution_pixels.points()[0].seconds,
            h100.convolution_pixels.points()[0].seconds);
  EXPECT_EQ(read.convolution_modes.points()[0].seconds, h100.convolution_modes.points()[0].seconds);
  EXPECT_EQ(read.point_sums.points()[0].seconds, h100.point_sums.points()[0].seconds);
}

TEST(DeviceCosts, ABrokenFileNamesTheEntryOfTheDevice) {
  std::string text = machine_text(machine_with_device());
  text.replace(text.find("\"to_host\""), 9, "\"to_homes\"");
  try {
    parse_machine(text, "machine.json");
    FAIL() << "not refused";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("machine.json: device: \"to_host\": missing"));
  }
}

}  // namespace
}  // namespace ringweave::detail
