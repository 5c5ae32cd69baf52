// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/legendre_passes.hpp"

#include <omp.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {
namespace {

/// For work between collective calls of which others may already wait in the next one.
template <class Work>
void end_job_on_error(const Communicator& comm, const Work& work) {
  try {
    work();
  } catch (...) {
    const CaughtError error = describe_current_exception();
    comm.abort(error.kind, error.message);
  }
}

}  // namespace

LegendrePasses::LegendrePasses(const Communicator& comm, const TransformPlan& plan,
                               const FieldSet& fields, const LegendrePasses* sharing, int n_passes)
    : comm_(comm),
      schedule_(plan.spec.exchange.schedule),
      precision_(plan.spec.exchange.precision),
      agrees_(n_passes == 1),
      plan_(agreed(comm, [&] { return plan.order_passes(n_passes); })),
      legendre_(agreed(comm,
                       [&] {
                         if (sharing != nullptr)
                           return sharing->legendre_->with_rows(plan_.by_order);
                         return make_legendre_stage(plan.legendre_shape(fields, plan_.by_order),
                                                    plan.spec.backend);
                       })),
      exchange_(comm, plan_, fields.n_components(), plan.spec.exchange) {}

template <class Work>
void LegendrePasses::compute(int pass, StageTimes& times, const Work& work) {
  const std::int64_t first_row = plan_.passes[to_size(pass)].first_row;
  const std::int64_t n_rows = plan_.passes[to_size(pass)].n_rows;
  // Enough parts for the modes to keep moving, enough rows in each for all threads.
  constexpr std::int64_t wanted_parts = 4;
  constexpr std::int64_t rows_per_thread = 4;
  const std::int64_t step =
      schedule_ == ExchangeSchedule::whole
          ? n_rows
          : std::max((n_rows + wanted_parts - 1) / wanted_parts,
                     std::min(n_rows, rows_per_thread * omp_get_max_threads()));
  const auto all = [&] {
    for (std::int64_t done = 0; done < n_rows; done += step) {
      {
        const StageTimer timer(&times, "legendre");
        work(first_row + done, std::min(step, n_rows - done));
      }
      const StageTimer timer(exchange_times(times), "exchange");
      exchange_.progress();
    }
  };
  if (agrees_) return agree(comm_, all);
  end_job_on_error(comm_, all);
}

template <class T>
void LegendrePasses::synthesize(AlmView<const T> alm, const ModePieces<double>& modes,
                                StageTimes& times) {
  const int n_passes = exchange_.n_passes();
  const auto end = [&](int pass) {
    const StageTimer timer(exchange_times(times), "exchange");
    if (pass >= 0) exchange_.end(pass);
  };
  for (int pass = 0; pass < n_passes; ++pass) {
    end(pass - exchange_.n_slots());
    compute(pass, times, [&](std::int64_t first, std::int64_t count) {
      legendre_->synthesize_rows(first, count, alm, modes);
    });
    const StageTimer timer(exchange_times(times), "exchange");
    exchange_.begin_orders_to_rings(pass, modes.second(), modes.first());
  }
  for (int pass = n_passes - exchange_.n_slots(); pass < n_passes; ++pass) end(pass);
  exchange_.require_range();
}

template <class T>
void LegendrePasses::adjoint(const ModePieces<double>& modes, AlmView<T> alm,
                             LegendreStage::Accumulate how, StageTimes& times) {
  const int n_passes = exchange_.n_passes();
  const int ahead = exchange_.n_slots() - 1;
  const auto begin = [&](int pass) {
    const StageTimer timer(exchange_times(times), "exchange");
    if (pass < n_passes) exchange_.begin_rings_to_orders(pass, modes.first(), modes.second());
  };
  for (int pass = 0; pass < ahead; ++pass) begin(pass);
  for (int pass = 0; pass < n_passes; ++pass) {
    begin(pass + ahead);
    {
      const StageTimer timer(exchange_times(times), "exchange");
      exchange_.end(pass);
    }
    compute(pass, times, [&](std::int64_t first, std::int64_t count) {
      legendre_->adjoint_rows(first, count, modes, alm, how);
    });
  }
  exchange_.require_range();
}

#define RINGWEAVE_INSTANTIATE(T)                                                           \
  template void LegendrePasses::synthesize<T>(AlmView<const T>, const ModePieces<double>&, \
                                              StageTimes&);                                \
  template void LegendrePasses::adjoint<T>(const ModePieces<double>&, AlmView<T>,          \
                                           LegendreStage::Accumulate, StageTimes&);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
