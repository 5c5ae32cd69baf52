// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels with errors that the device must find.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "softdevice/own/kernels.hpp"
#include "softdevice/settings.hpp"

namespace softdevice::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Key;

const std::vector<std::uint64_t> zeros(256, 0);

void expect_found(const Result& result, const std::string& wanted) {
  EXPECT_THAT(result.findings, Contains(Key(HasSubstr(wanted))));
}

/// Every thread writes its word of shared memory and reads that of the next.
std::string neighbours(const std::string& between) {
  return "mul.lo.u32 %n2, %n0, 8; mov.u32 %n3, shared; add.u32 %n2, %n2, %n3;"
         "cvt.u64.u32 %a, %n0; st.shared.u64 [%n2], %a;" +
         between +
         "add.u32 %n4, %n0, 1; and.b32 %n4, %n4, 63; mul.lo.u32 %n4, %n4, 8;"
         "add.u32 %n4, %n4, %n3; ld.shared.u64 %b, [%n4]; st.global.u64 [%mine], %b;";
}

TEST(Checks, FindNothingInASoundKernel) {
  const Result result = run(neighbours("bar.sync 0;"), zeros, 64);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.numbers[3], 4U);
  EXPECT_EQ(result.numbers[63], 0U);
}

TEST(Checks, FindAMissingBarrierAlsoWithinAWarp) {
  expect_found(run(neighbours(""), zeros, 64), "shared memory: read and written, a race");
}

TEST(Checks, FindReadersBeforeAWrite) {
  const std::string text = neighbours("bar.sync 0;") + "st.shared.u64 [%n2], %b;";
  expect_found(run(text, zeros, 64), "shared memory: written, a race");
}

TEST(Checks, FindRacesInGlobalMemory) {
  expect_found(run("st.global.u64 [%data], %n1;", zeros), "global memory: written, a race");
  expect_found(run("st.global.u64 [%mine], %n1;", zeros, 32, 2), "global memory: written, a race");
  expect_found(
      run("ld.global.u64 %a, [%data]; add.s64 %a, %a, 1; st.global.u64 [%data], %a;", zeros, 2, 1),
      "global memory");
}

TEST(Checks, FindUndefinedValues) {
  expect_found(run("setp.lt.s64 %p, %a, 0; @%p bra L; st.global.u64 [%mine], %n1; L:", zeros),
               "branch or guard by an undefined value");
  expect_found(run("ld.global.u64 %b, [%a];", zeros), "undefined address");
  EXPECT_TRUE(run("st.global.u64 [%mine], %a;", zeros).findings.empty());
  expect_found(run("ld.shared.u64 %a, [shared]; setp.eq.s64 %p, %a, 0; selp.b64 %b, 1, 2, %p;"
                   "@%p st.global.u64 [%mine], %b;",
                   zeros),
               "branch or guard by an undefined value");
}

TEST(Checks, EndLaunchesThatLeaveTheirMemory) {
  EXPECT_EQ(run("ld.global.u64 %a, [%mine+2048];", zeros).failure, Failure::illegal_address);
  EXPECT_EQ(run("ld.global.u64 %a, [%data+-8];", zeros).failure, Failure::illegal_address);
  EXPECT_EQ(run("ld.global.u64 %a, [%mine+4];", zeros).failure, Failure::misaligned_address);
  EXPECT_EQ(run("ld.global.v2.u64 {%a, %b}, [%mine];", zeros).failure, Failure::misaligned_address);
  EXPECT_EQ(run("st.shared.u64 [shared+1024], %n1;", zeros).failure, Failure::illegal_address);
}

std::string copied_ahead(const std::string& wait) {
  return "mul.lo.u32 %n2, %n0, 16; mov.u32 %n3, shared; add.u32 %n2, %n2, %n3;"
         "mul.wide.u32 %n4, %n0, 16; add.s64 %n4, %n4, %data;"
         "cp.async.cg.shared.global [%n2], [%n4], 16, 16; cp.async.commit_group;" +
         wait + "ld.shared.u64 %a, [%n2]; add.s64 %a, %a, 1; st.global.u64 [%n4], %a;";
}

TEST(Checks, FindCopiesThatWereNotWaitedFor) {
  const Result sound = run(copied_ahead("cp.async.wait_group 0;"), zeros);
  EXPECT_TRUE(sound.findings.empty());
  EXPECT_EQ(sound.numbers[2], 1U);
  expect_found(run(copied_ahead(""), zeros), "read before its cp.async was waited for");
  expect_found(run(copied_ahead("cp.async.wait_group 1;"), zeros),
               "read before its cp.async was waited for");
}

TEST(Checks, FindLanesThatWaitForEachOther) {
  const Result result =
      run("setp.lt.u32 %p, %n0, 7; mov.u64 %a, 0; @%p bra L;"
          "bar.sync 0; L: shfl.sync.bfly.b32 %b|%q, %n0, 1, 31, -1;",
          zeros);
  EXPECT_EQ(result.failure, Failure::deadlock);
  EXPECT_EQ(result.findings.size(), 1U);
}

TEST(Checks, FindThreadsAtDifferentBarriers) {
  expect_found(run("setp.lt.u32 %p, %n0, 7; @%p bra L; bar.sync 0; ret; L: bar.sync 0;", zeros),
               "threads wait at different barriers");
}

/// Passes over the banks of shared memory for a store of every lane at `place`, which is given n0.
std::uint64_t passes(const std::string& place, const std::string& store) {
  const Result result = run("mov.u64 %a, 7; mov.u64 %b, 7;" + place + store, zeros);
  EXPECT_TRUE(result.findings.empty());
  EXPECT_EQ(result.counts.shared_requests, 1U);
  return result.counts.shared_passes;
}

/// Tests that need SOFTDEVICE_COUNTS.
class Counts : public testing::Test {
 protected:
  void SetUp() override {
    if (settings().counts.empty()) GTEST_SKIP() << "nothing is counted: set SOFTDEVICE_COUNTS";
  }
};

TEST_F(Counts, OfPassesOverTheBanksOfSharedMemory) {
  const std::string one = "st.shared.u32 [%c], %a;";
  const std::string two = "st.shared.u64 [%c], %a;";
  // 32 words in a row, every second, every eighth, and all in one bank but for their halves.
  EXPECT_EQ(passes("mul.lo.u32 %c, %n0, 4;", one), 1U);
  EXPECT_EQ(passes("mul.lo.u32 %c, %n0, 8;", one), 2U);
  EXPECT_EQ(passes("mul.lo.u32 %c, %n0, 32;", one), 8U);
  // Numbers of 8 and 16 bytes are served for 16 and 8 lanes at a time.
  EXPECT_EQ(passes("mul.lo.u32 %c, %n0, 8;", two), 2U);
  EXPECT_EQ(passes("mul.lo.u32 %c, %n0, 16;", two), 4U);
  EXPECT_EQ(passes("mul.lo.u32 %c, %n0, 16;", "st.shared.v2.u64 [%c], {%a, %b};"), 4U);
  EXPECT_EQ(passes("and.b32 %c, %n0, 7; mul.lo.u32 %c, %c, 128;", "ld.shared.u32 %d, [%c];"), 8U);
  EXPECT_EQ(passes("mov.u32 %c, 0;", "ld.shared.u32 %d, [%c];"), 1U);
}

TEST_F(Counts, OfSectorsOfGlobalMemory) {
  const auto sectors = [](const std::string& text) {
    return run(text, std::vector<std::uint64_t>(1024, 0)).counts;
  };
  const LaunchCounts close = sectors("st.global.u64 [%mine], %n1;");
  EXPECT_EQ(close.global_requests, 1U);
  EXPECT_EQ(close.global_bytes, 256U);
  EXPECT_EQ(close.global_sectors, 8U);
  EXPECT_EQ(sectors("mul.wide.u32 %a, %n0, 56; add.s64 %mine, %mine, %a;"
                    "st.global.u64 [%mine], %n1;")
                .global_sectors,
            32U);
  EXPECT_EQ(sectors("ld.global.u64 %a, [%data];").global_sectors, 1U);
}

}  // namespace
}  // namespace softdevice::test
