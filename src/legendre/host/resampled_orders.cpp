// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/resampled_orders.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "legendre/host/order_lanes.hpp"
#include "legendre/host/order_rows.hpp"

namespace ringweave {
namespace {

using Complex = ResampledOrders::Complex;
using Rows = ResampledOrders::Rows;

/// Calls work(rows of a block, the rings any of them keeps).
template <class Work>
void for_each_block(const LegendreShape& shape, Rows rows, const Work& work) {
  constexpr std::size_t width = ResampledOrders::width;
  for (std::size_t first = 0; first < rows.size(); first += width) {
    const Rows block = rows.subspan(first, std::min(width, rows.size() - first));
    RingRange kept{shape.grid->n_rings(), 0};
    for (const std::int64_t row : block) {
      const RingRange here = shape.limits.kept(shape.alm.order(row));
      if (!here.empty()) kept = {std::min(kept.begin, here.begin), std::max(kept.end, here.end)};
    }
    work(block, kept);
  }
}

static_assert(LegendreStage::rows_at_once % ResampledOrders::width == 0);

/// Calls whole(rings, modes of their first one [slot]) for rings on which every row holds all modes
/// or none, else single(rings), own(slot, ring, modes) and aliased(slot, ring, modes) for what the
/// rows hold; some rings of all rows after the other, so that they stay in the cache.
template <class T, std::size_t N, class Work>
void for_each_target(const LegendreShape& shape, Rows rows, RingRange kept,
                     std::array<ModeRow<typename ModePieces<T>::Value>, N>& places,
                     ModePieces<T> modes, const Work& work) {
  using Value = typename ModePieces<T>::Value;
  constexpr std::int64_t tile_rings = 64;
  const std::int64_t n_components = shape.fields.n_components();
  for (std::size_t slot = 0; slot < rows.size(); ++slot) {
    find_modes(shape, rows[slot], modes, places[slot]);
  }
  const auto for_each_piece = [&](std::size_t slot, RingRange tile, const auto& visit) {
    const auto all = [&](const auto& pieces, bool own) {
      for (const auto& piece : pieces) {
        const RingRange rings = intersection(piece.rings, tile);
        if (!rings.empty())
          visit(rings, piece.modes + (rings.begin - piece.rings.begin) * n_components, own);
      }
    };
    all(places[slot].own, true);
    all(places[slot].aliased, false);
  };
  for (std::int64_t begin = kept.begin; begin < kept.end; begin += tile_rings) {
    const RingRange tile{begin, std::min(begin + tile_rings, kept.end)};
    std::array<Value*, N> first{};
    bool all_or_none = true;
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      for_each_piece(slot, tile, [&](RingRange rings, Value* at, bool own) {
        all_or_none = all_or_none && own && rings.size() == tile.size();
        first[slot] = at;
      });
    }
    if (all_or_none) {
      work.whole(tile, first);
      continue;
    }
    work.partly(tile);
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      for_each_piece(slot, tile, [&](RingRange rings, Value* at, bool own) {
        for (std::int64_t ring = rings.begin; ring < rings.end; ++ring, at += n_components) {
          own ? work.own(slot, ring, at) : work.aliased(slot, ring, at);
        }
      });
    }
  }
}

}  // namespace

ResampledOrders::ResampledOrders(const LegendreShape& shape, const FoldPhases& phases)
    : fields_(shape.fields),
      phases_(&phases),
      plan_(*shape.grid, shape.alm.lmax()),
      limits_(plan_.equidistant(), shape.alm.lmax(), shape.limits.mmax(), fields_.max_spin()),
      sweep_(plan_.equidistant(), fields_, shape.alm.lmax(), shape.alm.mmax(), nullptr) {}

ResampledOrders::Scratch ResampledOrders::scratch() const {
  Scratch scratch;
  scratch.sweep = sweep_.scratch();
  const std::int64_t n_components = fields_.n_components();
  scratch.rows.allocate(plan_.target_size() / 2 * n_components);
  auto* targets = reinterpret_cast<double*>(scratch.rows.data());
  for (std::int64_t c = 0; c < n_components; ++c) {
    scratch.blocks.emplace_back(plan_, targets + c * plan_.target_size());
  }
  return scratch;
}

std::int64_t ResampledOrders::Scratch::bytes() const {
  std::int64_t total = sweep.bytes() + rows.size() * static_cast<std::int64_t>(sizeof(Complex));
  for (const ThetaResampling::Block& block : blocks) total += block.bytes();
  return total;
}

/// Where the slots of one component have their modes of all equidistant rings.
template <class Value>
columns::OrderRows<Value> ResampledOrders::equidistant_rows(std::size_t n_slots,
                                                            std::int64_t component,
                                                            Value* rows) const {
  columns::OrderRows<Value> result{{}, fields_.n_components()};
  for (std::size_t slot = 0; slot < n_slots; ++slot) {
    result.first[slot] = rows + static_cast<std::int64_t>(slot) * row_size() + component;
  }
  return result;
}

/// Calls work(block) for all components, the parities set.
template <class Work>
void ResampledOrders::for_each_component(const LegendreShape& shape, Rows rows, Scratch& scratch,
                                         const Work& work) const {
  const auto visit = [&](std::int64_t component, int spin) {
    ThetaResampling::Block& block = scratch.blocks[to_size(component)];
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      const bool odd = (shape.alm.order(rows[slot]) + spin) % 2 != 0;
      block.set_parity(static_cast<int>(slot), odd ? Parity::odd : Parity::even);
    }
    work(block);
  };
  for (const FieldSet::Field& field : fields_.fields()) {
    visit(field.first_component, field.spin);
    if (field.spin > 0) visit(field.first_component + 1, field.spin);
  }
}

/// What becomes of the target rings of a block of orders in a synthesis.
struct ResampledOrders::Writer {
  const FoldPhases& phases;
  Scratch& scratch;

  void whole(RingRange rings, const std::array<Complex*, std::size_t{width}>& modes) const {
    const std::int64_t n_components = ssize64(scratch.blocks);
    for (std::int64_t c = 0; c < n_components; ++c) {
      columns::OrderRows<Complex> rows{modes, n_components};
      for (Complex*& row : rows.first) row = row == nullptr ? nullptr : row + c;
      columns::unpack_orders(scratch.blocks[to_size(c)].target_row(rings.begin), rings.size(),
                             rows);
    }
  }
  void partly(RingRange /*rings*/) const {}
  void own(std::size_t slot, std::int64_t ring, Complex* modes) const {
    for (const ThetaResampling::Block& block : scratch.blocks)
      *modes++ = block.target(static_cast<int>(slot), ring);
  }
  void aliased(std::size_t slot, std::int64_t ring, Complex* modes) const {
    const FoldRule::Alias& alias = scratch.outputs[slot].alias;
    for (const ThetaResampling::Block& block : scratch.blocks)
      phases.add(block.target(static_cast<int>(slot), ring), ring, alias, *modes++);
  }
};

/// Where those of an adjoint come from.
struct ResampledOrders::Reader {
  const FoldPhases& phases;
  Scratch& scratch;

  void whole(RingRange rings, const std::array<const Complex*, std::size_t{width}>& modes) const {
    const std::int64_t n_components = ssize64(scratch.blocks);
    for (std::int64_t c = 0; c < n_components; ++c) {
      columns::OrderRows<const Complex> rows{modes, n_components};
      for (const Complex*& row : rows.first) row = row == nullptr ? nullptr : row + c;
      columns::pack_orders(rows, rings.size(), scratch.blocks[to_size(c)].target_row(rings.begin));
    }
  }
  void partly(RingRange rings) const {
    for (ThetaResampling::Block& block : scratch.blocks) block.clear_target(rings);
  }
  void own(std::size_t slot, std::int64_t ring, const Complex* modes) const {
    for (ThetaResampling::Block& block : scratch.blocks)
      block.set_target(static_cast<int>(slot), ring, *modes++);
  }
  void aliased(std::size_t slot, std::int64_t ring, const Complex* modes) const {
    const FoldRule::Alias& alias = scratch.inputs[slot].alias;
    for (ThetaResampling::Block& block : scratch.blocks)
      block.set_target(static_cast<int>(slot), ring, phases.repeat(*modes++, ring, alias));
  }
};

template <class T>
void ResampledOrders::synthesize(const LegendreShape& shape, Rows all_rows, AlmView<const T> alm,
                                 ModePieces<double> modes, Scratch& scratch) const {
  for_each_block(shape, all_rows, [&](Rows rows, RingRange kept) {
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      const int m = shape.alm.order(rows[slot]);
      const RingRange rings = limits_.kept(m);
      Complex* row = scratch.rows.data() + static_cast<std::int64_t>(slot) * row_size();
      Complex* first = row + rings.begin * fields_.n_components();
      std::fill(row, first, Complex());
      std::fill(row + rings.end * fields_.n_components(), row + row_size(), Complex());
      scratch.row.own.assign(1, {rings, first});
      sweep_.synthesize<T>(m, rings, alm_row<const T>(shape, rows[slot], alm), scratch.row,
                           scratch.sweep);
    }
    const Complex* values = scratch.rows.data();
    for (std::int64_t c = 0; c < fields_.n_components(); ++c) {
      columns::pack_orders(equidistant_rows(rows.size(), c, values), plan_.equidistant().n_rings(),
                           scratch.blocks[to_size(c)].equidistant_row(0));
    }
    for_each_component(shape, rows, scratch,
                       [&](ThetaResampling::Block& block) { plan_.resample(block, kept); });
    for_each_target(shape, rows, kept, scratch.outputs, modes, Writer{*phases_, scratch});
  });
}

template <class T>
void ResampledOrders::adjoint(const LegendreShape& shape, Rows all_rows,
                              ModePieces<const double> modes, AlmView<T> alm, Accumulate how,
                              Scratch& scratch) const {
  for_each_block(shape, all_rows, [&](Rows rows, RingRange kept) {
    for_each_target(shape, rows, kept, scratch.inputs, modes, Reader{*phases_, scratch});
    for_each_component(shape, rows, scratch,
                       [&](ThetaResampling::Block& block) { plan_.adjoint(block, kept); });
    Complex* values = scratch.rows.data();
    for (std::int64_t c = 0; c < fields_.n_components(); ++c) {
      columns::unpack_orders(scratch.blocks[to_size(c)].equidistant_row(0),
                             plan_.equidistant().n_rings(),
                             equidistant_rows(rows.size(), c, values));
    }
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      const int m = shape.alm.order(rows[slot]);
      const RingRange rings = limits_.kept(m);
      const Complex* row = scratch.rows.data() + static_cast<std::int64_t>(slot) * row_size();
      scratch.input_row.own.assign(1, {rings, row + rings.begin * fields_.n_components()});
      sweep_.adjoint<T>(m, rings, scratch.input_row, alm_row<T>(shape, rows[slot], alm), how,
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

}  // namespace ringweave
