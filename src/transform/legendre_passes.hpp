// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/exchange/order_passes.hpp"
#include "distribute/exchange/pass_exchange.hpp"
#include "distribute/mpi/communicator.hpp"
#include "legendre/legendre_stage.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// Legendre stage and exchange together, in one pass or in passes of some orders each: a_lm <->
/// ring modes as plan.exchange.by_ring has them, where those of a rank's orders on its own rings
/// are from the beginning. Of those that travel only one or two passes lie by order at a time. In
/// an overlapped exchange one pass travels while the Legendre stage works on another. The ranks
/// must enter every member together. An error of the Legendre stage on one rank is thrown on all
/// ranks in one pass, and ends the job in several.
class LegendrePasses {
 public:
  /// For some fields of the plan. `whole`, a stage of the same fields, shares its tables and
  /// scratch; it may be null. Collective.
  LegendrePasses(const Communicator& comm, const TransformPlan& plan, const FieldSet& fields,
                 const LegendreStage* whole, int n_passes);

  /// Positions of what travels, the workspace `slots` below.
  std::int64_t slot_positions() const { return plan_.all_slots(); }

  /// Every mode of by_ring is overwritten. by_ring and slots have their positions x components.
  /// Error  DataError on all ranks when a mode is too large for single precision.
  template <class T>
  void synthesize(AlmView<const T> alm, ModeView<double> by_ring, ModeView<double> slots,
                  StageTimes& times);
  /// In single precision modes of by_ring are rounded.
  template <class T>
  void adjoint(ModeView<double> by_ring, ModeView<double> slots, AlmView<T> alm,
               LegendreStage::Accumulate how, StageTimes& times);

  /// Conversion buffers; the stages above allocate nothing. Not collective.
  void allocate() { exchange_.allocate(); }
  void release() noexcept { exchange_.release(); }

  std::int64_t bytes_sent() const { return exchange_.bytes_sent(); }

 private:
  /// Calls work(first row, rows) for parts of a pass and lets the exchange progress in between.
  template <class Work>
  void compute(int pass, StageTimes& times, const Work& work);

  Communicator comm_;
  ExchangeSchedule schedule_;
  bool agrees_;  ///< on errors of the Legendre stage
  OrderPasses plan_;
  std::unique_ptr<LegendreStage> legendre_;
  PassExchange exchange_;
};

}  // namespace ringweave
