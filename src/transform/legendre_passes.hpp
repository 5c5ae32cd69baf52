// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "base/buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/communicator.hpp"
#include "distribute/order_passes.hpp"
#include "distribute/pass_exchange.hpp"
#include "legendre/legendre_stage.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// Legendre stage and exchange together, in passes of some orders each: a_lm <-> ring modes as
/// plan.exchange.by_ring has them. Only the modes of one or two passes lie by order at a time. In
/// an overlapped exchange one pass travels while the Legendre stage works on another. The ranks
/// must enter every member together; an error of the Legendre stage on one rank alone ends the job.
class LegendrePasses {
 public:
  /// For some fields of the plan. `whole`, a stage of the same fields, shares its tables and
  /// scratch; it may be null. Collective.
  LegendrePasses(const Communicator& comm, const TransformPlan& plan, const FieldSet& fields,
                 const LegendreStage* whole);

  /// Every mode of by_ring is overwritten. Error  DataError on all ranks when a mode is too large
  /// for single precision.
  template <class T>
  void synthesize(AlmView<const T> alm, ModeView<double> by_ring, StageTimes& times);
  template <class T>
  void adjoint(ModeView<const double> by_ring, AlmView<T> alm, LegendreStage::Accumulate how,
               StageTimes& times);

  /// The modes by order; the stages above allocate nothing. Not collective.
  void allocate();
  void release() noexcept;

  std::int64_t bytes_sent() const { return exchange_.bytes_sent(); }

 private:
  ModeView<double> modes() { return {modes_.data(), modes_.size()}; }
  /// Calls work(first row, rows) for parts of a pass and lets the exchange progress in between.
  template <class Work>
  void in_parts(int pass, StageTimes& times, const Work& work);

  Communicator comm_;
  ExchangeSchedule schedule_;
  std::int64_t n_components_;
  OrderPasses plan_;
  std::unique_ptr<LegendreStage> legendre_;
  PassExchange exchange_;
  HostBuffer<std::complex<double>> modes_;
};

}  // namespace ringweave
