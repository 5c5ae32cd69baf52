// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "distribute/mpi/agree.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline transform {

/// The transform of some fields: a_lm <-> ring modes (Legendre stage) <-> other ranks (exchange)
/// <-> pixels (ring FFT). One loop for host and device, for one rank and many, in one pass or in
/// passes of some orders each.
///
/// `Stages` (HostStages, DeviceStages) are the Legendre stage and the ring FFT of a memory space,
/// with its views Alm, Map, Weights and Modes:
///   synthesize_rows(rows, alm, modes), adjoint_rows(rows, modes, alm, how)
///   to_pixels(modes, map), to_modes(map, weights, modes)
///   memory(modes)     where the exchange finds the modes
///   lap(stage)        adds the time since the last lap to this stage; null: to none
///   finish_laps()     ends the timing of a call
///   can_fail()        whether the ring FFT can fail
///
/// Every member is collective unless stated otherwise. An error of one rank is thrown on all ranks
/// in an exchange of one pass, and ends the job in one of several.
template <class Stages>
class Pipeline {
 public:
  template <class T>
  using Alm = typename Stages::template Alm<T>;
  template <class T>
  using Map = typename Stages::template Map<T>;
  using Weights = typename Stages::Weights;
  using Modes = typename Stages::Modes;

  /// `exchange` must be planned from the same passes, `stages` with their rows.
  Pipeline(Communicator comm, OrderPasses passes, Stages stages,
           std::unique_ptr<ModeExchange> exchange)
      : comm_(std::move(comm)),
        passes_(std::move(passes)),
        stages_(std::move(stages)),
        exchange_(std::move(exchange)) {}

  template <class T>
  void synthesize(Alm<const T> alm, const Modes& modes, Map<T> map) {
    orders_to_rings<T>(alm, modes);
    to_pixels<T>(modes, map);
    stages_.finish_laps();
  }

  template <class T>
  void adjoint(Map<const T> map, Weights ring_weights, const Modes& modes, Alm<T> alm,
               Accumulate how) {
    to_modes<T>(map, ring_weights, modes);
    rings_to_orders<T>(modes, alm, how);
    stages_.finish_laps();
  }

  // The two halves of each, for callers that use modes by ring or free memory in between.

  /// a_lm -> modes by ring.
  /// Error  DataError on all ranks when a mode is too large for single precision.
  template <class T>
  void orders_to_rings(Alm<const T> alm, const Modes& modes) {
    const ModeMemory memory = stages_.memory(modes);
    const int n_passes = exchange_->n_passes();
    const int n_slots = exchange_->n_slots();
    const auto end = [&](int pass) {
      if (pass < 0) return;
      stages_.lap(nullptr);
      exchange_->end(pass);
      guard_unpacking([&] { exchange_->unpack_rings(pass, memory); });
      lap_exchange();
    };
    for (int pass = 0; pass < n_passes; ++pass) {
      end(pass - n_slots);
      guard([&] {
        for_each_part(pass, [&](int i, const OrderPasses::Part& part) {
          stages_.template synthesize_rows<T>(part.rows, alm, modes);
          stages_.lap("legendre");
          exchange_->pack_part(pass, i, memory);
        });
        exchange_->ready(pass, memory);
        lap_exchange();
      });
      stages_.lap(nullptr);
      exchange_->begin(ModeExchange::Direction::orders_to_rings, pass, memory);
      lap_exchange();
    }
    for (int pass = n_passes - n_slots; pass < n_passes; ++pass) end(pass);
    exchange_->require_range();
  }

  /// Modes by ring -> a_lm. In single precision modes by ring are rounded.
  template <class T>
  void rings_to_orders(const Modes& modes, Alm<T> alm, Accumulate how) {
    const ModeMemory memory = stages_.memory(modes);
    const int n_passes = exchange_->n_passes();
    const int ahead = exchange_->n_slots() - 1;
    const auto begin = [&](int pass) {
      if (pass >= n_passes) return;
      stages_.lap(nullptr);
      guard_unpacking([&] {
        exchange_->pack_rings(pass, memory);
        exchange_->ready(pass, memory);
      });
      exchange_->begin(ModeExchange::Direction::rings_to_orders, pass, memory);
      lap_exchange();
    };
    for (int pass = 0; pass < ahead; ++pass) begin(pass);
    for (int pass = 0; pass < n_passes; ++pass) {
      begin(pass + ahead);
      stages_.lap(nullptr);
      exchange_->end(pass);
      lap_exchange();
      guard([&] {
        for_each_part(pass, [&](int i, const OrderPasses::Part& part) {
          exchange_->unpack_part(pass, i, memory);
          lap_exchange();
          stages_.template adjoint_rows<T>(part.rows, modes, alm, how);
          stages_.lap("legendre");
        });
      });
    }
    exchange_->require_range();
  }

  /// Modes by ring -> pixels.
  template <class T>
  void to_pixels(const Modes& modes, Map<T> map) {
    transform_rings([&] { stages_.template to_pixels<T>(modes, map); });
  }

  /// Pixels -> modes by ring.
  template <class T>
  void to_modes(Map<const T> map, Weights ring_weights, const Modes& modes) {
    transform_rings([&] { stages_.template to_modes<T>(map, ring_weights, modes); });
  }

  const OrderPasses& passes() const { return passes_; }
  Stages& stages() { return stages_; }
  const Stages& stages() const { return stages_; }

  // Allocates the buffers of the exchange, which a call needs. Not collective.
  void allocate() { exchange_->allocate(); }
  void release() noexcept { exchange_->release(); }
  TransportBytes exchange_bytes() const { return exchange_->bytes(); }

 private:
  /// Runs work before a collective call in which other ranks may already wait.
  template <class Work>
  void guard(const Work& work) {
    exchange_->n_passes() == 1 ? agree(comm_, work) : abort_on_error(comm_, work);
  }
  /// The same for the exchange's own work, which cannot fail on the host.
  template <class Work>
  void guard_unpacking(const Work& work) {
    exchange_->on_device() ? guard(work) : work();
  }
  template <class Work>
  void transform_rings(const Work& work) {
    const auto timed = [&] {
      stages_.lap(nullptr);
      work();
      stages_.lap("ring_fft");
    };
    stages_.can_fail() ? agree(comm_, timed) : timed();
  }
  template <class Work>
  void for_each_part(int pass, const Work& work) {
    const auto& parts = passes_.passes[to_size(pass)].parts;
    stages_.lap(nullptr);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      work(static_cast<int>(i), parts[i]);
      exchange_->progress();
      lap_exchange();
    }
  }
  void lap_exchange() { stages_.lap(exchange_->is_idle() ? nullptr : "exchange"); }

  Communicator comm_;
  OrderPasses passes_;
  Stages stages_;
  std::unique_ptr<ModeExchange> exchange_;
};

}  // namespace ringweave::detail::inline transform
