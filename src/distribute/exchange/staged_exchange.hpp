// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/exchange/mode_alltoall.hpp"
#include "distribute/exchange/mode_rounding.hpp"
#include "distribute/exchange/staged_exchange_shape.hpp"
#include "distribute/exchange/staged_side.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// The exchange where modes lie on a device: straight from there where MPI can, else through
/// staging buffers of the host. Then the rows are made, or used, in parts: one is copied while the
/// device works on another. What a rank owes itself never leaves the device. Modes that travel in
/// single precision are converted on the device, in buffers beside them, and so are those that
/// stay.
///
/// Memory is the device as the exchange sees it; n counts complex numbers. It has
///   Staging, stage(bytes)                  a buffer that MPI and copies reach: data()
///   Buffer, buffer(bytes)                  one of the device: data()
///   down(from, to, bytes), up(...)         device to staging and back, beside the device's work
///   keep(from, to, bytes)                  on the device, in the order of its work
///   narrow(from, to, n), widen(...), round_to_single(...)   as mode_rounding, in that order
///   take_largest()                         magnitude of what was rounded; waits
///   copies_follow_work()                   later copies wait for all work so far
///   work_follows_copies()                  later work waits for all copies so far
///   wait_for_copies(), wait_for_work()     until all is done; errors of the device come here
template <class Memory>
class StagedExchange {
 public:
  using Value = std::complex<double>;
  using Single = std::complex<float>;

  /// Collective. Error  as Exchange.
  StagedExchange(Communicator comm, StagedExchangeShape shape, Memory& memory)
      : comm_(std::move(comm)),
        memory_(&memory),
        parts_(std::move(shape.parts)),
        n_components_(shape.n_components),
        route_(shape.route),
        precision_(shape.precision),
        own_by_order_(shape.plan.by_order_blocks.at(to_size(comm_.rank()))),
        own_by_ring_(shape.plan.by_ring_blocks.at(to_size(comm_.rank()))),
        by_order_(shape.plan.by_order_blocks, comm_.rank(), shape.plan.by_order.size()),
        by_ring_(shape.plan.by_ring_blocks, comm_.rank(), shape.plan.by_ring.size()),
        alltoall_(comm_, is_direct() ? shape.plan.by_order_blocks : by_order_.at.blocks(),
                  is_direct() ? shape.plan.by_ring_blocks : by_ring_.at.blocks(),
                  shape.plan.block_positions, n_components_, precision_) {
    expect_fitting_plan(comm_, shape.plan);
  }

  /// The buffers beside the modes; nothing where there are none. Not collective.
  void allocate() {
    if (allocated_) return;
    for (Side* side : {&by_order_, &by_ring_}) {
      const std::int64_t bytes = side->at.positions() * mode_bytes();
      if (is_staged()) side->staging = memory_->stage(bytes);
      if (in_single()) side->single = memory_->buffer(bytes);
    }
    allocated_ = true;
  }
  void release() {
    for (Side* side : {&by_order_, &by_ring_}) {
      side->staging = {};
      side->single = {};
    }
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
        send(by_order_, StagedSide::joined_but_own(part.blocks, comm_.rank()), by_order);
      }
      keep_own(own_by_order_, by_order, own_by_ring_, by_ring);
      wait();
    });
    const StageTimer timer(times, "exchange");
    alltoall_.orders_to_rings(at_mpi(by_order_, by_order), at_mpi(by_ring_, by_ring));
    agree(comm_, [&] {
      // What was given before may still read by_ring.
      if (is_staged()) memory_->copies_follow_work();
      receive(by_ring_, by_ring_.at.runs(), by_ring);
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
      send(by_ring_, by_ring_.at.runs(), by_ring);
      keep_own(own_by_ring_, by_ring, own_by_order_, by_order);
      wait();
    });
    {
      const StageTimer timer(times, "exchange");
      alltoall_.rings_to_orders(at_mpi(by_ring_, by_ring), at_mpi(by_order_, by_order));
    }
    const StageTimer timer(times, "legendre");
    agree(comm_, [&] {
      for (const RowPart& part : parts_) {
        receive(by_order_, StagedSide::joined_but_own(part.blocks, comm_.rank()), by_order);
        use_rows(part.first_row, part.n_rows);
      }
    });
  }

  /// On one rank, where nothing travels: modes that should do so in single precision are rounded
  /// where they are, in the order of the device's work. Not collective.
  void round_alone(Value* modes) { keep_own(own_by_order_, modes, own_by_ring_, modes); }

  /// DataError on all ranks when a mode since the last call was too large for single precision.
  /// Waits for the device, and is collective, where modes travel in it.
  void require_range() {
    if (!in_single()) return;
    const double largest = agreed(comm_, [&] { return memory_->take_largest(); });
    require_single_range(comm_.max(largest));
  }

  /// Of staging buffers, which lie on the host.
  std::int64_t staging_bytes() const { return is_staged() ? buffer_bytes() : 0; }
  /// Of the device.
  std::int64_t device_bytes() const { return in_single() ? buffer_bytes() : 0; }
  std::int64_t bytes_sent() const { return alltoall_.bytes_sent(); }

 private:
  using Runs = std::vector<ExchangePlan::Block>;
  struct Side {
    StagedSide at;
    typename Memory::Staging staging{};
    typename Memory::Buffer single{};

    Side(const Runs& blocks, int rank, std::int64_t positions) : at(blocks, rank, positions) {}
  };

  bool is_staged() const { return route_ == DeviceRoute::staged && comm_.size() > 1; }
  bool in_single() const { return precision_ == ModePrecision::single_; }
  /// Whether MPI reads and writes the modes themselves.
  bool is_direct() const { return !is_staged() && !in_single(); }
  /// Of a position on its way.
  std::int64_t mode_bytes() const { return n_components_ * complex_bytes(precision_); }
  std::int64_t buffer_bytes() const {
    return (by_order_.at.positions() + by_ring_.at.positions()) * mode_bytes();
  }
  /// Until MPI may read.
  void wait() {
    if (comm_.size() == 1) return;
    is_staged() ? memory_->wait_for_copies() : memory_->wait_for_work();
  }

  void keep_own(const ExchangePlan::Block& from, const Value* source, const ExchangePlan::Block& to,
                Value* target) {
    const Value* own = source + from.first * n_components_;
    Value* place = target + to.first * n_components_;
    const std::int64_t n = from.count * n_components_;
    if (n == 0) return;
    if (in_single()) return memory_->round_to_single(own, place, n);
    if (own != place) memory_->keep(own, place, n * std::int64_t{sizeof(Value)});
  }

  static Single* singles(Side& side) { return reinterpret_cast<Single*>(side.single.data()); }
  /// Where MPI finds or puts one side of the modes.
  template <class Modes>
  auto at_mpi(Side& side, Modes* modes) {
    using Bytes = std::conditional_t<std::is_const_v<Modes>, const void, void>;
    if (is_staged()) return static_cast<Bytes*>(side.staging.data());
    if (in_single()) return static_cast<Bytes*>(side.single.data());
    return static_cast<Bytes*>(modes);
  }
  /// Where copies on their way to staging find or put a position on the device.
  template <class Modes>
  auto on_device(Side& side, std::int64_t position, Modes* modes) {
    using Bytes = std::conditional_t<std::is_const_v<Modes>, const void, void>;
    if (in_single()) {
      return static_cast<Bytes*>(singles(side) + side.at.staged(position) * n_components_);
    }
    return static_cast<Bytes*>(modes + position * n_components_);
  }
  char* in_staging(Side& side, std::int64_t position) {
    return side.staging.data() + side.at.staged(position) * mode_bytes();
  }

  /// Runs of modes that are made go to where MPI finds them.
  void send(Side& side, const Runs& runs, const Value* modes) {
    if (in_single()) {
      for (const auto& [first, count] : runs) {
        memory_->narrow(modes + first * n_components_,
                        singles(side) + side.at.staged(first) * n_components_,
                        count * n_components_);
      }
    }
    if (!is_staged()) return;
    memory_->copies_follow_work();
    for (const auto& [first, count] : runs) {
      memory_->down(on_device(side, first, modes), in_staging(side, first), count * mode_bytes());
    }
  }
  /// Runs of modes come from where MPI put them, for later work.
  void receive(Side& side, const Runs& runs, Value* modes) {
    if (is_staged()) {
      for (const auto& [first, count] : runs) {
        memory_->up(in_staging(side, first), on_device(side, first, modes), count * mode_bytes());
      }
      memory_->work_follows_copies();
    }
    if (!in_single()) return;
    for (const auto& [first, count] : runs) {
      memory_->widen(singles(side) + side.at.staged(first) * n_components_,
                     modes + first * n_components_, count * n_components_);
    }
  }

  Communicator comm_;
  Memory* memory_;
  std::vector<RowPart> parts_;
  std::int64_t n_components_;
  DeviceRoute route_;
  ModePrecision precision_;
  ExchangePlan::Block own_by_order_;
  ExchangePlan::Block own_by_ring_;
  Side by_order_;
  Side by_ring_;
  ModeAlltoall alltoall_;
  bool allocated_ = false;
};

}  // namespace ringweave
