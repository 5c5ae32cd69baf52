// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/plan/field_passes.hpp"
#include "legendre/cuda/plan/sweep_plan.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::gpu {

/// A SweepPlan in device memory.
template <class Machine>
struct DeviceSweep {
  DeviceSweep(const SweepPlan& plan, Machine& machine)
      : rows(machine.upload(plan.rows)),
        synthesis_items(machine.upload(plan.synthesis_items)),
        adjoint_items(machine.upload(plan.adjoint_items)),
        batches(plan.batches) {}
  std::int64_t bytes() const {
    return rows.bytes() + synthesis_items.bytes() + adjoint_items.bytes();
  }

  typename Machine::template Buffer<SweepRow> rows;
  typename Machine::template Buffer<Item> synthesis_items;
  typename Machine::template Buffer<Item> adjoint_items;
  std::vector<SweepPlan::Batch> batches;
};

/// Tables shared by all sweeps of a stage: ring pairs and rows.
template <class Machine>
class StageTables {
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

 public:
  StageTables(const LegendreShape& shape, std::span<const std::int64_t> alm_begin,
              const FieldPasses& fields, Machine& machine)
      : stage_(shape, alm_begin), places_(*shape.grid), pair_tables_(*shape.grid) {
    first_equatorial_ = pair_tables_.first_equatorial(fields.degree);
    upload_pairs(*shape.grid, machine);
    orders_ = machine.upload(stage_.orders);
    segments_ = machine.upload(stage_.segments);
    const FoldPhases phases(*shape.grid, shape.fold, shape.limits.mmax());
    phases_ = machine.upload(phases.table().data(), phases.table().size());
    fold_rings_ = shape.fold.rings;
    n_components_ = shape.fields.n_components();
    for (const SpinField& field : fields.spin_fields) {
      weights_.push_back(machine.upload(field.weights(), n_pairs_));
    }
  }

  const OrderRow* orders() const { return orders_.data(); }
  const StageRows& stage() const { return stage_; }
  const PairIndex& places() const { return places_; }
  std::int64_t first_equatorial() const { return first_equatorial_; }
  /// Returns the weights of a spin field summed as scalars, [pair].
  const double* weights(std::int64_t field) const { return weights_[to_size(field)].data(); }

  PairTables pairs() const {
    const double* table = pairs_.data();
    const auto column = [&](std::int64_t i) { return table + i * n_pairs_; };
    return {column(0),
            column(1),
            column(2),
            {column(3), column(4)},
            {column(2), column(5)},
            {column(6), column(7)},
            rings_.data()};
  }
  ModeTables modes() const {
    return {orders_.data(),    segments_.data(),   reinterpret_cast<const double*>(phases_.data()),
            fold_rings_.begin, fold_rings_.size(), n_components_};
  }

  std::int64_t bytes() const {
    return pairs_.bytes() + rings_.bytes() + orders_.bytes() + segments_.bytes() + phases_.bytes() +
           ssize64(weights_) * n_pairs_ * std::int64_t{sizeof(double)};
  }

 private:
  void upload_pairs(const RingGrid& grid, Machine& machine) {
    n_pairs_ = grid.n_pairs();
    const sweep::Pairs two = pair_tables_.by_two();
    const sweep::Pairs one = pair_tables_.by_one();
    std::vector<double> table;
    for (const double* column : {two.log2_sin_high, two.log2_sin_low, one.x_equator, two.x_equator,
                                 two.x_pole, one.x_pole, one.seed_factor[0], one.seed_factor[1]}) {
      table.insert(table.end(), column, column + n_pairs_);
    }
    pairs_ = machine.upload(table);
    std::vector<std::int64_t> rings;
    for (const RingPair& pair : grid.pairs()) {
      rings.push_back(pair.north);
      rings.push_back(pair.south);
    }
    rings_ = machine.upload(rings);
  }

  StageRows stage_;
  PairIndex places_;
  ringweave::detail::PairTables pair_tables_;
  std::int64_t n_pairs_ = 0;
  std::int64_t n_components_ = 0;
  std::int64_t first_equatorial_ = 0;
  RingRange fold_rings_;
  Buffer<double> pairs_;  ///< [table][pair]
  Buffer<std::int64_t> rings_;
  Buffer<OrderRow> orders_;
  Buffer<RowSegment> segments_;
  Buffer<std::complex<double>> phases_;
  std::vector<Buffer<double>> weights_;
};

}  // namespace ringweave::detail::gpu
