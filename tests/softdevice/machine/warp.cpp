// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/machine/warp.hpp"

#include <algorithm>
#include <limits>

#include "softdevice/machine/block.hpp"

namespace softdevice {

Warp::Warp(Block& block, const Program& program, int first_thread)
    : block_(block),
      program_(program),
      first_thread_(first_thread),
      rows_(program.n_rows),
      undefined_(program.n_rows),
      predicates_(program.n_predicates),
      undefined_predicates_(program.n_predicates) {}

void Warp::begin(std::uint32_t block_index, std::uint32_t n_blocks, int n_threads) {
  std::fill(undefined_.begin(), undefined_.end(), all_lanes);
  std::fill(undefined_predicates_.begin(), undefined_predicates_.end(), all_lanes);
  const auto define = [&](std::uint32_t index, auto value) {
    for (std::size_t lane = 0; lane < n_lanes; ++lane) rows_[index][lane] = value(lane);
    undefined_[index] = 0;
  };
  const auto threads = static_cast<std::uint64_t>(n_threads);
  define(ptx::tid_x,
         [&](std::size_t lane) { return static_cast<std::uint64_t>(first_thread_) + lane; });
  define(ptx::ntid_x, [&](std::size_t) { return threads; });
  define(ptx::ctaid_x, [&](std::size_t) { return std::uint64_t{block_index}; });
  define(ptx::nctaid_x, [&](std::size_t) { return std::uint64_t{n_blocks}; });
  define(ptx::laneid, [&](std::size_t lane) { return std::uint64_t{lane}; });
  for (const auto& [row, value] : program_.constants)
    define(row, [v = value](std::size_t) { return v; });
  for (const auto& [predicate, value] : program_.constant_predicates) {
    predicates_[predicate] = value ? all_lanes : 0;
    undefined_predicates_[predicate] = 0;
  }
  pc_.fill(0);
  for (AsyncCopies& copies : copies_) copies = {};
  const int n = std::min(n_threads - first_thread_, n_lanes);
  running_ = n == n_lanes ? all_lanes : (Lanes{1} << n) - 1;
  at_barrier_ = at_collective_ = 0;
  epoch_ = 0;
}

void Warp::tell(const std::string& kind, int lane) const {
  block_.tell(kind, first_thread_ + lane, current_->line);
}

/// Returns the ready lanes that are furthest behind, or any group of them.
Lanes Warp::choose() {
  const Lanes ready = running_ & ~at_barrier_ & ~at_collective_;
  std::uint32_t chosen = std::numeric_limits<std::uint32_t>::max();
  if (std::mt19937_64* random = block_.random()) {
    int number = static_cast<int>((*random)() % static_cast<std::uint64_t>(std::popcount(ready)));
    for_each_lane(ready, [&](int lane) {
      if (number-- == 0) chosen = pc_[static_cast<std::size_t>(lane)];
    });
  } else {
    for_each_lane(
        ready, [&](int lane) { chosen = std::min(chosen, pc_[static_cast<std::size_t>(lane)]); });
  }
  Lanes lanes = 0;
  for_each_lane(ready, [&](int lane) {
    if (pc_[static_cast<std::size_t>(lane)] == chosen) lanes |= Lanes{1} << lane;
  });
  return lanes;
}

Lanes Warp::guarded(const Instruction& in, Lanes lanes) {
  if (in.guard == ptx::no_register) return lanes;
  const Lanes unknown = undefined_predicates_[in.guard] & lanes;
  if (unknown != 0) tell("branch or guard by an undefined value", std::countr_zero(unknown));
  return lanes & (in.guard_is_negated ? ~predicates_[in.guard] : predicates_[in.guard]);
}

void Warp::set_pc(Lanes lanes, std::uint32_t pc) {
  for_each_lane(lanes, [&](int lane) { pc_[static_cast<std::size_t>(lane)] = pc; });
}

Lanes Warp::members(const Instruction& in, Lanes lanes) const {
  if (in.target == whole_warp) return all_lanes;
  const auto first = static_cast<std::size_t>(std::countr_zero(lanes));
  return static_cast<Lanes>(rows_[in.operands[in.target]][first]);
}

/// Returns the lanes that do a collective instruction now, none while others must come first.
Lanes Warp::gather(const Instruction& in, std::uint32_t pc, Lanes lanes) {
  Lanes here = lanes;
  for_each_lane(at_collective_, [&](int lane) {
    if (pc_[static_cast<std::size_t>(lane)] == pc) here |= Lanes{1} << lane;
  });
  const Lanes wanted = members(in, lanes);
  if ((wanted & ~running_) != 0)
    tell("a lane of the member mask has ended", std::countr_zero(lanes));
  if ((wanted & running_ & ~here) != 0) {
    at_collective_ |= lanes;
    return 0;
  }
  at_collective_ &= ~here;
  return here;
}

void Warp::run_group(Lanes lanes) {
  std::uint32_t pc = pc_[static_cast<std::size_t>(std::countr_zero(lanes))];
  // Where the next group waits to be joined.
  std::uint32_t join = std::numeric_limits<std::uint32_t>::max();
  std::mt19937_64* random = block_.random();
  for_each_lane(running_ & ~at_barrier_ & ~at_collective_ & ~lanes,
                [&](int lane) { join = std::min(join, pc_[static_cast<std::size_t>(lane)]); });
  std::uint64_t slice =
      random == nullptr ? std::numeric_limits<std::uint64_t>::max() : 1 + (*random)() % 50;
  LaunchCounts& counts = block_.counts();
  for (; slice > 0 && !block_.has_failed(); --slice) {
    const Instruction& in = program_.code[pc];
    current_ = &in;
    block_.step(pc);
    Lanes active = guarded(in, lanes);
    ++counts.instructions[static_cast<std::size_t>(in.pipe)];
    counts.lanes += static_cast<std::uint64_t>(std::popcount(active));
    switch (in.flow) {
      case Flow::next:
        if (active != 0) in.execute(*this, in, active);
        ++pc;
        break;
      case Flow::branch:
        if (active != 0 && active != lanes) {
          set_pc(lanes & ~active, pc + 1);
          set_pc(active, in.target);
          return;
        }
        pc = active != 0 ? in.target : pc + 1;
        break;
      case Flow::exit:
        running_ &= ~active;
        lanes &= ~active;
        if (lanes == 0) return;
        ++pc;
        break;
      case Flow::barrier:
        set_pc(lanes & ~active, pc + 1);
        set_pc(active, pc);
        at_barrier_ |= active;
        return;
      case Flow::collective: {
        set_pc(lanes & ~active, pc + 1);
        set_pc(active, pc);
        const Lanes here = active == 0 ? 0 : gather(in, pc, active);
        if (here == 0) return;
        in.execute(*this, in, here);
        if (here != lanes) {
          set_pc(here, pc + 1);
          return;
        }
        ++pc;
        break;
      }
    }
    if (pc >= join) break;
  }
  set_pc(lanes, pc);
}

void Warp::run() {
  while ((running_ & ~at_barrier_) != 0 && !block_.has_failed()) {
    if ((running_ & ~at_barrier_ & ~at_collective_) == 0) {
      current_ = &program_.code[pc_[static_cast<std::size_t>(std::countr_zero(at_collective_))]];
      tell("lanes wait for each other", std::countr_zero(at_collective_));
      block_.fail(Failure::deadlock);
      return;
    }
    run_group(choose());
    if (block_.random() != nullptr && (*block_.random())() % 4 == 0) return;
  }
}

void Warp::leave_barrier(std::uint32_t barrier) {
  for_each_lane(at_barrier_, [&](int lane) {
    std::uint32_t& pc = pc_[static_cast<std::size_t>(lane)];
    current_ = &program_.code[pc];
    if (pc != barrier) tell("threads wait at different barriers", lane);
    ++pc;
  });
  at_barrier_ = 0;
}

}  // namespace softdevice
