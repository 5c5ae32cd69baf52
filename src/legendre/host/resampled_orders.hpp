// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "legendre/host/order_lanes.hpp"
#include "legendre/host/order_sweep.hpp"
#include "legendre/host/ring_tables.hpp"
#include "legendre/host/theta_resampling.hpp"
#include "legendre/legendre_stage.hpp"

namespace ringweave {

/// Orders whose sums are formed on few equidistant rings and resampled to the rings of the grid, a
/// block of orders at a time. Thread safe with a scratch for each thread.
class ResampledOrders {
 public:
  using Complex = std::complex<double>;
  using Rows = std::span<const std::int64_t>;  ///< of a shape
  using Accumulate = LegendreStage::Accumulate;
  static constexpr int width = ThetaResampling::width;  ///< orders in a block

  /// Shapes passed later may differ from this one in their rows. `phases` outlives this.
  ResampledOrders(const LegendreShape& shape, const FoldPhases& phases);

  /// What one thread works in.
  struct Scratch {
    OrderSweep::Scratch sweep;
    ModeRow<Complex> row;
    ModeRow<const Complex> input_row;
    /// [component][target rings]; when they are not in use [slot][equidistant ring][component]
    HostBuffer<Complex> rows;
    std::vector<ThetaResampling::Block> blocks;  ///< [component], their targets in `rows`
    std::array<ModeRow<Complex>, std::size_t{width}> outputs;
    std::array<ModeRow<const Complex>, std::size_t{width}> inputs;
    std::int64_t bytes() const;
  };
  Scratch scratch() const;

  /// The modes of some rows, where the shape has them. No allocation.
  template <class T>
  void synthesize(const LegendreShape& shape, Rows rows, AlmView<const T> alm,
                  ModePieces<double> modes, Scratch& scratch) const;
  /// The exact transpose.
  template <class T>
  void adjoint(const LegendreShape& shape, Rows rows, ModePieces<const double> modes,
               AlmView<T> alm, Accumulate how, Scratch& scratch) const;

  std::int64_t bytes() const { return sweep_.bytes() + plan_.bytes(); }

 private:
  std::int64_t row_size() const { return plan_.equidistant().n_rings() * fields_.n_components(); }
  struct Writer;
  struct Reader;
  template <class Value>
  columns::OrderRows<Value> equidistant_rows(std::size_t n_slots, std::int64_t component,
                                             Value* rows) const;
  template <class Work>
  void for_each_component(const LegendreShape& shape, Rows rows, Scratch& scratch,
                          const Work& work) const;

  FieldSet fields_;
  const FoldPhases* phases_;
  ThetaResampling plan_;
  ModeLimits limits_;  ///< on the equidistant rings
  OrderSweep sweep_;   ///< on the equidistant rings
};

}  // namespace ringweave
