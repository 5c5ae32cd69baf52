// SPDX-License-Identifier: GPL-3.0-or-later
// Every instruction on numbers whose results are known from the PTX manual.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "softdevice/own/kernels.hpp"

namespace softdevice::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr double infinite = std::numeric_limits<double>::infinity();
constexpr std::uint64_t low = 0xffffffffU;

/// Runs an instruction on numbers; for comparisons 1 or 0.
std::uint64_t value_of(const std::string& opcode, std::vector<std::uint64_t> numbers) {
  const std::array names{"%a", "%b", "%c", "%e"};
  std::string text;
  std::string operands;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    text += std::string("ld.global.u64 ") + names[i] + ", [%data+" + std::to_string(8 * i) + "];\n";
    operands += std::string(", ") + names[i];
  }
  numbers.resize(4);
  if (opcode.starts_with("setp"))
    text += opcode + " %p" + operands + ";\nselp.b64 %d, 1, 0, %p;\n";
  else
    text += opcode + " %d" + operands + ";\n";
  const Result result = run(text + "st.global.u64 [%data+24], %d;", numbers, 1);
  EXPECT_TRUE(result.findings.empty()) << opcode;
  return result.numbers[3];
}

struct Case {
  const char* opcode;
  std::vector<std::uint64_t> numbers;
  std::uint64_t expected;
};

void expect(const std::vector<Case>& cases) {
  for (const Case& one : cases)
    EXPECT_EQ(value_of(one.opcode, one.numbers), one.expected) << one.opcode;
}

TEST(Instructions, OfIntegers) {
  expect({{"add.s64", {bits(5L), bits(-7L)}, bits(-2L)},
          {"add.s32", {bits(5), bits(-7)}, bits(-2)},
          {"sub.s64", {bits(5L), bits(7L)}, bits(-2L)},
          {"sub.s32", {bits(5), bits(7)}, bits(-2)},
          {"mul.lo.s64", {bits(-3L), bits(1L << 40)}, bits(-3L * (1L << 40))},
          {"mul.lo.s32", {bits(-3), bits(1 << 20)}, bits(-3 * (1 << 20))},
          {"bfi.b64", {0x5abUL, 0x111111UL, 8, 8}, 0x11ab11},
          {"bfi.b64", {0xffUL, 1UL, 60, 8}, (0xfUL << 60) + 1},
          {"bfi.b64", {0xffUL, 7UL, 3, 0}, 7},
          {"bfi.b64", {bits(-1L), 7UL, 0, 64}, bits(-1L)},
          {"bfi.b32", {0x5abUL, 0x111111UL, 8, 8}, 0x11ab11},
          {"bfi.b32", {0xffUL, 1UL, 28, 8}, 0xf0000001},
          {"mul.hi.s32", {bits(-3), bits(1 << 30)}, bits(-1)},
          {"mul.hi.u32", {bits(-1), bits(2)}, bits(1)},
          {"mul.wide.s32", {bits(-3), bits(1 << 30)}, bits(-3L * (1L << 30))},
          {"mul.wide.u32", {bits(-1), bits(2)}, 2 * low},
          {"mad.lo.s32", {bits(-3), bits(4), bits(5)}, bits(-7)},
          {"mad.wide.s32", {bits(-3), bits(4), bits(5L)}, bits(-7L)},
          {"div.s64", {bits(-7L), bits(2L)}, bits(-3L)},
          {"div.u64", {bits(-7L), bits(2L)}, bits(-7L) / 2},
          {"div.u32", {bits(-7), bits(2)}, bits(-7) / 2},
          {"rem.s64", {bits(-7L), bits(2L)}, bits(-1L)},
          {"rem.u32", {bits(-1), bits(10)}, low % 10},
          {"min.s32", {bits(-7), bits(2)}, bits(-7)},
          {"min.s64", {bits(-7L), bits(2L)}, bits(-7L)},
          {"max.s32", {bits(-7), bits(2)}, bits(2)},
          {"max.s64", {bits(-7L), bits(2L)}, bits(2L)},
          {"neg.s32", {bits(7)}, bits(-7)},
          {"neg.s64", {bits(7L)}, bits(-7L)},
          {"abs.s32", {bits(-7)}, bits(7)}});
}

TEST(Instructions, OfBits) {
  expect({{"and.b64", {0xf0f0, 0xff00}, 0xf000},
          {"and.b32", {0xf0f0, 0xff00}, 0xf000},
          {"and.b16", {0xf0f0, 0xff00}, 0xf000},
          {"or.b64", {0xf0f0, 0xff00}, 0xfff0},
          {"or.b32", {0xf0f0, 0xff00}, 0xfff0},
          {"xor.b32", {0xf0f0, 0xff00}, 0x0ff0},
          {"not.b64", {0}, bits(-1L)},
          {"not.b32", {0}, low},
          {"shl.b64", {3, 40}, std::uint64_t{3} << 40},
          {"shl.b64", {3, 64}, 0},
          {"shl.b32", {3, 31}, std::uint64_t{1} << 31},
          {"shl.b32", {3, 32}, 0},
          {"shr.u64", {bits(-1L), 60}, 15},
          {"shr.u32", {bits(-1), 28}, 15},
          {"shr.u32", {bits(-1), 40}, 0},
          {"shr.s64", {bits(-16L), 2}, bits(-4L)},
          {"shr.s64", {bits(-16L), 70}, bits(-1L)},
          {"shr.s32", {bits(-16), 2}, bits(-4)},
          {"mov.u64", {7}, 7},
          {"mov.b64", {7}, 7},
          {"mov.f64", {bits(0.5)}, bits(0.5)},
          {"mov.b32", {bits(-7L)}, bits(-7)},
          {"mov.u32", {bits(-7L)}, bits(-7)},
          {"mov.u16", {bits(-7L)}, 0xfff9},
          {"mov.b64", {1, 2}, 0x200000001},
          {"cvta.to.global.u64", {7}, 7}});
}

TEST(Instructions, OfNumbers) {
  const double third = 1.0 / 3;
  expect({{"add.f64", {bits(0.1), bits(0.2)}, bits(0.1 + 0.2)},
          {"add.rn.f64", {bits(0.1), bits(0.2)}, bits(0.1 + 0.2)},
          {"sub.f64", {bits(0.1), bits(0.2)}, bits(0.1 - 0.2)},
          {"mul.f64", {bits(0.1), bits(0.2)}, bits(0.1 * 0.2)},
          {"mul.rn.f64", {bits(0.1), bits(0.2)}, bits(0.1 * 0.2)},
          {"div.rn.f64", {bits(1.0), bits(3.0)}, bits(third)},
          {"rcp.rn.f64", {bits(3.0)}, bits(third)},
          {"sqrt.rn.f64", {bits(2.0)}, bits(std::sqrt(2.0))},
          {"fma.rn.f64", {bits(third), bits(3.0), bits(-1.0)}, bits(std::fma(third, 3.0, -1.0))},
          {"neg.f64", {bits(0.0)}, bits(-0.0)},
          {"abs.f64", {bits(-0.5)}, bits(0.5)},
          {"abs.f32", {bits(-0.5F)}, bits(0.5F)},
          {"min.f64", {bits(nan), bits(1.0)}, bits(1.0)},
          {"max.f64", {bits(-1.0), bits(1.0)}, bits(1.0)},
          {"mul.f32", {bits(0.1F), bits(0.2F)}, bits(0.1F * 0.2F)}});
}

TEST(Instructions, Convert) {
  expect({{"cvt.u32.u64", {bits(-1L)}, low},
          {"cvt.u64.u32", {bits(-1)}, low},
          {"cvt.s64.s32", {bits(-1)}, bits(-1L)},
          {"cvt.u16.u32", {0x12345}, 0x2345},
          {"cvt.rn.f64.s64", {bits(-3L)}, bits(-3.0)},
          {"cvt.rn.f64.s32", {bits(-3)}, bits(-3.0)},
          {"cvt.f64.f32", {bits(0.1F)}, bits(static_cast<double>(0.1F))},
          {"cvt.rn.f32.f64", {bits(0.1)}, bits(0.1F)},
          {"cvt.rzi.s32.f64", {bits(-3.7)}, bits(-3)},
          {"cvt.rzi.s32.f64", {bits(1e12)}, bits(std::numeric_limits<int>::max())},
          {"cvt.rzi.s32.f64", {bits(-1e12)}, bits(std::numeric_limits<int>::min())},
          {"cvt.rzi.s32.f64", {bits(nan)}, 0},
          {"cvt.rni.f64.f64", {bits(2.5)}, bits(2.0)},
          {"cvt.rni.f64.f64", {bits(-1.5)}, bits(-2.0)},
          {"cvt.rmi.f64.f64", {bits(-1.5)}, bits(-2.0)},
          {"cvt.rmi.f64.f64", {bits(1.9)}, bits(1.0)},
          {"cvt.rpi.f64.f64", {bits(-1.5)}, bits(-1.0)},
          {"cvt.rpi.f64.f64", {bits(1.1)}, bits(2.0)},
          {"cvt.rzi.s64.f64", {bits(-1e12 - 0.5)}, bits(-1000000000000L)},
          {"cvt.rzi.s64.f64", {bits(1e300)}, bits(std::numeric_limits<long>::max())}});
}

TEST(Instructions, Compare) {
  const std::uint64_t minus = bits(-1L);
  const std::uint64_t minus_32 = bits(-1);
  expect({{"setp.lt.s64", {minus, 1}, 1},
          {"setp.lt.u64", {minus, 1}, 0},
          {"setp.le.s64", {1, 1}, 1},
          {"setp.gt.s64", {minus, 1}, 0},
          {"setp.ge.s64", {1, minus}, 1},
          {"setp.eq.s64", {1, 1}, 1},
          {"setp.eq.b64", {1, 2}, 0},
          {"setp.ne.s64", {1, 2}, 1},
          {"setp.lt.s32", {minus_32, 1}, 1},
          {"setp.lt.u32", {minus_32, 1}, 0},
          {"setp.gt.u32", {minus_32, 1}, 1},
          {"setp.gt.s32", {minus_32, 1}, 0},
          {"setp.le.s32", {minus_32, 1}, 1},
          {"setp.ge.s32", {1, 1}, 1},
          {"setp.eq.s32", {1, 1}, 1},
          {"setp.eq.b32", {1, 1}, 1},
          {"setp.ne.s32", {1, 1}, 0},
          {"setp.eq.s16", {0x10001, 1}, 1},
          {"setp.ne.s16", {2, 1}, 1},
          {"setp.lt.f64", {bits(-1.0), bits(1.0)}, 1},
          {"setp.lt.f64", {bits(nan), bits(1.0)}, 0},
          {"setp.le.f64", {bits(1.0), bits(1.0)}, 1},
          {"setp.le.f64", {bits(2.0), bits(1.0)}, 0},
          {"setp.le.f64", {bits(nan), bits(1.0)}, 0},
          {"setp.ge.f64", {bits(1.0), bits(1.0)}, 1},
          {"setp.ge.f64", {bits(nan), bits(1.0)}, 0},
          {"setp.ltu.f64", {bits(nan), bits(1.0)}, 1},
          {"setp.ltu.f64", {bits(1.0), bits(1.0)}, 0},
          {"setp.gt.f64", {bits(infinite), bits(1.0)}, 1},
          {"setp.eq.f64", {bits(0.0), bits(-0.0)}, 1},
          {"setp.eq.f64", {bits(nan), bits(nan)}, 0},
          {"setp.leu.f64", {bits(nan), bits(1.0)}, 1},
          {"setp.leu.f64", {bits(2.0), bits(1.0)}, 0},
          {"setp.gtu.f64", {bits(nan), bits(1.0)}, 1},
          {"setp.gtu.f64", {bits(1.0), bits(1.0)}, 0},
          {"setp.geu.f64", {bits(nan), bits(1.0)}, 1},
          {"setp.geu.f64", {bits(1.0), bits(1.0)}, 1},
          {"setp.geu.f64", {bits(1.0), bits(2.0)}, 0},
          {"setp.lt.f32", {bits(1.0F), bits(2.0F)}, 1},
          {"setp.geu.f32", {bits(nan_f), bits(2.0F)}, 1},
          {"setp.geu.f32", {bits(1.0F), bits(2.0F)}, 0}});
}

/// Stores %d of every thread behind statements.
std::vector<std::uint64_t> values_of(const std::string& statements) {
  const Result result =
      run(statements + "st.global.u64 [%mine], %d;", std::vector<std::uint64_t>(n_lanes, 0));
  EXPECT_TRUE(result.findings.empty());
  return result.numbers;
}

TEST(Instructions, SelectAndCombinePredicates) {
  const auto odd = [](const std::string& use) {
    return values_of("and.b32 %a, %n0, 1; setp.eq.s32 %p, %a, 1; setp.lt.u32 %q, %n0, 4;" + use);
  };
  EXPECT_EQ(odd("selp.b64 %d, 5, 6, %p;")[3], 5U);
  EXPECT_EQ(odd("selp.f64 %d, 0d3ff0000000000000, %n1, %p;")[2], 16U);
  EXPECT_EQ(odd("selp.b32 %d, 5, 6, %p;")[2], 6U);
  EXPECT_EQ(odd("selp.u32 %d, 5, 6, %p;")[3], 5U);
  EXPECT_EQ(odd("selp.u64 %d, 5, 6, %p;")[2], 6U);
  EXPECT_EQ(odd("selp.u16 %d, 5, 6, %p;")[3], 5U);
  EXPECT_EQ(odd("and.pred %p, %p, %q; selp.b64 %d, 5, 6, %p;")[5], 6U);
  EXPECT_EQ(odd("or.pred %p, %p, %q; selp.b64 %d, 5, 6, %p;")[2], 5U);
  EXPECT_EQ(odd("xor.pred %p, %p, %q; selp.b64 %d, 5, 6, %p;")[3], 6U);
  EXPECT_EQ(odd("not.pred %p, %p; selp.b64 %d, 5, 6, %p;")[3], 6U);
  EXPECT_EQ(odd("mov.pred %p, %q; selp.b64 %d, 5, 6, %p;")[2], 5U);
  EXPECT_EQ(odd("mov.pred %p, -1; selp.b64 %d, 5, 6, %p;")[9], 5U);
  EXPECT_EQ(odd("mov.u64 %d, 6; @%p mov.u64 %d, 5;")[3], 5U);
  EXPECT_EQ(odd("mov.u64 %d, 6; @!%p mov.u64 %d, 5;")[3], 6U);
}

TEST(Instructions, BranchWithLanesApart) {
  const std::vector<std::uint64_t> sums = values_of(
      "mov.u64 %d, 0; mov.u32 %a, 0; L: setp.ge.u32 %p, %a, %n0; @%p bra E;"
      "add.s64 %d, %d, %a; add.s32 %a, %a, 1; bra.uni L; E: add.s64 %d, %d, 100;");
  for (std::uint64_t lane = 0; lane < n_lanes; ++lane)
    EXPECT_EQ(sums[lane], 100 + lane * (lane - 1) / 2) << lane;
}

TEST(Instructions, ShuffleBetweenLanes) {
  const auto shuffled = [](const std::string& how) {
    return values_of("shfl.sync." + how + ", -1;");
  };
  EXPECT_EQ(shuffled("bfly.b32 %d|%p, %n0, 5, 31")[6], 3U);
  EXPECT_EQ(shuffled("down.b32 %d|%p, %n0, 2, 31")[29], 31U);
  EXPECT_EQ(shuffled("down.b32 %d|%p, %n0, 2, 31")[30], 30U);
  EXPECT_EQ(shuffled("up.b32 %d|%p, %n0, 2, 0")[29], 27U);
  EXPECT_EQ(shuffled("up.b32 %d|%p, %n0, 2, 0")[1], 1U);
  EXPECT_EQ(shuffled("idx.b32 %d|%p, %n0, 7, 31")[29], 7U);
  // Segments of 8 lanes.
  EXPECT_EQ(shuffled("idx.b32 %d|%p, %n0, 7, 6175")[29], 31U);
}

TEST(Instructions, Vote) {
  const auto votes = [](const std::string& how, int first) {
    return values_of("setp.ge.u32 %p, %n0, " + std::to_string(first) + "; vote.sync." + how +
                     ".pred %q, %p, -1; selp.b64 %d, 1, 0, %q;")[0];
  };
  EXPECT_EQ(votes("any", 31), 1U);
  EXPECT_EQ(votes("any", 32), 0U);
  EXPECT_EQ(votes("all", 0), 1U);
  EXPECT_EQ(votes("all", 1), 0U);
}

TEST(Instructions, MultiplyMatrices) {
  // A[i][j] = i + 10 j, B[j][i] = j - 2 i, in lane 4 i + j; C = 1.
  const std::vector<std::uint64_t> numbers = values_of(
      "shr.u32 %a, %n0, 2; and.b32 %b, %n0, 3; cvt.rn.f64.u32 %a, %a; cvt.rn.f64.u32 %b, %b;"
      "fma.rn.f64 %c, %b, 0d4024000000000000, %a; fma.rn.f64 %e, %a, 0dc000000000000000, %b;"
      "mov.f64 %f, 0d3ff0000000000000; mov.f64 %g, %f;"
      "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%f, %d}, {%c}, {%e}, {%f, %g};");
  for (int lane = 0; lane < n_lanes; ++lane) {
    const int row = lane / 4;
    const int column = 2 * (lane % 4) + 1;
    double sum = 1;
    for (int k = 0; k < 4; ++k) sum += (row + 10.0 * k) * (k - 2.0 * column);
    EXPECT_EQ(numbers[static_cast<std::size_t>(lane)], bits(sum)) << lane;
  }
}

TEST(Instructions, LoadAndStoreVectors) {
  EXPECT_EQ(values_of("and.b32 %a, %n0, 1; setp.eq.s32 %p, %a, 0; mov.u64 %d, 0; @!%p bra E;"
                      "mov.u64 %b, 3; mov.u64 %c, 4; st.global.v2.u64 [%mine], {%b, %c};"
                      "ld.global.v2.f64 {%e, %f}, [%mine]; add.s64 %d, %e, %f; E: bar.sync 0;")[2],
            7U);
  const std::string own = "mul.wide.u32 %a, %n0, 16; and.b64 %a, %a, 1008; cvt.u32.u64 %a, %a;";
  EXPECT_EQ(
      values_of(own + "mov.u32 %b, -1; mov.u32 %c, 2; st.shared.v4.u32 [%a], {%b, %c, %b, %c};"
                      "ld.shared.v4.u32 {%d, %e, %f, %g}, [%a]; add.s64 %d, %d, %g;")[1],
      low + 2);
  EXPECT_EQ(values_of(own + "mov.u32 %b, -1; st.shared.u32 [%a], %b; ld.shared.s32 %d, [%a];"
                            "cvt.s64.s32 %d, %d;")[1],
            bits(-1L));
  EXPECT_EQ(values_of("ld.param.u64 %d, [data]; sub.s64 %d, %d, %data;")[0], 0U);
  EXPECT_EQ(values_of("ld.param.u8 %d, [data+1]; shr.u64 %a, %data, 8; and.b64 %a, %a, 255;"
                      "sub.s64 %d, %d, %a;")[0],
            0U);
}

/// Two numbers of which no two parts are equal.
constexpr std::uint64_t one = 0x8899aabbccddeeff;
constexpr std::uint64_t other = 0x0011223344556677;

/// Returns the numbers that statements left behind one and other, in 16 bytes at [%data+16].
std::pair<std::uint64_t, std::uint64_t> moved(const std::string& statements) {
  const Result result = run(statements, {one, other, 0, 0}, 1);
  EXPECT_TRUE(result.findings.empty()) << statements;
  return {result.numbers[2], result.numbers[3]};
}

TEST(Instructions, LoadAndStoreEveryWidth) {
  const std::pair both{one, other};
  for (const std::string type : {"f64", "u64"}) {
    for (const std::string space : {".global", ".shared", ""}) {
      const std::string there = space == ".shared" ? "mov.u64 %a, 64;" : "add.s64 %a, %data, 16;";
      const std::string back = space == ".shared" ? "ld.shared.v2." + type +
                                                        " {%d, %e}, [%a];"
                                                        "st.global.v2." +
                                                        type + " [%data+16], {%d, %e};"
                                                  : "";
      if (space.empty() && type == "u64") continue;
      EXPECT_EQ(moved("ld.global.v2." + type + " {%b, %c}, [%data];" + there + "st" + space +
                      ".v2." + type + " [%a], {%b, %c};" + back),
                both);
    }
    EXPECT_EQ(
        moved("ld.global." + type + " %b, [%data]; mov.u64 %a, 64; st.shared." + type +
              " [%a], %b; ld.shared." + type + " %c, [%a]; st.global." + type + " [%data+24], %c;"),
        std::pair(std::uint64_t{0}, one));
  }
  EXPECT_EQ(moved("ld.v2.f64 {%b, %c}, [%data]; st.v2.f64 [%data+16], {%b, %c};"), both);
  EXPECT_EQ(moved("ld.global.v4.u32 {%a, %b, %c, %d}, [%data];"
                  "st.global.v4.u32 [%data+16], {%a, %b, %c, %d};"),
            both);
  EXPECT_EQ(moved("ld.global.v2.f32 {%a, %b}, [%data]; st.global.v2.f32 [%data+16], {%a, %b};"),
            std::pair(one, std::uint64_t{0}));
  EXPECT_EQ(moved("ld.global.u8 %a, [%data+1]; st.global.u64 [%data+16], %a;").first, 0xee);
  EXPECT_EQ(moved("ld.global.v2.u8 {%b, %c}, [%data+2]; st.global.v2.u64 [%data+16], {%b, %c};"),
            std::pair(std::uint64_t{0xdd}, std::uint64_t{0xcc}));
  EXPECT_EQ(moved("ld.global.v2.u32 {%a, %b}, [%data]; mov.b64 %d, {%a, %b};"
                  "st.global.u64 [%data+16], %d;"),
            std::pair(one, std::uint64_t{0}));
  EXPECT_EQ(moved("ld.global.f32 %a, [%data+4]; st.global.f32 [%data+16], %a;").first, one >> 32);
  EXPECT_EQ(
      moved("ld.global.u32 %a, [%data]; cvt.u64.u32 %a, %a; st.global.u64 [%data+16], %a;").first,
      one & low);
  EXPECT_EQ(
      moved("ld.global.s32 %a, [%data]; cvt.s64.s32 %a, %a; st.global.u64 [%data+16], %a;").first,
      (one & low) | ~low);
  // To registers of both widths.
  EXPECT_EQ(moved("ld.global.s32 %a, [%data]; st.global.u64 [%data+16], %a;").first,
            (one & low) | ~low);
  EXPECT_EQ(moved("{ .reg .b32 %narrow; ld.global.s32 %narrow, [%data]; mov.b64 %a, {%narrow, "
                  "%narrow}; st.global.u64 [%data+16], %a; }")
                .first,
            (one & low) | one << 32);
  EXPECT_EQ(moved("ld.global.f64 %b, [%data]; mov.u64 %a, 64; st.shared.u64 [%a], %b;"
                  "ld.shared.u32 %c, [%a+4]; st.global.u32 [%data+16], %c;")
                .first,
            one >> 32);
}

TEST(Instructions, LoadParametersOfEveryWidth) {
  // The parameter is the address of the numbers.
  const auto difference = [](const std::string& load) {
    return moved(load + "sub.s64 %d, %d, %data; st.global.u64 [%data+16], %d;").first;
  };
  EXPECT_EQ(difference("ld.param.f64 %d, [data];"), 0U);
  EXPECT_EQ(difference("ld.param.v2.u32 {%a, %b}, [data]; mov.b64 %d, {%a, %b};"), 0U);
  // The second and third byte of a number, in their places.
  EXPECT_EQ(values_of("ld.param.v2.u8 {%a, %b}, [data+2]; shl.b64 %b, %b, 8; or.b64 %d, %a, %b; "
                      "shr.u64 %a, %data, 16; and.b64 %a, %a, 65535; sub.s64 %d, %d, %a;")[0],
            0U);
  EXPECT_EQ(difference("ld.param.u32 %a, [data]; ld.param.s32 %b, [data+4]; mov.b64 %d, {%a, %b};"),
            0U);
}

TEST(Instructions, UnpackNumbers) {
  EXPECT_EQ(values_of("mov.u64 %a, 0x500000007; mov.b64 {%b, %c}, %a; sub.s64 %d, %b, %c;")[0], 2U);
}

}  // namespace
}  // namespace softdevice::test
