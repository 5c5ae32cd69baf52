// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/agree.hpp"
#include "distribute/communicator.hpp"
#include "distribute/device_route.hpp"
#include "distribute/exchange_plan.hpp"
#include "distribute/mode_alltoall.hpp"
#include "distribute/row_parts.hpp"

namespace ringweave {

/// One side of an exchange without what the rank owes itself: the blocks of the others moved
/// together, as staging buffers hold them.
class StagedSide {
 public:
  using Block = ExchangePlan::Block;

  StagedSide(const std::vector<Block>& blocks, int rank, std::int64_t positions)
      : own_begin_(blocks[to_size(rank)].first),
        own_end_(to_size(rank) + 1 < blocks.size() ? blocks[to_size(rank) + 1].first : positions),
        positions_(positions) {
    for (const Block& block : blocks) blocks_.push_back({staged(block.first), block.count});
    blocks_[to_size(rank)].count = 0;
  }

  const std::vector<Block>& blocks() const { return blocks_; }  ///< [peer], where they are staged
  std::int64_t positions() const { return positions_ - (own_end_ - own_begin_); }
  /// Where a position of another rank's block is staged.
  std::int64_t staged(std::int64_t position) const {
    return position < own_end_ ? position : position - (own_end_ - own_begin_);
  }
  /// What goes to others, as runs of positions.
  std::vector<Block> runs() const { return {{0, own_begin_}, {own_end_, positions_ - own_end_}}; }

 private:
  std::int64_t own_begin_;
  std::int64_t own_end_;
  std::int64_t positions_;
  std::vector<Block> blocks_;
};

/// The exchange where modes lie on a device: straight from there where MPI can, else through
/// staging buffers of the host. Then the rows are made, or used, in parts: one is copied while the
/// device works on another. What a rank owes itself never leaves the device.
///
/// Memory is the device as the exchange sees it; counts are of complex numbers. It has
///   Staging, stage(n)                      a buffer of n that MPI and copies reach: data()
///   down(from, to, n), up(from, to, n)     device to staging and back, beside the device's work
///   keep(from, to, n)                      on the device, in the order of its work
///   copies_follow_work()                   later copies wait for all work so far
///   work_follows_copies()                  later work waits for all copies so far
///   wait_for_copies(), wait_for_work()     until all is done; errors of the device come here
template <class Memory>
class StagedExchange {
 public:
  using Value = std::complex<double>;

  /// `parts` of plan.by_order. Collective. Error  as Exchange.
  StagedExchange(Communicator comm, const ExchangePlan& plan, std::vector<RowPart> parts,
                 std::int64_t n_components, DeviceRoute route, Memory& memory)
      : comm_(std::move(comm)),
        memory_(&memory),
        parts_(std::move(parts)),
        n_components_(n_components),
        route_(route),
        own_by_order_(plan.by_order_blocks.at(to_size(comm_.rank()))),
        own_by_ring_(plan.by_ring_blocks.at(to_size(comm_.rank()))),
        by_order_(plan.by_order_blocks, comm_.rank(), plan.by_order.size()),
        by_ring_(plan.by_ring_blocks, comm_.rank(), plan.by_ring.size()),
        alltoall_(comm_, is_staged() ? by_order_.blocks() : plan.by_order_blocks,
                  is_staged() ? by_ring_.blocks() : plan.by_ring_blocks, plan.block_positions,
                  n_components) {
    expect_fitting_plan(comm_, plan);
  }

  /// The staging buffers; nothing where there are none. Not collective.
  void allocate() {
    if (!is_staged() || allocated_) return;
    order_staging_ = memory_->stage(by_order_.positions() * n_components_);
    ring_staging_ = memory_->stage(by_ring_.positions() * n_components_);
    allocated_ = true;
  }
  void release() {
    order_staging_ = {};
    ring_staging_ = {};
    allocated_ = false;
  }

  /// make_rows(first, count) gives the device the work that makes these rows of by_order; what it
  /// throws all ranks throw. Modes by ring are there for later work of the device. `times` gets
  /// "legendre" and "exchange" and may be null. On one rank nothing is waited for. Collective.
  template <class MakeRows>
  void orders_to_rings(const MakeRows& make_rows, const Value* by_order, Value* by_ring,
                       StageTimes* times) {
    agree(comm_, [&] {
      const StageTimer timer(times, "legendre");
      allocate();
      for (const RowPart& part : parts_) {
        make_rows(part.first_row, part.n_rows);
        if (is_staged()) take_down(part, by_order);
      }
      keep_own(own_by_order_, by_order, own_by_ring_, by_ring);
      wait();
    });
    const StageTimer timer(times, "exchange");
    if (!is_staged()) return alltoall_.orders_to_rings(by_order, by_ring);
    alltoall_.orders_to_rings(order_staging_.data(), ring_staging_.data());
    agree(comm_, [&] {
      // What was given before may still read by_ring.
      memory_->copies_follow_work();
      for (const auto& [first, count] : by_ring_.runs())
        bring_up(ring_staging_, by_ring_, first, count, by_ring);
      memory_->work_follows_copies();
    });
  }

  /// The transpose: use_rows(first, count) gives the device the work on these rows. Modes by ring
  /// are made by earlier work of the device, whose time is "ring_fft". Collective.
  template <class UseRows>
  void rings_to_orders(const Value* by_ring, Value* by_order, const UseRows& use_rows,
                       StageTimes* times) {
    agree(comm_, [&] {
      const StageTimer timer(times, "ring_fft");
      allocate();
      if (is_staged()) {
        memory_->copies_follow_work();
        for (const auto& [first, count] : by_ring_.runs())
          take_down(by_ring_, first, count, by_ring, ring_staging_);
      }
      keep_own(own_by_ring_, by_ring, own_by_order_, by_order);
      wait();
    });
    {
      const StageTimer timer(times, "exchange");
      if (is_staged()) {
        alltoall_.rings_to_orders(ring_staging_.data(), order_staging_.data());
      } else {
        alltoall_.rings_to_orders(by_ring, by_order);
      }
    }
    const StageTimer timer(times, "legendre");
    agree(comm_, [&] {
      for (const RowPart& part : parts_) {
        if (is_staged()) bring_up(part, by_order);
        use_rows(part.first_row, part.n_rows);
      }
    });
  }

  /// Of staging buffers, which lie on the host.
  std::int64_t staging_bytes() const {
    if (!is_staged()) return 0;
    return (by_order_.positions() + by_ring_.positions()) * n_components_ *
           std::int64_t{sizeof(Value)};
  }
  std::int64_t bytes_sent() const { return alltoall_.bytes_sent(); }

 private:
  using Staging = typename Memory::Staging;

  bool is_staged() const { return route_ == DeviceRoute::staged && comm_.size() > 1; }
  /// Until MPI may read.
  void wait() {
    if (comm_.size() == 1) return;
    is_staged() ? memory_->wait_for_copies() : memory_->wait_for_work();
  }

  void keep_own(const ExchangePlan::Block& from, const Value* source, const ExchangePlan::Block& to,
                Value* target) {
    if (from.count == 0 || (comm_.size() == 1 && source == target)) return;
    memory_->keep(source + from.first * n_components_, target + to.first * n_components_,
                  from.count * n_components_);
  }
  void take_down(const StagedSide& side, std::int64_t first, std::int64_t count, const Value* modes,
                 Staging& staging) {
    if (count == 0) return;
    memory_->down(modes + first * n_components_,
                  staging.data() + side.staged(first) * n_components_, count * n_components_);
  }
  void bring_up(Staging& staging, const StagedSide& side, std::int64_t first, std::int64_t count,
                Value* modes) {
    if (count == 0) return;
    memory_->up(staging.data() + side.staged(first) * n_components_, modes + first * n_components_,
                count * n_components_);
  }
  void take_down(const RowPart& part, const Value* by_order) {
    memory_->copies_follow_work();
    for (int peer = 0; peer < comm_.size(); ++peer) {
      const auto& [first, count] = part.blocks[to_size(peer)];
      if (peer != comm_.rank()) take_down(by_order_, first, count, by_order, order_staging_);
    }
  }
  void bring_up(const RowPart& part, Value* by_order) {
    for (int peer = 0; peer < comm_.size(); ++peer) {
      const auto& [first, count] = part.blocks[to_size(peer)];
      if (peer != comm_.rank()) bring_up(order_staging_, by_order_, first, count, by_order);
    }
    memory_->work_follows_copies();
  }

  Communicator comm_;
  Memory* memory_;
  std::vector<RowPart> parts_;
  std::int64_t n_components_;
  DeviceRoute route_;
  ExchangePlan::Block own_by_order_;
  ExchangePlan::Block own_by_ring_;
  StagedSide by_order_;
  StagedSide by_ring_;
  ModeAlltoall alltoall_;
  Staging order_staging_{};
  Staging ring_staging_{};
  bool allocated_ = false;
};

}  // namespace ringweave
