// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/mode_view.hpp"
#include "legendre/host/order_lanes.hpp"
#include "legendre/host/order_sweep.hpp"
#include "legendre/host/theta_resampling.hpp"
#include "legendre/legendre_stage.hpp"
#include "legendre/shared/resampled_modes.hpp"
#include "legendre/shared/ring_tables.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Orders whose sums are computed on few equidistant rings and resampled to the rings of the grid,
/// in blocks whose lanes are (order, component) pairs: all components of one order are adjacent, as
/// in its modes. Thread safe with one scratch per thread.
class ResampledOrders {
 public:
  using Complex = std::complex<double>;
  using Rows = std::span<const std::int64_t>;           ///< rows of a shape
  static constexpr int width = ThetaResampling::width;  ///< lanes of a block

  /// Shapes passed later may differ from this one in their rows only. `phases` must outlive this
  /// object.
  ResampledOrders(const LegendreShape& shape, const FoldPhases& phases);

  /// Work space of one thread.
  struct Scratch {
    OrderSweep::Scratch sweep;
    ModeRow<Complex> row;
    ModeRow<const Complex> input_row;
    /// [order][equidistant ring][component] of orders that fill whole blocks. The targets of a
    /// block share this memory if the orders fill only one block, otherwise they follow it.
    HostBuffer<Complex> rows;
    std::optional<ThetaResampling::Block> block;
    std::array<ModeRow<Complex>, std::size_t{width}> outputs;       ///< [order]
    std::array<ModeRow<const Complex>, std::size_t{width}> inputs;  ///< [order]
    std::int64_t bytes() const;
    /// Allocates for orders whose modes are so many pieces.
    void reserve(std::int64_t n_pieces);
  };
  Scratch scratch() const;

  /// Computes the modes of some rows on the rings the shape has. No allocation.
  template <class T>
  void synthesize(const LegendreShape& shape, Rows rows, AlmView<const T> alm,
                  ModePieces<double> modes, Scratch& scratch) const;
  /// Applies the exact transpose.
  template <class T>
  void adjoint(const LegendreShape& shape, Rows rows, ModePieces<const double> modes,
               AlmView<T> alm, Accumulate how, Scratch& scratch) const;

  std::int64_t bytes() const { return sweep_.bytes() + plan_.bytes(); }

 private:
  /// An order, by its index in a group, and a component.
  struct Lane {
    std::size_t order;
    std::int64_t component;
  };
  /// The lanes of a block, and the rings that any of them keeps.
  struct Lanes {
    std::array<Lane, std::size_t{width}> lanes;
    std::size_t size = 0;
    RingRange kept;
  };
  struct Writer;
  struct Reader;

  std::int64_t row_size() const { return plan_.equidistant().n_rings() * fields_.n_components(); }
  /// Calls work(rows) for groups of rows that fill whole blocks.
  template <class Work>
  void for_each_group(Rows rows, const Work& work) const;
  /// Calls work(lanes) for the blocks of a group.
  template <class Work>
  void for_each_block(const LegendreShape& shape, Rows group, const Work& work) const;
  void set_columns(const LegendreShape& shape, Rows group, const Lanes& lanes,
                   ThetaResampling::Block& block) const;
  template <class Value>
  columns::OrderRows<Value> equidistant_rows(const Lanes& lanes, Value* rows) const;
  template <class Value, class Work>
  void for_each_target(const Lanes& lanes,
                       const std::array<ModeRow<Value>, std::size_t{width}>& places,
                       const Work& work) const;
  void clear_left_out(int m, Complex* row) const;
  void clear_left_out(const LegendreShape& shape, Rows group, const Lanes& lanes,
                      ThetaResampling::Block& block) const;

  FieldSet fields_;
  std::size_t n_orders_;  ///< of a group
  const FoldPhases* phases_;
  ThetaResampling plan_;
  ResampledModes resampled_;
  OrderSweep sweep_;  ///< on the equidistant rings
};

}  // namespace ringweave::detail::inline legendre
