// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/adjoint_launch.hpp"
#include "legendre/cuda/alm_launches.hpp"
#include "legendre/cuda/field_passes.hpp"
#include "legendre/cuda/ladder_launches.hpp"
#include "legendre/cuda/stage_coefficients.hpp"
#include "legendre/cuda/stage_memory.hpp"
#include "legendre/cuda/stage_tables.hpp"
#include "legendre/cuda/sweep_plan.hpp"
#include "legendre/cuda/synthesis_launch.hpp"
#include "legendre/cuda/tuning.hpp"

namespace ringweave::gpu {

/// The launches of a Legendre stage in their order. Machine is what runs them: the device, or its
/// emulation on the host. It has
///   Buffer<T>                 memory the launches work in: data(), bytes()
///   allocate<T>(size), upload(const T*, size)   -> Buffer<T>
///   launch(work, n_blocks)    in order; does nothing for 0 blocks
template <class Machine>
class StageSequence {
 public:
  /// alm_begin  [row] where a row begins among the coefficients of a component; empty: as in
  ///            shape.alm. Places in rows that are not wanted together may be the same.
  StageSequence(const LegendreShape& shape, Machine& machine, StageMemory memory,
                std::span<const std::int64_t> alm_begin = {}, BatchedSums sums = usual_sums)
      : machine_(&machine),
        sums_(sums),
        fields_(shape),
        tables_(shape, alm_begin, fields_, machine),
        coefficients_(tables_.stage(), fields_, memory.coefficient_bytes, machine) {
    plan_sweeps(shape, memory.workspace_bytes);
    allocate_workspace();
  }

  /// alm    [component][coefficient][re, im], components `stride` coefficients apart
  /// modes  [position][component][re, im]
  /// Rows whose heads are `wanted`.
  template <class T>
  void synthesize(const T* alm, std::int64_t stride, double* modes, RowRange wanted) {
    for (std::int64_t b = 0; b < n_batches_; ++b) {
      if (!begin_batch(b, wanted)) continue;
      for (const Pass& pass : passes_) {
        const Call<const T, double> call{b, alm, stride, modes, wanted, false};
        if (pass.spin > 0) {
          synthesize_spin(pass, call);
        } else {
          descend(pass, call);
          with_tuning(pass.n_maps, sums_,
                      [&](auto tuning) { synthesize_scalars<decltype(tuning)>(pass, call); });
        }
      }
    }
  }

  /// The exact transpose; overwrites alm or adds to it.
  template <class T>
  void adjoint(const double* modes, T* alm, std::int64_t stride, bool add, RowRange wanted) {
    for (std::int64_t b = 0; b < n_batches_; ++b) {
      if (!begin_batch(b, wanted)) continue;
      for (const Pass& pass : passes_) {
        const Call<T, const double> call{b, alm, stride, modes, wanted, add};
        if (pass.spin > 0) {
          adjoint_spin(pass, call);
        } else {
          with_tuning(pass.n_maps, sums_, [&](auto tuning) {
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

  std::int64_t bytes() const {
    std::int64_t total = tables_.bytes() + coefficients_.bytes() + columns_.bytes() +
                         equator_columns_.bytes() + partials_.bytes() + equator_partials_.bytes() +
                         made_.bytes();
    for (const auto& sweep : sweeps_) total += sweep->bytes();
    return total;
  }

 private:
  /// A field of some spin on its way to scalars and back, in rows of the workspace: one pair of
  /// rows before a step, the other after it.
  struct Ladder {
    int spin;
    std::int64_t component;
    bool follows_wigner;  ///< whose a_lm it adds to
    LadderRows rows[2];
    /// Where Q and U are after as many steps as the spin.
    const LadderRows& scalars() const { return rows[spin % 2]; }
  };
  /// A FieldPass, ready to go.
  struct Pass {
    int spin = 0;  ///< 0: scalar maps
    int n_maps = 0;
    std::int64_t component[most_maps] = {};
    const double* weight[most_maps] = {};
    double* made[most_maps] = {};  ///< rows of Q or U; null: the a_lm themselves
    int extra[most_maps] = {};     ///< degrees of these beyond lmax
    std::vector<Ladder> ladders;
    const DeviceSweep<Machine>* sweep = nullptr;
  };
  template <class T, class Mode>
  struct Call {
    std::int64_t batch;
    T* alm;
    std::int64_t stride;
    Mode* modes;
    RowRange wanted;
    bool add;
  };

  /// Whether a batch has rows that are wanted; makes what they need.
  bool begin_batch(std::int64_t b, RowRange wanted) {
    if (passes_.empty()) return false;
    const RowRange heads = passes_.front().sweep->batches[to_size(b)].heads;
    if (heads.end <= wanted.begin || heads.begin >= wanted.end) return false;
    coefficients_.prepare(b, wanted);
    return true;
  }

  void plan_passes() {
    for (const FieldPass& from : fields_.passes) {
      Pass pass;
      if (from.wigner_field >= 0) {
        const SpinField& field = fields_.spin_fields[to_size(from.wigner_field)];
        pass.spin = field.spin();
        pass.n_maps = 1;
        pass.component[0] = field.first_component();
        pass.component[1] = field.first_component() + 1;
      }
      for (const SweptMap& map : from.maps) {
        pass.component[pass.n_maps] = map.component;
        if (map.spin_field >= 0) {
          const SpinField& field = fields_.spin_fields[to_size(map.spin_field)];
          pass.weight[pass.n_maps] = tables_.weights(map.spin_field);
          pass.extra[pass.n_maps] = field.spin();
          if (map.component == field.first_component()) {
            pass.ladders.push_back({field.spin(), map.component, field.n_wigner_pairs() > 0, {}});
          }
        }
        ++pass.n_maps;
      }
      passes_.push_back(pass);
    }
  }

  void plan_sweeps(const LegendreShape& shape, std::int64_t most_bytes) {
    plan_passes();
    const std::int64_t n_pairs = shape.grid->n_pairs();
    const std::int64_t split = tables_.first_equatorial();
    std::vector<SweepKind> kinds;
    std::int64_t bytes_per_step = 0;
    for (const Pass& pass : passes_) {
      const SweepKind& kind = kinds.emplace_back(kind_of(pass, shape.alm.lmax(), split));
      const std::int64_t pairs = kind.end_pair - kind.first_pair;
      const std::int64_t slots = pairs / (kind.adjoint_pairs * block_threads) + 2;
      // Four columns of two degrees by ones; by twos half of it is left for the equator's.
      bytes_per_step =
          std::max(bytes_per_step, (1 + slots) * 64 * pass.n_maps + 128 * ssize64(pass.ladders));
    }
    if (!coefficients_.keeps_all()) bytes_per_step += coefficients_.bytes_per_step;
    const auto ends = batch_ends_for(tables_.stage(), fields_.degree, bytes_per_step, most_bytes);
    n_batches_ = ssize64(ends);
    const auto plan = [&](const SweepKind& kind) {
      SweepPlan made(shape, tables_.stage(), ends, kind, tables_.places());
      if (!kind.by_one) coefficients_.place(made);
      sweeps_.push_back(std::make_unique<DeviceSweep<Machine>>(made, kind, *machine_));
      return sweeps_.back().get();
    };
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (kinds[i] == kinds[j]) passes_[i].sweep = passes_[j].sweep;
      }
      if (passes_[i].sweep == nullptr) passes_[i].sweep = plan(kinds[i]);
    }
    if (!fields_.has_scalars()) return;
    coefficients_.allocate(*passes_.back().sweep, tables_.orders());
    if (split < n_pairs)
      equator_ = plan({true, 0, fields_.degree, split, n_pairs, pairs_by_one, pairs_by_one});
  }

  SweepKind kind_of(const Pass& pass, int lmax, std::int64_t split) const {
    if (pass.spin > 0) {
      for (const SpinField& field : fields_.spin_fields) {
        if (field.first_component() != pass.component[0]) continue;
        return {true, pass.spin, lmax, 0, field.n_wigner_pairs(), pairs_by_one, pairs_by_one};
      }
    }
    SweepKind kind{false, 0, fields_.degree, 0, split, 0, 0};
    with_tuning(pass.n_maps, sums_, [&](auto tuning) {
      kind.synthesis_pairs = tuning.synthesis_pairs;
      kind.adjoint_pairs = tuning.adjoint_pairs;
    });
    return kind;
  }

  void allocate_workspace() {
    std::int64_t columns = 0;
    std::int64_t partials = 0;
    std::int64_t equator_columns = 0;
    std::int64_t equator_partials = 0;
    std::int64_t made = 0;
    for (const Pass& pass : passes_) {
      for (std::int64_t b = 0; b < n_batches_; ++b) {
        const SweepPlan::Batch& batch = pass.sweep->batches[to_size(b)];
        const std::int64_t per_step = 4 * pass.n_maps;
        columns = std::max(columns, batch.column_steps * per_step / 2);
        partials = std::max(partials, batch.partial_steps * per_step);
        if (!pass.ladders.empty()) made = std::max(made, batch.made_degrees);
        if (pass.spin > 0 || equator_ == nullptr) continue;
        const SweepPlan::Batch& other = equator_->batches[to_size(b)];
        equator_columns = std::max(equator_columns, other.column_steps * pass.n_maps);
        equator_partials = std::max(equator_partials, other.partial_steps * 2 * pass.n_maps);
      }
    }
    columns_ = machine_->template allocate<Double2>(columns);
    partials_ = machine_->template allocate<double>(partials);
    equator_columns_ = machine_->template allocate<Double2>(equator_columns);
    equator_partials_ = machine_->template allocate<double>(equator_partials);
    made_ = machine_->template allocate<double>(made * 2 * 4 * (most_maps / 2));
    for (Pass& pass : passes_) {
      double* next = made_.data();
      for (std::size_t i = 0; i < pass.ladders.size(); ++i) {
        Ladder& ladder = pass.ladders[i];
        for (LadderRows& rows : ladder.rows) {
          rows = {next, next + 2 * made};
          next += 4 * made;
        }
        pass.made[2 * i] = ladder.scalars().plus;
        pass.made[2 * i + 1] = ladder.scalars().minus;
      }
    }
  }

  /// E and B of the fields of a pass to Q and U as scalars.
  template <class T>
  void descend(const Pass& pass, const Call<const T, double>& call) const {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    const StepsOfRows steps = steps_of(*pass.sweep, batch, call.wanted);
    for (const Ladder& ladder : pass.ladders) {
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
  /// The transpose.
  template <class T>
  void ascend(const Pass& pass, const Call<T, const double>& call) const {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    const StepsOfRows steps = steps_of(*pass.sweep, batch, call.wanted);
    for (const Ladder& ladder : pass.ladders) {
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
    made.pairs = tables_.pairs();
    made.modes = tables_.modes();
    made.coefficients = coefficients_.steps();
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
    return {sweep.rows.data(), tables_.modes().orders, batch.first_row, blocks, wanted};
  }
  template <class Work>
  void launch_steps(const Work& work, const SweepPlan::Batch& batch) const {
    machine_->launch(work, batch.n_rows * work.steps.blocks_per_row);
  }

  template <class T, class Mode>
  static AlmComponent<T> component(const Call<T, Mode>& call, std::int64_t c) {
    return {call.alm + 2 * c * call.stride};
  }
  /// What map i of a pass is made from, or made into.
  template <class T, class Mode>
  static AlmComponent<T> map_alm(const Pass& pass, const Call<T, Mode>& call, int i) {
    if (pass.made[i] != nullptr) return {nullptr, pass.made[i], pass.extra[i]};
    return component(call, pass.component[i]);
  }

  /// The SynthesisLaunch or AdjointLaunch of a batch.
  template <class S, int Pairs, template <class, int, class> class Sums>
  void sweep_forward(const Pass& pass, const DeviceSweep<Machine>& sweep, const Double2* columns,
                     std::int64_t b, double* modes, RowRange wanted) const {
    const SweepPlan::Batch& batch = sweep.batches[to_size(b)];
    const Item* items = sweep.synthesis_items.data() + batch.first_synthesis_item;
    machine_->launch(
        SynthesisLaunch<S, Pairs, Sums>{input<S>(pass, 0, sweep, items, wanted), columns, modes},
        batch.n_synthesis_items);
  }
  template <class S, int Pairs, int Steps, template <class, int, int, class> class Sums>
  void sweep_back(const Pass& pass, int first, const DeviceSweep<Machine>& sweep, double* partials,
                  std::int64_t b, const double* modes, RowRange wanted) const {
    const SweepPlan::Batch& batch = sweep.batches[to_size(b)];
    const Item* items = sweep.adjoint_items.data() + batch.first_adjoint_item;
    machine_->launch(
        AdjointLaunch<S, Pairs, Steps, Sums>{input<S>(pass, first, sweep, items, wanted), modes,
                                             partials},
        batch.n_adjoint_items);
  }

  template <class Tuned, class T>
  void synthesize_scalars(const Pass& pass, const Call<const T, double>& call) {
    constexpr int Maps = Tuned::maps;
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    PreconditionByTwo<T, Maps> by_two{
        steps_of(*pass.sweep, batch, call.wanted), coefficients_.alpha(), {}, columns_.data()};
    for (int i = 0; i < Maps; ++i) by_two.alm[i] = map_alm(pass, call, i);
    launch_steps(by_two, batch);
    sweep_forward<ScalarsByTwo<Maps>, Tuned::synthesis_pairs, Tuned::template Synthesis>(
        pass, *pass.sweep, columns_.data(), call.batch, call.modes, call.wanted);
    if (equator_ == nullptr) return;
    const SweepPlan::Batch& other = equator_->batches[to_size(call.batch)];
    PreconditionByOne<T, Maps> by_one{
        steps_of(*equator_, other, call.wanted), {}, equator_columns_.data()};
    for (int i = 0; i < Maps; ++i) by_one.alm[i] = by_two.alm[i];
    launch_steps(by_one, other);
    sweep_forward<ScalarsByOne<Maps>, pairs_by_one, SynthesisByThreads>(
        pass, *equator_, equator_columns_.data(), call.batch, call.modes, call.wanted);
  }

  /// Maps [first, first + Tuned::adjoint_maps) of a pass.
  template <class Tuned, class T>
  void adjoint_scalars(const Pass& pass, int first, const Call<T, const double>& call) {
    constexpr int Maps = Tuned::adjoint_maps;
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    sweep_back<ScalarsByTwo<Maps>, Tuned::adjoint_pairs, Tuned::adjoint_steps,
               Tuned::template Adjoint>(pass, first, *pass.sweep, partials_.data(), call.batch,
                                        call.modes, call.wanted);
    PartialSums by_one{};
    if (equator_ != nullptr) {
      sweep_back<ScalarsByOne<Maps>, pairs_by_one, 4, AdjointByThreads>(
          pass, first, *equator_, equator_partials_.data(), call.batch, call.modes, call.wanted);
      by_one = {equator_->rows.data(), equator_partials_.data()};
    }
    RestoreScalars<T, Maps> restore{steps_of(*pass.sweep, batch, call.wanted),
                                    coefficients_.alpha(),
                                    {pass.sweep->rows.data(), partials_.data()},
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
                                     component(call, pass.component[1]), columns_.data()},
                 batch);
    sweep_forward<SpinByOne, pairs_by_one, SynthesisByThreads>(pass, *pass.sweep, columns_.data(),
                                                               call.batch, call.modes, call.wanted);
  }

  template <class T>
  void adjoint_spin(const Pass& pass, const Call<T, const double>& call) {
    const SweepPlan::Batch& batch = pass.sweep->batches[to_size(call.batch)];
    sweep_back<SpinByOne, pairs_by_one, 4, AdjointByThreads>(pass, 0, *pass.sweep, partials_.data(),
                                                             call.batch, call.modes, call.wanted);
    launch_steps(RestoreSpin<T>{steps_of(*pass.sweep, batch, call.wanted),
                                {pass.sweep->rows.data(), partials_.data()},
                                component(call, pass.component[0]),
                                component(call, pass.component[1]),
                                call.add},
                 batch);
  }

  Machine* machine_;
  BatchedSums sums_;
  FieldPasses fields_;
  StageTables<Machine> tables_;
  StageCoefficients<Machine> coefficients_;
  std::vector<Pass> passes_;
  std::vector<std::unique_ptr<DeviceSweep<Machine>>> sweeps_;
  const DeviceSweep<Machine>* equator_ = nullptr;  ///< of scalar maps; null: no pair is by ones
  std::int64_t n_batches_ = 0;
  typename Machine::template Buffer<Double2> columns_;
  typename Machine::template Buffer<Double2> equator_columns_;
  typename Machine::template Buffer<double> partials_;
  typename Machine::template Buffer<double> equator_partials_;
  typename Machine::template Buffer<double> made_;
};

}  // namespace ringweave::gpu
