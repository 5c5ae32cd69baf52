// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>

#include "base/checked_cast.hpp"
#include "legendre/cuda/launches/adjoint_launch.hpp"
#include "legendre/cuda/launches/alm_launches.hpp"
#include "legendre/cuda/launches/ladder_launches.hpp"
#include "legendre/cuda/launches/synthesis_launch.hpp"
#include "legendre/cuda/plan/stage_plan.hpp"
#include "legendre/cuda/plan/tuning.hpp"

namespace ringweave::detail::gpu {

/// Launches of a Legendre stage in order. Machine runs them: a device, or its emulation on the
/// host. It provides
///   Buffer<T>                                   memory for launches: data(), bytes()
///   allocate<T>(size), upload(const T*, size)   return a Buffer<T>
///   upload(const std::vector<T>&)               as well
///   launch(work, n_blocks)                      in order; does nothing for 0 blocks
template <class Machine>
class StageSequence {
 public:
  /// alm_begin  [row] start of a row among the coefficients of a component; empty: as in shape.alm.
  ///            Rows never wanted in the same call may overlap.
  StageSequence(const LegendreShape& shape, Machine& machine, StageMemory memory,
                std::span<const std::int64_t> alm_begin = {}, BatchedSums sums = usual_sums)
      : machine_(&machine), plan_(shape, machine, memory, alm_begin, sums) {}

  /// Synthesizes the rows whose heads are `wanted`.
  /// alm    [component][coefficient][re, im], components `stride` coefficients apart
  /// modes  [position][component][re, im]
  template <class T>
  void synthesize(const T* alm, std::int64_t stride, double* modes, RowRange wanted) {
    for (std::int64_t b = 0; b < plan_.n_batches(); ++b) {
      if (!plan_.begin_batch(b, wanted)) continue;
      for (const Pass& pass : plan_.passes()) {
        const Call<const T, double> call{b, alm, stride, modes, wanted, false};
        if (pass.spin > 0) {
          synthesize_spin(pass, call);
        } else {
          descend(pass, call);
          with_tuning(pass.n_maps, plan_.sums(),
                      [&](auto tuning) { synthesize_scalars<decltype(tuning)>(pass, call); });
        }
      }
    }
  }

  /// Applies the exact transpose; overwrites alm or adds to it.
  template <class T>
  void adjoint(const double* modes, T* alm, std::int64_t stride, bool add, RowRange wanted) {
    for (std::int64_t b = 0; b < plan_.n_batches(); ++b) {
      if (!plan_.begin_batch(b, wanted)) continue;
      for (const Pass& pass : plan_.passes()) {
        const Call<T, const double> call{b, alm, stride, modes, wanted, add};
        if (pass.spin > 0) {
          adjoint_spin(pass, call);
        } else {
          with_tuning(pass.n_maps, plan_.sums(), [&](auto tuning) {
            using Tuned = decltype(tuning);
            for (int first = 0; first < pass.n_maps; first += Tuned::adjoint_maps) {
              adjoint_scalars<Tuned>(pass, first, call);
            }
          });
          ascend(pass, call);
        }
      }
    }
  }

  std::int64_t bytes() const { return plan_.bytes(); }

 private:
  using Pass = StagePass<Machine>;
  template <class T, class Mode>
  struct Call {
    std::int64_t batch;
    T* alm;
    std::int64_t stride;
    Mode* modes;
    RowRange wanted;
    bool add;
  };

  /// Transforms E and B of the fields of a pass into Q and U as scalars.
  template <class T>
  void descend(const Pass& pass, const Call<const T, double>& call) const {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    const StepsOfRows steps = steps_of(*pass.sweep, batch, call.wanted);
    for (const StageLadder& ladder : pass.ladders) {
      launch_steps(
          LadderBegin<T>{steps, component(call, ladder.component),
                         component(call, ladder.component + 1), ladder.spin, ladder.rows[0]},
          batch);
      for (int s = ladder.spin, at = 0; s > 0; --s, at ^= 1) {
        launch_steps(
            LadderStep{steps, LadderStep::Way::down, s, ladder.rows[at], ladder.rows[at ^ 1]},
            batch);
      }
      launch_steps(LadderTurn{steps, LadderTurn::Way::to_scalars, ladder.spin, ladder.scalars()},
                   batch);
    }
  }
  /// Applies the transpose of descend.
  template <class T>
  void ascend(const Pass& pass, const Call<T, const double>& call) const {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    const StepsOfRows steps = steps_of(*pass.sweep, batch, call.wanted);
    for (const StageLadder& ladder : pass.ladders) {
      launch_steps(LadderTurn{steps, LadderTurn::Way::to_rows, ladder.spin, ladder.scalars()},
                   batch);
      int at = ladder.spin % 2;
      for (int s = 1; s <= ladder.spin; ++s, at ^= 1) {
        launch_steps(
            LadderStep{steps, LadderStep::Way::up, s, ladder.rows[at], ladder.rows[at ^ 1]}, batch);
      }
      launch_steps(
          LadderEnd<T>{steps, ladder.rows[0], component(call, ladder.component),
                       component(call, ladder.component + 1), call.add || ladder.follows_wigner},
          batch);
    }
  }

  template <class S>
  SweepInput<S> input(const Pass& pass, int first, const DeviceSweep<Machine>& sweep,
                      const Item* items, RowRange wanted) const {
    SweepInput<S> made{};
    made.items = items;
    made.rows = sweep.rows.data();
    made.wanted = wanted;
    made.pairs = plan_.tables().pairs();
    made.modes = plan_.tables().modes();
    made.coefficients = plan_.coefficients().steps();
    made.spin = pass.spin;
    made.components.parity = pass.spin % 2 == 0 ? 1 : -1;
    for (int c = 0; c < S::components; ++c) {
      made.components.component[c] = static_cast<std::int32_t>(pass.component[first + c]);
      made.components.weight[c] = pass.weight[first + c];
    }
    return made;
  }

  StepsOfRows steps_of(const DeviceSweep<Machine>& sweep, const SweepPlan::Batch& batch,
                       RowRange wanted) const {
    const std::int64_t blocks = (batch.most_steps + block_threads - 1) / block_threads;
    return {sweep.rows.data(), plan_.tables().modes().orders, batch.first_row, blocks, wanted};
  }
  template <class Work>
  void launch_steps(const Work& work, const SweepPlan::Batch& batch) const {
    machine_->launch(work, batch.n_rows * work.steps.blocks_per_row);
  }

  template <class T, class Mode>
  static AlmComponent<T> component(const Call<T, Mode>& call, std::int64_t c) {
    return {call.alm + 2 * c * call.stride};
  }
  /// Returns the source or destination of map i of a pass.
  template <class T, class Mode>
  static AlmComponent<T> map_alm(const Pass& pass, const Call<T, Mode>& call, int i) {
    if (pass.made[i] != nullptr) return {nullptr, pass.made[i], pass.extra[i]};
    return component(call, pass.component[i]);
  }

  /// Launches the SynthesisLaunch or AdjointLaunch of a batch.
  template <class S, int Pairs, template <class, int, class> class Sums>
  void sweep_forward(const Pass& pass, const DeviceSweep<Machine>& sweep, const Double2* columns,
                     std::int64_t b, double* modes, RowRange wanted) const {
    const SweepPlan::Batch& batch = sweep.batches[to_size(b)];
    const Item* items = sweep.synthesis_items.data() + batch.first_synthesis_item;
    machine_->launch(
        SynthesisLaunch<S, Pairs, Sums>{input<S>(pass, 0, sweep, items, wanted), columns, modes},
        batch.n_synthesis_items);
  }
  template <class S, int Pairs, int Steps, int Blocks, template <class, int, int, class> class Sums>
  void sweep_back(const Pass& pass, int first, const DeviceSweep<Machine>& sweep, double* partials,
                  std::int64_t b, const double* modes, RowRange wanted) const {
    const SweepPlan::Batch& batch = sweep.batches[to_size(b)];
    const Item* items = sweep.adjoint_items.data() + batch.first_adjoint_item;
    machine_->launch(
        AdjointLaunch<S, Pairs, Steps, Blocks, Sums>{input<S>(pass, first, sweep, items, wanted),
                                                     modes, partials},
        batch.n_adjoint_items);
  }

  template <class Tuned, class T>
  void synthesize_scalars(const Pass& pass, const Call<const T, double>& call) {
    constexpr int Maps = Tuned::maps;
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    PreconditionByTwo<T, Maps> by_two{steps_of(*pass.sweep, batch, call.wanted),
                                      plan_.coefficients().alpha(),
                                      {},
                                      plan_.columns()};
    for (int i = 0; i < Maps; ++i) by_two.alm[i] = map_alm(pass, call, i);
    launch_steps(by_two, batch);
    sweep_forward<ScalarsByTwo<Maps>, Tuned::synthesis_pairs, Tuned::template Synthesis>(
        pass, *pass.sweep, plan_.columns(), call.batch, call.modes, call.wanted);
    if (plan_.equator() == nullptr) return;
    const SweepPlan::Batch& other = plan_.equator()->batches[to_size(call.batch)];
    PreconditionByOne<T, Maps> by_one{steps_of(*plan_.equator(), other, call.wanted),
                                      {},
                                      plan_.equator_columns(pass, call.batch)};
    for (int i = 0; i < Maps; ++i) by_one.alm[i] = by_two.alm[i];
    launch_steps(by_one, other);
    sweep_forward<ScalarsByOne<Maps>, pairs_by_one, SynthesisByThreads>(
        pass, *plan_.equator(), plan_.equator_columns(pass, call.batch), call.batch, call.modes,
        call.wanted);
  }

  /// Launches the adjoint of maps [first, first + Tuned::adjoint_maps) of a pass.
  template <class Tuned, class T>
  void adjoint_scalars(const Pass& pass, int first, const Call<T, const double>& call) {
    constexpr int Maps = Tuned::adjoint_maps;
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    sweep_back<ScalarsByTwo<Maps>, Tuned::adjoint_pairs, Tuned::adjoint_steps,
               Tuned::adjoint_blocks, Tuned::template Adjoint>(
        pass, first, *pass.sweep, plan_.partials(), call.batch, call.modes, call.wanted);
    PartialSums by_one{};
    if (plan_.equator() != nullptr) {
      sweep_back<ScalarsByOne<Maps>, pairs_by_one, 4, 2, AdjointByThreads>(
          pass, first, *plan_.equator(), plan_.equator_partials(pass, call.batch), call.batch,
          call.modes, call.wanted);
      by_one = {plan_.equator()->rows.data(), plan_.equator_partials(pass, call.batch)};
    }
    RestoreScalars<T, Maps> restore{steps_of(*pass.sweep, batch, call.wanted),
                                    plan_.coefficients().alpha(),
                                    {pass.sweep->rows.data(), plan_.partials()},
                                    by_one,
                                    {},
                                    call.add};
    for (int i = 0; i < Maps; ++i) restore.alm[i] = map_alm(pass, call, first + i);
    launch_steps(restore, batch);
  }

  template <class T>
  void synthesize_spin(const Pass& pass, const Call<const T, double>& call) {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    launch_steps(PreconditionSpin<T>{steps_of(*pass.sweep, batch, call.wanted),
                                     component(call, pass.component[0]),
                                     component(call, pass.component[1]), plan_.columns()},
                 batch);
    sweep_forward<SpinByOne, pairs_by_one, SynthesisByThreads>(pass, *pass.sweep, plan_.columns(),
                                                               call.batch, call.modes, call.wanted);
  }

  template <class T>
  void adjoint_spin(const Pass& pass, const Call<T, const double>& call) {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    sweep_back<SpinByOne, pairs_by_one, 4, 2, AdjointByThreads>(
        pass, 0, *pass.sweep, plan_.partials(), call.batch, call.modes, call.wanted);
    launch_steps(RestoreSpin<T>{steps_of(*pass.sweep, batch, call.wanted),
                                {pass.sweep->rows.data(), plan_.partials()},
                                component(call, pass.component[0]),
                                component(call, pass.component[1]),
                                call.add},
                 batch);
  }

  Machine* machine_;
  StagePlan<Machine> plan_;
};

}  // namespace ringweave::detail::gpu
