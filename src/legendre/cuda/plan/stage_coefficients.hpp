// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/launches/coefficient_launch.hpp"
#include "legendre/cuda/plan/stage_tables.hpp"
#include "legendre/cuda/plan/sweep_plan.hpp"

namespace ringweave::detail::gpu {

/// Coefficients of two-degree steps: of all rows when they fit, otherwise of one batch of rows,
/// recomputed before each sweep. Both have identical digits.
template <class Machine>
class StageCoefficients {
 public:
  static constexpr std::int64_t bytes_per_step = 2 * sizeof(Double2) + sizeof(double);

  /// `most_bytes`: limit for keeping the coefficients of all rows.
  StageCoefficients(const StageRows& stage, const FieldPasses& fields, std::int64_t most_bytes,
                    Machine& machine)
      : machine_(&machine) {
    if (!fields.has_scalars()) return;
    const int degree = fields.degree;
    const PreciseCoefficients precise(stage, degree);
    precise_first_ = precise.first;
    std::int64_t steps = 0;
    for (const OrderRow& order : stage.orders) steps += n_steps_by_two(order.m, degree);
    keeps_all_ = steps * bytes_per_step <= most_bytes;
    precise_steps_ = machine.upload(precise.steps.data(), precise.steps.size());
    precise_alpha_ = machine.upload(precise.alpha.data(), precise.alpha.size());
  }

  bool keeps_all() const { return keeps_all_; }

  /// Sets the offsets of the coefficients in the rows of a plan.
  void place(SweepPlan& plan) const {
    for (SweepRow& row : plan.rows) {
      row.precise = row.m < ssize64(precise_first_) ? precise_first_[to_size(row.m)] : -1;
      if (!keeps_all_) row.coefficients = row.columns;
    }
  }

  /// Allocates for `sweep`, which place() has prepared, and computes the coefficients if all are
  /// kept.
  void allocate(const DeviceSweep<Machine>& sweep, const OrderRow* orders) {
    sweep_ = &sweep;
    orders_ = orders;
    std::int64_t steps = 0;
    std::int64_t n_rows = 0;
    for (const SweepPlan::Batch& batch : sweep.batches) {
      steps = keeps_all_ ? steps + batch.steps.columns : std::max(steps, batch.steps.columns);
      n_rows += batch.n_rows;
    }
    steps_ = machine_->template allocate<Double2>(2 * steps);
    alpha_ = machine_->template allocate<double>(steps);
    if (keeps_all_) make(0, n_rows, {0, n_rows});
  }
  /// Computes the coefficients of a batch unless all are kept; to be called before each sweep.
  void prepare(std::int64_t b, RowRange wanted) {
    if (sweep_ == nullptr || keeps_all_) return;
    const SweepPlan::Batch& batch = sweep_->batches[to_size(b)];
    make(batch.first_row, batch.n_rows, wanted);
  }

  const Double2* steps() const { return steps_.data(); }
  const double* alpha() const { return alpha_.data(); }
  std::int64_t bytes() const {
    return precise_steps_.bytes() + precise_alpha_.bytes() + steps_.bytes() + alpha_.bytes();
  }

 private:
  void make(std::int64_t first_row, std::int64_t n_rows, RowRange wanted) {
    machine_->launch(
        CoefficientLaunch{sweep_->rows.data(), orders_, first_row, wanted, precise_steps_.data(),
                          precise_alpha_.data(), steps_.data(), alpha_.data()},
        n_rows);
  }

  Machine* machine_;
  std::vector<std::int64_t> precise_first_;  ///< [m]
  bool keeps_all_ = true;
  const DeviceSweep<Machine>* sweep_ = nullptr;
  const OrderRow* orders_ = nullptr;
  typename Machine::template Buffer<Double2> precise_steps_;
  typename Machine::template Buffer<double> precise_alpha_;
  typename Machine::template Buffer<Double2> steps_;
  typename Machine::template Buffer<double> alpha_;
};

}  // namespace ringweave::detail::gpu
