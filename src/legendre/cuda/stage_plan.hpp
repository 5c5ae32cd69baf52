// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/field_passes.hpp"
#include "legendre/cuda/ladder_launches.hpp"
#include "legendre/cuda/stage_coefficients.hpp"
#include "legendre/cuda/stage_memory.hpp"
#include "legendre/cuda/stage_tables.hpp"
#include "legendre/cuda/sweep_plan.hpp"
#include "legendre/cuda/tuning.hpp"

namespace ringweave::gpu {

/// A field of some spin on its way to scalars and back, in rows of the workspace: one pair of
/// rows before a step, the other after it.
struct StageLadder {
  int spin;
  std::int64_t component;
  bool follows_wigner;  ///< whose a_lm it adds to
  LadderRows rows[2];
  /// Where Q and U are after as many steps as the spin.
  const LadderRows& scalars() const { return rows[spin % 2]; }
};

/// A FieldPass, ready to go.
template <class Machine>
struct StagePass {
  int spin = 0;  ///< 0: scalar maps
  int n_maps = 0;
  std::int64_t component[most_maps] = {};
  const double* weight[most_maps] = {};
  double* made[most_maps] = {};  ///< rows of Q or U; null: the a_lm themselves
  int extra[most_maps] = {};     ///< degrees of these beyond lmax
  std::vector<StageLadder> ladders;
  const DeviceSweep<Machine>* sweep = nullptr;
};

/// What a Legendre stage holds for its launches: tables, the passes of its fields over batches of
/// rows, and the workspace these go through. Machine as for StageSequence.
template <class Machine>
class StagePlan {
 public:
  using Pass = StagePass<Machine>;

  StagePlan(const LegendreShape& shape, Machine& machine, StageMemory memory,
            std::span<const std::int64_t> alm_begin, BatchedSums sums)
      : machine_(&machine),
        sums_(sums),
        fields_(shape),
        tables_(shape, alm_begin, fields_, machine),
        coefficients_(tables_.stage(), fields_, memory.coefficient_bytes, machine) {
    plan_sweeps(shape, memory.workspace_bytes);
    allocate_workspace();
  }

  /// Whether a batch has rows that are wanted; makes what they need.
  bool begin_batch(std::int64_t b, RowRange wanted) {
    if (passes_.empty()) return false;
    const RowRange heads = passes_.front().sweep->batches[to_size(b)].heads;
    if (heads.end <= wanted.begin || heads.begin >= wanted.end) return false;
    coefficients_.prepare(b, wanted);
    return true;
  }

  BatchedSums sums() const { return sums_; }
  std::int64_t n_batches() const { return n_batches_; }
  const std::vector<Pass>& passes() const { return passes_; }
  const StageTables<Machine>& tables() const { return tables_; }
  const StageCoefficients<Machine>& coefficients() const { return coefficients_; }
  /// Of scalar maps; null: no pair is by ones.
  const DeviceSweep<Machine>* equator() const { return equator_; }
  // The workspace of a batch.
  Double2* columns() { return columns_.data(); }
  Double2* equator_columns() { return equator_columns_.data(); }
  double* partials() { return partials_.data(); }
  double* equator_partials() { return equator_partials_.data(); }

  std::int64_t bytes() const {
    std::int64_t total = tables_.bytes() + coefficients_.bytes() + columns_.bytes() +
                         equator_columns_.bytes() + partials_.bytes() + equator_partials_.bytes() +
                         made_.bytes();
    for (const auto& sweep : sweeps_) total += sweep->bytes();
    return total;
  }

 private:
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
        StageLadder& ladder = pass.ladders[i];
        for (LadderRows& rows : ladder.rows) {
          rows = {next, next + 2 * made};
          next += 4 * made;
        }
        pass.made[2 * i] = ladder.scalars().plus;
        pass.made[2 * i + 1] = ladder.scalars().minus;
      }
    }
  }

  Machine* machine_;
  BatchedSums sums_;
  FieldPasses fields_;
  StageTables<Machine> tables_;
  StageCoefficients<Machine> coefficients_;
  std::vector<Pass> passes_;
  std::vector<std::unique_ptr<DeviceSweep<Machine>>> sweeps_;
  const DeviceSweep<Machine>* equator_ = nullptr;
  std::int64_t n_batches_ = 0;
  typename Machine::template Buffer<Double2> columns_;
  typename Machine::template Buffer<Double2> equator_columns_;
  typename Machine::template Buffer<double> partials_;
  typename Machine::template Buffer<double> equator_partials_;
  typename Machine::template Buffer<double> made_;
};

}  // namespace ringweave::gpu
