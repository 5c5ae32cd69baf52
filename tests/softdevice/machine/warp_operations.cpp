// SPDX-License-Identifier: GPL-3.0-or-later
// Instructions that lanes of a warp do together: PTX ISA, sections 9.7.9.6, 9.7.13 and 9.7.15.
#include <cmath>
#include <cstring>

#include "softdevice/machine/meanings.hpp"
#include "softdevice/machine/warp.hpp"

namespace softdevice {
namespace {

double number(const Row& row, std::size_t lane) { return std::bit_cast<double>(row[lane]); }

/// Values of other lanes, by a function (lane, b, c) of the lane they come from; c as the
/// instruction has it: the last lane, and in bits 8 to 12 the lanes that form a segment.
template <auto source>
void shuffle(Warp& warp, const Instruction& in, Lanes lanes) {
  const Row a = warp.row(in.operands[2]);
  const Lanes unknown = warp.undefined(in.operands[2]);
  const Row& b = warp.row(in.operands[3]);
  const Row& c = warp.row(in.operands[4]);
  Row& to = warp.row(in.operands[0]);
  Lanes truth = 0;
  Lanes undefined = 0;
  for_each_lane(lanes, [&](int l) {
    const auto lane = static_cast<std::uint32_t>(l);
    const auto segment = static_cast<std::uint32_t>(c[lane]) >> 8 & 31U;
    const auto clamp = static_cast<std::uint32_t>(c[lane]) & 31U;
    const std::uint32_t last = (lane & segment) | (clamp & ~segment);
    const std::uint32_t first = lane & segment;
    std::uint32_t from = lane;
    const bool is_there =
        source(lane, static_cast<std::uint32_t>(b[lane]) & 31U, first, last, from);
    if (!is_there) from = lane;
    truth |= static_cast<Lanes>(is_there) << lane;
    to[lane] = a[from];
    if ((lanes >> from & 1U) == 0 || (unknown >> from & 1U) != 0) undefined |= Lanes{1} << lane;
  });
  Lanes& of_row = warp.undefined(in.operands[0]);
  of_row = (of_row & ~lanes) | undefined;
  Lanes& predicate = warp.predicate(in.operands[1]);
  predicate = (predicate & ~lanes) | truth;
  warp.undefined_predicate(in.operands[1]) &= ~lanes;
}

constexpr auto butterfly = [](std::uint32_t lane, std::uint32_t b, std::uint32_t,
                              std::uint32_t last, std::uint32_t& from) {
  from = lane ^ b;
  return from <= last;
};
constexpr auto downwards = [](std::uint32_t lane, std::uint32_t b, std::uint32_t,
                              std::uint32_t last, std::uint32_t& from) {
  from = lane + b;
  return from <= last;
};
constexpr auto upwards = [](std::uint32_t lane, std::uint32_t b, std::uint32_t, std::uint32_t last,
                            std::uint32_t& from) {
  from = lane - b;
  return lane >= b && from >= last;
};
constexpr auto indexed = [](std::uint32_t, std::uint32_t b, std::uint32_t first, std::uint32_t last,
                            std::uint32_t& from) {
  from = first | b;
  return from <= last;
};

/// Returns whether some (any) or no (all, of the opposite) lane has a truth that is known.
template <bool any>
void vote(Warp& warp, const Instruction& in, Lanes lanes) {
  const Lanes unknown = warp.undefined_predicate(in.operands[1]) & lanes;
  const Lanes votes =
      (any ? warp.predicate(in.operands[1]) : ~warp.predicate(in.operands[1])) & lanes & ~unknown;
  const bool is_found = votes != 0;
  Lanes& predicate = warp.predicate(in.operands[0]);
  predicate = (predicate & ~lanes) | (is_found == any ? lanes : 0U);
  Lanes& undefined = warp.undefined_predicate(in.operands[0]);
  undefined = (undefined & ~lanes) | (!is_found && unknown != 0 ? lanes : 0U);
}

/// D = A B + C of 8 x 4 and 4 x 8 numbers. Lane 4 i + j has A[i][j], B[j][i], and of C and D the
/// entries [i][2 j] and [i][2 j + 1]. Products are added in ascending order of the inner index.
void multiply_matrices(Warp& warp, const Instruction& in, Lanes) {
  const Row a = warp.row(in.operands[2]);
  const Row b = warp.row(in.operands[3]);
  const std::array<Row, 2> c{warp.row(in.operands[4]), warp.row(in.operands[5])};
  const Lanes unknown = warp.undefined(in.operands[2]);
  const Lanes unknown_b = warp.undefined(in.operands[3]);
  const std::array<Lanes, 2> unknown_c{warp.undefined(in.operands[4]),
                                       warp.undefined(in.operands[5])};
  for (std::size_t part = 0; part < 2; ++part) {
    Row& d = warp.row(in.operands[part]);
    Lanes undefined = unknown_c[part];
    for (std::size_t lane = 0; lane < n_lanes; ++lane) {
      const std::size_t row = lane / 4;
      const std::size_t column = 2 * (lane % 4) + part;
      double sum = number(c[part], lane);
      for (std::size_t k = 0; k < 4; ++k) {
        sum = std::fma(number(a, 4 * row + k), number(b, 4 * column + k), sum);
        if ((unknown >> (4 * row + k) & 1U) != 0 || (unknown_b >> (4 * column + k) & 1U) != 0)
          undefined |= Lanes{1} << lane;
      }
      d[lane] = std::bit_cast<std::uint64_t>(sum);
    }
    warp.undefined(in.operands[part]) = undefined;
  }
}

void nothing(Warp&, const Instruction&, Lanes) {}
void synchronize_warp(Warp& warp, const Instruction&, Lanes) { warp.begin_epoch(); }

}  // namespace

std::unordered_map<std::string, Meaning> warp_meanings() {
  std::unordered_map<std::string, Meaning> table;
  for (const char* opcode : {"bra", "bra.uni"})
    table[opcode] = {nothing, Flow::branch, Pipe::control, ""};
  for (const char* opcode : {"ret", "exit"})
    table[opcode] = {nothing, Flow::exit, Pipe::control, ""};
  table["bar.sync"] = {nothing, Flow::barrier, Pipe::control, "I"};
  const auto together = [&](const std::string& opcode, Handler handler, Pipe pipe,
                            const std::string& operands, std::uint32_t members) {
    table[opcode] = {handler, Flow::collective, pipe, operands, members};
  };
  together("bar.warp.sync", synchronize_warp, Pipe::control, "R", 0);
  together("shfl.sync.bfly.b32", shuffle<butterfly>, Pipe::memory, "rpRRRR", 5);
  together("shfl.sync.down.b32", shuffle<downwards>, Pipe::memory, "rpRRRR", 5);
  together("shfl.sync.up.b32", shuffle<upwards>, Pipe::memory, "rpRRRR", 5);
  together("shfl.sync.idx.b32", shuffle<indexed>, Pipe::memory, "rpRRRR", 5);
  together("vote.sync.any.pred", vote<true>, Pipe::integer, "pPR", 2);
  together("vote.sync.all.pred", vote<false>, Pipe::integer, "pPR", 2);
  together("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64", multiply_matrices, Pipe::matrix64,
           "rrRRRR", whole_warp);
  return table;
}

}  // namespace softdevice
