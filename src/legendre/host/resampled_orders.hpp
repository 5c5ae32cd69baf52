// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/mode_view.hpp"
#include "legendre/host/order_lanes.hpp"
#include "legendre/host/order_sweep.hpp"
#include "legendre/host/theta_resampling.hpp"
#include "legendre/legendre_stage.hpp"
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

  /// Where the modes on the equidistant rings are summed: here, order by order, or by another
  /// stage, for all orders at once.
  enum class Sums { here, elsewhere };

  /// Shapes passed later may differ from this one in their rows only. `phases` must outlive this
  /// object.
  ResampledOrders(const LegendreShape& shape, const FoldPhases& phases, Sums sums = Sums::here);

  /// Returns the shape of the stage that sums the modes on the equidistant rings.
  LegendreShape equidistant_shape(const LegendreShape& shape) const;
  /// Gives memory for all modes of that shape, which must outlive this object. The other stage
  /// fills it before a synthesis, and reads it after an adjoint.
  void set_equidistant_modes(Complex* modes) { equidistant_modes_ = modes; }

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

  std::int64_t bytes() const { return (sweep_ ? sweep_->bytes() : 0) + plan_.bytes(); }

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
  /// The modes that fields of a spin keep without companions.
  struct OwnLimits {
    ModeLimits equidistant;
    ModeLimits targets;
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
  /// Returns the modes of a row that another stage sums.
  Complex* summed_elsewhere(std::int64_t row) const;
  void clear_left_out(int m, Complex* row) const;
  void clear_left_out(const LegendreShape& shape, Rows group, const Lanes& lanes,
                      ThetaResampling::Block& block) const;

  FieldSet fields_;
  std::vector<int> spins_;  ///< [component]
  std::size_t n_orders_;    ///< of a group
  const FoldPhases* phases_;
  ThetaResampling plan_;
  ModeLimits limits_;  ///< on the equidistant rings
  /// [component] Null where they are those of all fields, and unless targets are fine rows.
  std::vector<std::shared_ptr<const OwnLimits>> own_limits_;
  std::optional<OrderSweep> sweep_;  ///< on the equidistant rings; none: they are summed elsewhere
  ModeLayout equidistant_modes_of_;  ///< of all orders, where they are summed elsewhere
  Complex* equidistant_modes_ = nullptr;
};

}  // namespace ringweave::detail::inline legendre
