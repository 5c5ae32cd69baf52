// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/launches/ladder_launches.hpp"
#include "legendre/cuda/plan/field_passes.hpp"
#include "legendre/cuda/plan/stage_coefficients.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/cuda/plan/stage_tables.hpp"
#include "legendre/cuda/plan/sweep_plan.hpp"
#include "legendre/cuda/plan/tuning.hpp"

namespace ringweave::detail::gpu {

/// A field of some spin during its conversion to scalars and back, in workspace rows: one pair of
/// rows before a step, the other after it.
struct StageLadder {
  int spin;
  std::int64_t component;
  bool follows_wigner;  ///< adds to a_lm already written
  LadderRows rows[2];
  static constexpr std::int64_t doubles_per_degree = 8;  ///< of both pairs of rows
  /// Returns the rows that hold Q and U after `spin` steps.
  const LadderRows& scalars() const { return rows[spin % 2]; }
};

/// A FieldPass with its pointers and sweep plan.
template <class Machine>
struct StagePass {
  int spin = 0;  ///< 0: scalar maps
  int n_maps = 0;
  int adjoint_maps = 1;  ///< per launch
  std::int64_t component[most_maps] = {};
  const double* weight[most_maps] = {};
  double* made[most_maps] = {};  ///< rows of Q or U; null: the a_lm are used directly
  int extra[most_maps] = {};     ///< degrees of `made` beyond lmax
  std::vector<StageLadder> ladders;
  const DeviceSweep<Machine>* sweep = nullptr;
};

/// Plan and memory of a Legendre stage's launches: tables, the passes of its fields over batches of
/// rows, and their workspace. Machine as for StageSequence.
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

  /// Prepares a batch; returns whether it has wanted rows.
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
  /// Returns the one-degree sweep of scalar maps near the equator, or null.
  const DeviceSweep<Machine>* equator() const { return equator_; }
  // The workspace of a pass over a batch: columns in a synthesis, partial sums in an adjoint.
  Double2* columns() { return workspace_.data(); }
  double* partials() { return reinterpret_cast<double*>(workspace_.data()); }
  Double2* equator_columns(const Pass& pass, std::int64_t b) {
    return columns() + columns_size(pass, steps_of(*pass.sweep, b), {});
  }
  double* equator_partials(const Pass& pass, std::int64_t b) {
    return partials() + partials_size(pass, steps_of(*pass.sweep, b), {});
  }

  std::int64_t bytes() const {
    std::int64_t total =
        tables_.bytes() + coefficients_.bytes() + workspace_.bytes() + made_.bytes();
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
      if (pass.spin == 0)
        with_tuning(pass.n_maps, sums_, [&](auto of) { pass.adjoint_maps = of.adjoint_maps; });
      passes_.push_back(pass);
    }
  }

  static SweepSteps steps_of(const DeviceSweep<Machine>& sweep, std::int64_t b) {
    return sweep.batches[to_size(b)].steps;
  }
  /// Number of Double2 and of doubles for a pass: per map four columns or sums for a two-degree
  /// step and two for a one-degree step (`equator`); per spin field four for a one-degree step.
  static std::int64_t columns_size(const Pass& pass, SweepSteps own, SweepSteps equator) {
    return pass.n_maps * (2 * own.columns + equator.columns);
  }
  static std::int64_t partials_size(const Pass& pass, SweepSteps own, SweepSteps equator) {
    return pass.adjoint_maps * (4 * own.partials + 2 * equator.partials);
  }
  /// Returns the size in Double2 that suffices for both.
  static std::int64_t workspace_size(const Pass& pass, SweepSteps own, SweepSteps equator) {
    return std::max(columns_size(pass, own, equator), partials_size(pass, own, equator) / 2);
  }

  /// Returns the doubles per degree of all fields of a pass.
  static std::int64_t made_doubles(const Pass& pass) {
    return ssize64(pass.ladders) * StageLadder::doubles_per_degree;
  }

  void plan_sweeps(const LegendreShape& shape, std::int64_t most_bytes) {
    plan_passes();
    const std::int64_t n_pairs = shape.grid->n_pairs();
    const std::int64_t split = tables_.first_equatorial();
    std::vector<SweepPlan> plans;
    std::vector<std::size_t> of_pass;
    const auto plan = [&](const SweepKind& kind) {
      std::size_t i = 0;
      while (i < plans.size() && plans[i].kind != kind) ++i;
      if (i == plans.size()) plans.emplace_back(shape, tables_.stage(), kind, tables_.places());
      return i;
    };
    for (const Pass& pass : passes_) {
      of_pass.push_back(plan(kind_of(pass, shape.alm.lmax(), split)));
    }
    const bool has_equator = fields_.has_scalars() && split < n_pairs;
    if (has_equator) {
      of_pass.push_back(
          plan({true, 0, fields_.degree, split, n_pairs, pairs_by_one, pairs_by_one}));
    }
    const SweepPlan* equator = has_equator ? &plans[of_pass.back()] : nullptr;

    std::vector<RowBytes> bytes(tables_.stage().sequence.size());
    for (std::size_t i = 0; i < passes_.size(); ++i) {
      add_bytes(passes_[i], plans[of_pass[i]], equator, bytes);
    }
    const auto ends = batch_ends_for(tables_.stage(), bytes, most_bytes);
    n_batches_ = ssize64(ends);
    for (SweepPlan& made : plans) {
      made.cut(tables_.stage(), ends);
      if (!made.kind.by_one) coefficients_.place(made);
      sweeps_.push_back(std::make_unique<DeviceSweep<Machine>>(made, *machine_));
    }
    for (std::size_t i = 0; i < passes_.size(); ++i) passes_[i].sweep = sweeps_[of_pass[i]].get();
    if (has_equator) equator_ = sweeps_[of_pass.back()].get();
    if (fields_.has_scalars()) coefficients_.allocate(*passes_.back().sweep, tables_.orders());
  }

  /// Raises `bytes` to the needs of a pass where they are larger.
  void add_bytes(const Pass& pass, const SweepPlan& plan, const SweepPlan* equator,
                 std::vector<RowBytes>& bytes) const {
    for (std::int64_t i = 0; i < ssize64(bytes); ++i) {
      const SweepSteps own = plan.steps_of(i);
      SweepSteps other;
      if (pass.spin == 0 && equator != nullptr) other = equator->steps_of(i);
      std::int64_t made_per_step = 2 * made_doubles(pass) * std::int64_t{sizeof(double)};
      if (pass.spin == 0 && !coefficients_.keeps_all())
        made_per_step += coefficients_.bytes_per_step;
      RowBytes& row = bytes[to_size(i)];
      row.swept =
          std::max(row.swept, workspace_size(pass, own, other) * std::int64_t{sizeof(Double2)});
      row.made = std::max(row.made, made_per_step * own.columns);
    }
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
    std::int64_t size = 0;
    std::int64_t degrees = 0;
    std::int64_t doubles = 0;
    for (const Pass& pass : passes_) {
      doubles = std::max(doubles, made_doubles(pass));
      for (std::int64_t b = 0; b < n_batches_; ++b) {
        SweepSteps other;
        if (pass.spin == 0 && equator_ != nullptr) other = steps_of(*equator_, b);
        size = std::max(size, workspace_size(pass, steps_of(*pass.sweep, b), other));
        degrees = std::max(degrees, pass.sweep->batches[to_size(b)].made_degrees);
      }
    }
    workspace_ = machine_->template allocate<Double2>(size);
    made_ = machine_->template allocate<double>(degrees * doubles);
    for (Pass& pass : passes_) {
      double* next = made_.data();
      for (std::size_t i = 0; i < pass.ladders.size(); ++i) {
        StageLadder& ladder = pass.ladders[i];
        for (LadderRows& rows : ladder.rows) {
          rows = {next, next + 2 * degrees};
          next += 4 * degrees;
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
  typename Machine::template Buffer<Double2> workspace_;
  typename Machine::template Buffer<double> made_;
};

}  // namespace ringweave::detail::gpu
