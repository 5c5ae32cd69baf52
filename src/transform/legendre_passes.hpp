// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "distribute/mpi/communicator.hpp"
#include "legendre/legendre_stage.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// Legendre stage and exchange together, in one pass or in passes of some orders each: a_lm <->
/// ring modes as plan.exchange.by_ring has them. Modes whose order and ring are both this rank's
/// are written in place; slots hold only modes sent to other ranks or received from them, of one
/// pass, or of two if the exchange overlaps the Legendre stage. On one rank nothing travels.
/// Every member is collective, unless it says otherwise. An error of the Legendre stage on one rank
/// is thrown on all ranks if there is one pass, and ends the job if there are several.
class LegendrePasses {
 public:
  /// For some fields of the plan. `sharing`, made for the same fields, shares its Legendre tables
  /// and scratch, so one call at a time on both; it may be null.
  LegendrePasses(const Communicator& comm, const TransformPlan& plan, const FieldSet& fields,
                 const LegendrePasses* sharing, int n_passes);

  /// Positions of all slots.
  std::int64_t slot_positions() const { return plan_.all_slots(); }
  int n_passes() const { return exchange_.n_passes(); }

  /// Overwrites every mode of modes.first, by ring; modes.second are the slots.
  /// Error  DataError on all ranks when a mode is too large for single precision.
  template <class T>
  void synthesize(AlmView<const T> alm, const ModePieces<double>& modes, StageTimes& times);
  /// Exact transpose. In single precision modes by ring are rounded.
  template <class T>
  void adjoint(const ModePieces<double>& modes, AlmView<T> alm, LegendreStage::Accumulate how,
               StageTimes& times);

  /// Conversion buffers; the stages above allocate nothing. Not collective.
  void allocate() { exchange_.allocate(); }
  void release() noexcept { exchange_.release(); }

  std::int64_t bytes_sent() const { return exchange_.bytes_sent(); }

 private:
  /// None on one rank, unless modes are rounded there.
  StageTimes* exchange_times(StageTimes& times) const {
    const bool nothing_to_do = comm_.size() == 1 && precision_ == ModePrecision::double_;
    return nothing_to_do ? nullptr : &times;
  }
  /// Calls work(first row, rows) for parts of a pass and lets the exchange progress in between.
  template <class Work>
  void compute(int pass, StageTimes& times, const Work& work);

  Communicator comm_;
  ExchangeSchedule schedule_;
  ModePrecision precision_;
  bool agrees_;  ///< on errors of the Legendre stage
  OrderPasses plan_;
  std::unique_ptr<LegendreStage> legendre_;
  ModeExchange exchange_;
};

}  // namespace ringweave
