// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/resampled_orders.hpp"

#include <algorithm>
#include <numeric>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "legendre/host/order_lanes.hpp"
#include "legendre/host/order_rows.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Complex = ResampledOrders::Complex;
using Rows = ResampledOrders::Rows;

static_assert(LegendreStage::rows_at_once % ResampledOrders::width == 0);

ThetaResampling plan_of(const LegendreShape& shape) {
  const int lmax = shape.alm.lmax();
  if (shape.fine_rows == nullptr) return {*shape.grid, lmax};
  shape.fine_rows->check(lmax, shape.limits.mmax());
  return {*shape.grid, lmax, *shape.fine_rows};
}

/// Calls visit(ring) for the rings in `all` that are not in `own`.
template <class Visit>
void for_each_left_out(RingRange all, RingRange own, const Visit& visit) {
  for (std::int64_t ring = all.begin; ring < std::min(own.begin, all.end); ++ring) visit(ring);
  for (std::int64_t ring = std::max(own.end, all.begin); ring < all.end; ++ring) visit(ring);
}

}  // namespace

ResampledOrders::ResampledOrders(const LegendreShape& shape, const FoldPhases& phases)
    : fields_(shape.fields),
      n_orders_(to_size(width / std::gcd(std::int64_t{width}, fields_.n_components()))),
      phases_(&phases),
      plan_(plan_of(shape)),
      resampled_(shape, plan_.equidistant()),
      sweep_(plan_.equidistant(), fields_, shape.alm.lmax(), shape.alm.mmax(), nullptr) {}

ResampledOrders::Scratch ResampledOrders::scratch() const {
  Scratch scratch;
  scratch.sweep = sweep_.scratch();
  const std::int64_t rows = static_cast<std::int64_t>(n_orders_) * row_size();
  const std::int64_t targets = plan_.target_size() / 2;
  const bool is_one_block = static_cast<std::int64_t>(n_orders_) * fields_.n_components() == width;
  scratch.rows.allocate(is_one_block ? std::max(rows, targets) : rows + targets);
  scratch.block.emplace(plan_,
                        reinterpret_cast<double*>(scratch.rows.data() + (is_one_block ? 0 : rows)));
  return scratch;
}

void ResampledOrders::Scratch::reserve(std::int64_t n_pieces) {
  row.reserve(1);
  input_row.reserve(1);
  for (auto& found : outputs) found.reserve(n_pieces);
  for (auto& found : inputs) found.reserve(n_pieces);
}

std::int64_t ResampledOrders::Scratch::bytes() const {
  return sweep.bytes() + rows.size() * static_cast<std::int64_t>(sizeof(Complex)) +
         (block ? block->bytes() : 0);
}

template <class Work>
void ResampledOrders::for_each_group(Rows rows, const Work& work) const {
  for (std::size_t first = 0; first < rows.size(); first += n_orders_)
    work(rows.subspan(first, std::min(n_orders_, rows.size() - first)));
}

template <class Work>
void ResampledOrders::for_each_block(const LegendreShape& shape, Rows group,
                                     const Work& work) const {
  Lanes lanes;
  const auto finish = [&] {
    if (lanes.size > 0) work(lanes);
    lanes.size = 0;
  };
  for (std::size_t order = 0; order < group.size(); ++order) {
    const RingRange kept = shape.limits.kept(shape.alm.order(group[order]));
    for (std::int64_t component = 0; component < fields_.n_components(); ++component) {
      if (lanes.size == 0) lanes.kept = {shape.grid->n_rings(), 0};
      lanes.lanes[lanes.size++] = {order, component};
      if (!kept.empty())
        lanes.kept = {std::min(lanes.kept.begin, kept.begin), std::max(lanes.kept.end, kept.end)};
      if (lanes.size == to_size(std::int64_t{width})) finish();
    }
  }
  finish();
}

/// Sets the values that differ between the lanes of a block.
void ResampledOrders::set_columns(const LegendreShape& shape, Rows group, const Lanes& lanes,
                                  ThetaResampling::Block& block) const {
  for (std::size_t i = 0; i < lanes.size; ++i) {
    const auto [order, component] = lanes.lanes[i];
    const int m = shape.alm.order(group[order]);
    const int slot = static_cast<int>(i);
    block.set_parity(slot, resampled_.is_odd(m, component) ? Parity::odd : Parity::even);
    if (shape.fine_rows != nullptr)
      block.set_factor(slot, shape.fine_rows->order_factors[to_size(std::int64_t{m})]);
  }
}

/// Returns the modes of the lanes on all equidistant rings.
template <class Value>
columns::OrderRows<Value> ResampledOrders::equidistant_rows(const Lanes& lanes, Value* rows) const {
  columns::OrderRows<Value> result{{}, fields_.n_components()};
  for (std::size_t i = 0; i < lanes.size; ++i) {
    const auto [order, component] = lanes.lanes[i];
    result.first[i] = rows + static_cast<std::int64_t>(order) * row_size() + component;
  }
  return result;
}

/// Calls whole(rings, modes of the first one [lane]) for rings on which every order holds all modes
/// or none, otherwise partly(rings), own(lane, ring, modes) and aliased(lane, ring, modes) for the
/// modes the orders hold; a few rings at a time for all lanes, so that they stay in the cache.
template <class Value, class Work>
void ResampledOrders::for_each_target(const Lanes& lanes,
                                      const std::array<ModeRow<Value>, std::size_t{width}>& places,
                                      const Work& work) const {
  constexpr std::int64_t tile_rings = 64;
  const std::int64_t n_components = fields_.n_components();
  const auto for_each_piece = [&](const Lane& lane, RingRange tile, const auto& visit) {
    const auto all = [&](const auto& pieces, bool own) {
      for (const auto& piece : pieces) {
        const RingRange rings = intersection(piece.rings, tile);
        if (rings.empty()) continue;
        const std::int64_t place = (rings.begin - piece.rings.begin) * n_components;
        visit(rings, piece.modes + place + lane.component, own);
      }
    };
    all(places[lane.order].own, true);
    all(places[lane.order].aliased, false);
  };
  for (std::int64_t begin = lanes.kept.begin; begin < lanes.kept.end; begin += tile_rings) {
    const RingRange tile{begin, std::min(begin + tile_rings, lanes.kept.end)};
    columns::OrderRows<Value> rows{{}, n_components};
    bool all_or_none = true;
    for (std::size_t i = 0; i < lanes.size; ++i) {
      for_each_piece(lanes.lanes[i], tile, [&](RingRange rings, Value* at, bool own) {
        all_or_none = all_or_none && own && rings.size() == tile.size();
        rows.first[i] = at;
      });
    }
    if (all_or_none) {
      work.whole(tile, rows);
      continue;
    }
    work.partly(tile);
    for (std::size_t i = 0; i < lanes.size; ++i) {
      for_each_piece(lanes.lanes[i], tile, [&](RingRange rings, Value* at, bool own) {
        for (std::int64_t ring = rings.begin; ring < rings.end; ++ring, at += n_components) {
          own ? work.own(i, ring, at) : work.aliased(i, ring, at);
        }
      });
    }
  }
}

/// Clears the modes of an order on equidistant rings that only the spins of other fields keep, so
/// that the result for a field does not depend on the other fields.
void ResampledOrders::clear_left_out(int m, Complex* row) const {
  const std::int64_t n_components = fields_.n_components();
  for (std::int64_t c = 0; c < n_components; ++c) {
    const ResampledModes::OwnLimits* own = resampled_.own[to_size(c)].get();
    if (own == nullptr) continue;
    for_each_left_out(resampled_.limits.kept(m), own->equidistant.kept(m),
                      [&](std::int64_t ring) { row[ring * n_components + c] = 0; });
  }
}

/// The same for target rings.
void ResampledOrders::clear_left_out(const LegendreShape& shape, Rows group, const Lanes& lanes,
                                     ThetaResampling::Block& block) const {
  for (std::size_t i = 0; i < lanes.size; ++i) {
    const auto [order, component] = lanes.lanes[i];
    const ResampledModes::OwnLimits* own = resampled_.own[to_size(component)].get();
    if (own == nullptr) continue;
    const int m = shape.alm.order(group[order]);
    for_each_left_out(shape.limits.kept(m), own->targets.kept(m),
                      [&](std::int64_t ring) { block.set_target(static_cast<int>(i), ring, 0); });
  }
}

/// Writes the target rings of a block in a synthesis.
struct ResampledOrders::Writer {
  const FoldPhases& phases;
  const Lanes& lanes;
  Scratch& scratch;

  void whole(RingRange rings, const columns::OrderRows<Complex>& modes) const {
    columns::unpack_orders(scratch.block->target_row(rings.begin), rings.size(), modes);
  }
  void partly(RingRange /*rings*/) const {}
  void own(std::size_t lane, std::int64_t ring, Complex* mode) const {
    *mode = scratch.block->target(static_cast<int>(lane), ring);
  }
  void aliased(std::size_t lane, std::int64_t ring, Complex* mode) const {
    const FoldRule::Alias& alias = scratch.outputs[lanes.lanes[lane].order].alias;
    phases.add(scratch.block->target(static_cast<int>(lane), ring), ring, alias, *mode);
  }
};

/// Reads the target rings of a block in an adjoint.
struct ResampledOrders::Reader {
  const FoldPhases& phases;
  const Lanes& lanes;
  Scratch& scratch;

  void whole(RingRange rings, const columns::OrderRows<const Complex>& modes) const {
    columns::pack_orders(modes, rings.size(), scratch.block->target_row(rings.begin));
  }
  void partly(RingRange rings) const { scratch.block->clear_target(rings); }
  void own(std::size_t lane, std::int64_t ring, const Complex* mode) const {
    scratch.block->set_target(static_cast<int>(lane), ring, *mode);
  }
  void aliased(std::size_t lane, std::int64_t ring, const Complex* mode) const {
    const FoldRule::Alias& alias = scratch.inputs[lanes.lanes[lane].order].alias;
    scratch.block->set_target(static_cast<int>(lane), ring, phases.repeat(*mode, ring, alias));
  }
};

template <class T>
void ResampledOrders::synthesize(const LegendreShape& shape, Rows rows, AlmView<const T> alm,
                                 ModePieces<double> modes, Scratch& scratch) const {
  ThetaResampling::Block& block = *scratch.block;
  for_each_group(rows, [&](Rows group) {
    for (std::size_t order = 0; order < group.size(); ++order) {
      const int m = shape.alm.order(group[order]);
      const RingRange rings = resampled_.limits.kept(m);
      Complex* row = scratch.rows.data() + static_cast<std::int64_t>(order) * row_size();
      Complex* first = row + rings.begin * fields_.n_components();
      std::fill(row, first, Complex());
      std::fill(row + rings.end * fields_.n_components(), row + row_size(), Complex());
      scratch.row.own.assign(1, {rings, first});
      sweep_.synthesize<T>(m, rings, alm_row<const T>(shape, group[order], alm), scratch.row,
                           scratch.sweep);
      clear_left_out(m, row);
      find_modes(shape, group[order], modes, scratch.outputs[order]);
    }
    const Complex* values = scratch.rows.data();
    for_each_block(shape, group, [&](const Lanes& lanes) {
      set_columns(shape, group, lanes, block);
      columns::pack_orders(equidistant_rows(lanes, values), plan_.equidistant().n_rings(),
                           block.equidistant_row(0));
      plan_.resample(block, lanes.kept);
      clear_left_out(shape, group, lanes, block);
      for_each_target(lanes, scratch.outputs, Writer{*phases_, lanes, scratch});
    });
  });
}

template <class T>
void ResampledOrders::adjoint(const LegendreShape& shape, Rows rows, ModePieces<const double> modes,
                              AlmView<T> alm, Accumulate how, Scratch& scratch) const {
  ThetaResampling::Block& block = *scratch.block;
  for_each_group(rows, [&](Rows group) {
    for (std::size_t order = 0; order < group.size(); ++order)
      find_modes(shape, group[order], modes, scratch.inputs[order]);
    Complex* values = scratch.rows.data();
    for_each_block(shape, group, [&](const Lanes& lanes) {
      set_columns(shape, group, lanes, block);
      for_each_target(lanes, scratch.inputs, Reader{*phases_, lanes, scratch});
      clear_left_out(shape, group, lanes, block);
      plan_.adjoint(block, lanes.kept);
      columns::unpack_orders(block.equidistant_row(0), plan_.equidistant().n_rings(),
                             equidistant_rows(lanes, values));
    });
    for (std::size_t order = 0; order < group.size(); ++order) {
      const int m = shape.alm.order(group[order]);
      const RingRange rings = resampled_.limits.kept(m);
      Complex* row = values + static_cast<std::int64_t>(order) * row_size();
      clear_left_out(m, row);
      scratch.input_row.own.assign(1, {rings, row + rings.begin * fields_.n_components()});
      sweep_.adjoint<T>(m, rings, scratch.input_row, alm_row<T>(shape, group[order], alm), how,
                        scratch.sweep);
    }
  });
}

template void ResampledOrders::synthesize<double>(const LegendreShape&, Rows, AlmView<const double>,
                                                  ModePieces<double>, Scratch&) const;
template void ResampledOrders::synthesize<float>(const LegendreShape&, Rows, AlmView<const float>,
                                                 ModePieces<double>, Scratch&) const;
template void ResampledOrders::adjoint<double>(const LegendreShape&, Rows, ModePieces<const double>,
                                               AlmView<double>, Accumulate, Scratch&) const;
template void ResampledOrders::adjoint<float>(const LegendreShape&, Rows, ModePieces<const double>,
                                              AlmView<float>, Accumulate, Scratch&) const;

}  // namespace ringweave::detail::inline legendre
