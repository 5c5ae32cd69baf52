// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <thread>

#include "base/checked_cast.hpp"
#include "support/emulated_block.hpp"

namespace ringweave::detail::gpu {

/// Lets one warp of a block run at a time, until it meets a barrier or ends.
class WarpTurns {
 public:
  /// Blocks alternate between starting with the first warp and with the last.
  explicit WarpTurns(std::int64_t block) : turn_(block % 2 == 0 ? 0 : block_warps) {}
  /// Waits for the first turn of a warp.
  void enter(int warp) { wait(warp); }
  /// Lets the other warps reach the barrier, and returns when all have.
  void pass_barrier(int warp) {
    ++n_barriers_[to_size(warp)];
    next();
    wait(warp);
  }
  void leave(int warp) {
    {
      const std::lock_guard lock(mutex_);
      gone_[to_size(warp)] = true;
    }
    next();
  }
  /// Tells whether all warps met equally many barriers.
  bool agree() const {
    for (const int count : n_barriers_) {
      if (count != n_barriers_[0]) return false;
    }
    return true;
  }

 private:
  void wait(int warp) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return running() == warp; });
  }
  /// Runs every warp once between two barriers, in an order that changes from barrier to barrier.
  int running() const {
    const int place = turn_ % block_warps;
    return turn_ / block_warps % 2 == 0 ? place : block_warps - 1 - place;
  }
  void next() {
    {
      const std::lock_guard lock(mutex_);
      ++turn_;
      for (int i = 0; i < 2 * block_warps && gone_[to_size(running())]; ++i) ++turn_;
    }
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int turn_;
  std::array<bool, std::size_t{block_warps}> gone_{};
  std::array<int, std::size_t{block_warps}> n_barriers_{};
};

/// A thread block whose warps run ahead of each other as far as barriers allow: with a missing
/// barrier a warp reads values not yet written, or overwrites values not yet read.
class WarpwiseBlock {
 public:
  WarpwiseBlock(std::int64_t index, int warp, WarpTurns& turns)
      : whole_(index), warp_(warp), turns_(&turns) {}

  template <class T>
  using PerThread = EmulatedBlock::PerThread<T>;

  std::int64_t index() const { return whole_.index(); }

  template <class Work>
  void each(const Work& work) const {
    whole_.each([&](int thread) {
      if (thread / warp_lanes == warp_) work(thread);
    });
  }
  void sync() const { turns_->pass_barrier(warp_); }

  void copy_ahead(Double2* to, const Double2* from) const { whole_.copy_ahead(to, from); }
  void commit_copies() const { whole_.commit_copies(); }
  void wait_for_copies_but_last() const { whole_.wait_for_copies_but_last(); }

  // Other warps have values of their own.
  void any_in_warp(PerThread<bool>& flag) const {
    bool any = false;
    for (int lane = 0; lane < warp_lanes; ++lane) any = any || flag[first() + lane];
    for (int lane = 0; lane < warp_lanes; ++lane) flag[first() + lane] = any;
  }
  void all_in_warp(PerThread<bool>& flag) const {
    bool all = true;
    for (int lane = 0; lane < warp_lanes; ++lane) all = all && flag[first() + lane];
    for (int lane = 0; lane < warp_lanes; ++lane) flag[first() + lane] = all;
  }
  template <int N>
  void sum_lanes(PerThread<Array<double, N>>& values, PerThread<bool>& wanted) const {
    PerThread<bool> own = of_this_warp(wanted);
    whole_.sum_lanes<N>(values, own);
  }
  template <int N, int Stride, class Values>
  void transpose_lanes(PerThread<Values>& values, int begin, int step,
                       PerThread<bool>& wanted) const {
    PerThread<bool> own = of_this_warp(wanted);
    whole_.transpose_lanes<N, Stride>(values, begin, step, own);
  }
  template <class A, class B, class C>
  void multiply_add_8x8x4(PerThread<A>& a, int ia, PerThread<B>& b, int ib, PerThread<C>& c, int ic,
                          int ic_next, PerThread<bool>& wanted) const {
    PerThread<bool> own = of_this_warp(wanted);
    whole_.multiply_add_8x8x4(a, ia, b, ib, c, ic, ic_next, own);
  }

 private:
  PerThread<bool> of_this_warp(const PerThread<bool>& wanted) const {
    PerThread<bool> own;
    for (int thread = 0; thread < block_threads; ++thread) {
      own[thread] = thread / warp_lanes == warp_ && wanted[thread];
    }
    return own;
  }
  int first() const { return warp_ * warp_lanes; }

  EmulatedBlock whole_;
  int warp_;
  WarpTurns* turns_;
};

/// Runs launches on the host, one thread per warp.
class WarpwiseMachine : public EmulatedMachine {
 public:
  template <class Work>
  void launch(const Work& work, std::int64_t n_blocks) {
    for (std::int64_t i = 0; i < n_blocks; ++i) {
      const auto shared = std::make_unique<typename Work::Shared>();
      std::memset(static_cast<void*>(shared.get()), 0x7f, sizeof(typename Work::Shared));
      WarpTurns turns(i);
      std::array<std::thread, std::size_t{block_warps}> warps;
      for (int warp = 0; warp < block_warps; ++warp) {
        warps[to_size(warp)] = std::thread([&, warp] {
          turns.enter(warp);
          work(WarpwiseBlock(i, warp, turns), *shared);
          turns.leave(warp);
        });
      }
      for (std::thread& warp : warps) warp.join();
      barriers_agree = barriers_agree && turns.agree();
    }
  }
  bool barriers_agree = true;
};

}  // namespace ringweave::detail::gpu
