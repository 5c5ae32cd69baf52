// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/slurm_job.hpp"

#include <gtest/gtest.h>

#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

TEST(SlurmTime, EveryFormThatSlurmTakesIsRead) {
  EXPECT_EQ(slurm_seconds("90", "--time"), 90 * 60);
  EXPECT_EQ(slurm_seconds("90:30", "--time"), 90 * 60 + 30);
  EXPECT_EQ(slurm_seconds("02:15:00", "--time"), 135 * 60);
  EXPECT_EQ(slurm_seconds("1-12", "--time"), 36 * 3600);
  EXPECT_EQ(slurm_seconds("1-12:30", "--time"), 36 * 3600 + 30 * 60);
  EXPECT_EQ(slurm_seconds("1-12:30:10", "--time"), 36 * 3600 + 30 * 60 + 10);
}

TEST(SlurmTime, AnythingElseIsRefused) {
  for (const char* text : {"", "soon", "1h", "-5", "1:2:3:4", "1-", "1.5", "1-2:3:4:5"}) {
    expect_error(ErrorKind::usage, std::string("--time ") + text,
                 [&] { slurm_seconds(text, "--time"); });
  }
}

TEST(SlurmTime, IsWrittenInWholeMinutesRoundedUp) {
  EXPECT_EQ(slurm_time(1), "00:01:00");
  EXPECT_EQ(slurm_time(60), "00:01:00");
  EXPECT_EQ(slurm_time(61), "00:02:00");
  EXPECT_EQ(slurm_time(135 * 60), "02:15:00");
  EXPECT_EQ(slurm_time((3 * 24 + 4) * 3600), "3-04:00:00");
}

TEST(SlurmTime, WhatIsWrittenIsReadAsTheSame) {
  for (const double minutes : {1.0, 59.0, 60.0, 1439.0, 1440.0, 10000.0})
    EXPECT_EQ(slurm_seconds(slurm_time(60 * minutes), "--time"), 60 * minutes);
}

TEST(SlurmTime, DurationsAreShort) {
  EXPECT_EQ(duration_text(12), "12 s");
  EXPECT_EQ(duration_text(99.4), "99 s");
  EXPECT_EQ(duration_text(204), "3.4 min");
  EXPECT_EQ(duration_text(25 * 3600), "25 h");
  EXPECT_EQ(duration_text(1000 * 3600), "1000 h");
}

}  // namespace
}  // namespace ringweave::detail::test
