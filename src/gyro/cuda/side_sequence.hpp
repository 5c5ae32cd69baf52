// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/clear_values.hpp"
#include "fft/plane_filter.hpp"
#include "gyro/cuda/edge_scaling.hpp"
#include "gyro/cuda/side_launches.hpp"
#include "gyro/cuda/side_plan.hpp"
#include "gyro/scheme.hpp"
#include "gyro/stencil_tables.hpp"

namespace ringweave::detail::gpu {

/// Launches of all but the filter of bilinear and bicubic averages, in order. Machine runs them: a
/// device, or its emulation on the host, with the interface that StageSequence needs.
template <class Machine>
class SideSequence {
 public:
  /// most_planes  of a load
  /// most_sums    planes of results, at least as many
  SideSequence(const SideSums& sides, std::int64_t most_planes, std::int64_t most_sums,
               Machine& machine)
      : SideSequence(SidePlan(sides), most_planes, most_sums, machine) {}

  /// Returns the planes, sums from number `first` on.
  StencilPlanes planes(std::int64_t first = 0) {
    return {held_.data(), sums_.data() + first * plane_size(), work_.data(),
            work_.data() + first * layout_.work_size};
  }

  /// Tables of one more radius; its number is how many there were.
  void add_tables(const StencilTables& tables) { tables_.emplace_back(tables, *machine_); }
  void drop_tables() { tables_.clear(); }

  /// Loads the sides of planes that were copied to held.
  void load(Direction direction, std::int64_t n_planes) {
    if (direction == Direction::transpose) {
      held_edges_.scale(held_.data(), n_planes, 2);
      load_targets(n_planes);
      return;
    }
    const RowPieces pieces{n_planes, LoadSources::values(layout_)};
    if (pieces.row_length > 0)
      machine_->launch(LoadSources{pieces, layout_, planes(), rows()}, pieces.n_blocks());
  }
  /// Begins sums of as many planes as were loaded, from number `first` on.
  void clear(Direction direction, std::int64_t n_planes, std::int64_t first) {
    const StencilPlanes to = planes(first);
    clear_values(1, n_planes * plane_size(), 0, to.sums);
    for (const SideLines* lines : {&layout_.x, &layout_.y}) {
      if (!lines->is_used) continue;
      const std::int64_t n_sources = 2 * lines->margin * lines->stride;
      double* const begin = to.sums_work + lines->first - lines->before;
      if (direction == Direction::transpose) {
        clear_values(n_planes, n_sources, layout_.work_size, begin);
      } else if (lines == &layout_.x) {
        clear_values(n_planes, lines->n_targets * lines->stride, layout_.work_size,
                     begin + n_sources);
      }
    }
    if (direction == Direction::transpose && layout_.has_corners)
      clear_values(n_planes, 4 * layout_.margin * layout_.margin, layout_.work_size,
                   to.sums_work + layout_.corners);
  }
  /// Adds weight times the shares of the outermost nodes, with the tables of a radius.
  void add(Direction direction, std::int64_t number, double weight, std::int64_t n_planes,
           std::int64_t first) {
    const Tables& tables = tables_[to_size(number)];
    direction == Direction::average ? sum(tables, weight, n_planes, planes(first))
                                    : gather(tables, weight, n_planes, planes(first));
  }
  /// Adds weight times own rows to the sums, those of sources in a window.
  void add_identity(const FilterWindow& window, double weight, std::int64_t n_planes,
                    std::int64_t first) {
    const RowPieces pieces{n_planes, plane_size()};
    machine_->launch(AddIdentity{pieces,
                                 layout_,
                                 planes(first),
                                 {window.x_begin, window.x_end},
                                 {window.y_begin, window.y_end},
                                 weight},
                     pieces.n_blocks());
  }
  /// Puts the sides into all sums, to which filters are added before.
  void finish(Direction direction, std::int64_t n_planes) {
    if (direction == Direction::average) {
      const AddColumns launch{layout_, planes()};
      if (layout_.x.is_used) machine_->launch(launch, launch.n_blocks(n_planes));
      return;
    }
    const RowPieces pieces{n_planes, plane_size()};
    machine_->launch(StoreSources{pieces, layout_, planes()}, pieces.n_blocks());
    own_edges_.scale(sums_.data(), n_planes, 0.5);
  }

  /// Returns the bytes of the tables of a radius.
  std::int64_t table_bytes(std::int64_t number) const { return tables_[to_size(number)].bytes(); }

 private:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  /// A SideTable on the device.
  struct Side {
    Side(const SideTable& table, Machine& machine)
        : n_targets(table.n_targets),
          run_begin(machine.upload(table.run_begin)),
          runs(machine.upload(table.runs)),
          weights(machine.upload(table.weights)) {}
    SideWeights view() const { return {data(run_begin), data(runs), data(weights), n_targets}; }
    std::int64_t bytes() const { return run_begin.bytes() + runs.bytes() + weights.bytes(); }

    std::int64_t n_targets;
    Buffer<std::int64_t> run_begin;
    Buffer<SideTable::Run> runs;
    Buffer<double> weights;
  };
  /// CornerLists on the device.
  struct Corners {
    Corners(const CornerLists& lists, Machine& machine)
        : n_a(lists.n_a),
          n_b(lists.n_b),
          target_begin(machine.upload(lists.target_begin)),
          sources(machine.upload(lists.sources)),
          source_weights(machine.upload(lists.source_weights)),
          source_begin(machine.upload(lists.source_begin)),
          targets(machine.upload(lists.targets)),
          target_weights(machine.upload(lists.target_weights)) {}
    CornerWeights view() const {
      return {n_a,
              n_b,
              data(target_begin),
              data(sources),
              data(source_weights),
              data(source_begin),
              data(targets),
              data(target_weights)};
    }
    std::int64_t bytes() const {
      return target_begin.bytes() + sources.bytes() + source_weights.bytes() +
             source_begin.bytes() + targets.bytes() + target_weights.bytes();
    }

    std::int64_t n_a;
    std::int64_t n_b;
    Buffer<std::int32_t> target_begin;
    Buffer<std::int32_t> sources;
    Buffer<double> source_weights;
    Buffer<std::int32_t> source_begin;
    Buffer<CornerLists::Target> targets;
    Buffer<double> target_weights;
  };
  /// Tables of a radius.
  struct Tables {
    Tables(const StencilTables& tables, Machine& machine)
        : x_side(tables.x_side, machine),
          y_side(tables.y_side, machine),
          y_is_x(tables.y_side.margin == 0),
          corners(CornerLists(tables.corner), machine) {}
    SideWeights side_of_y() const { return y_is_x ? x_side.view() : y_side.view(); }
    std::int64_t bytes() const { return x_side.bytes() + y_side.bytes() + corners.bytes(); }

    Side x_side;
    Side y_side;
    bool y_is_x;
    Corners corners;
  };
  template <class T>
  static const T* data(const Buffer<T>& buffer) {
    return buffer.data();
  }

  SideSequence(const SidePlan& plan, std::int64_t most_planes, std::int64_t most_sums,
               Machine& machine)
      : machine_(&machine),
        layout_(plan.layout),
        x_source_rows_(machine.upload(plan.x_source_rows)),
        x_target_rows_(machine.upload(plan.x_target_rows)),
        y_source_columns_(machine.upload(plan.y_source_columns)),
        y_target_columns_(machine.upload(plan.y_target_columns)),
        y_source_rows_(machine.upload(plan.y_source_rows)),
        y_target_rows_(machine.upload(plan.y_target_rows)),
        line_of_row_(machine.upload(plan.line_of_row)),
        held_edges_(plan.held_edges, machine),
        own_edges_(plan.own_edges, machine),
        held_(machine.template allocate<double>(most_planes * layout_.held_rows * layout_.n_x)),
        sums_(machine.template allocate<double>(most_sums * plane_size())),
        work_(machine.template allocate<double>(most_sums * layout_.work_size)) {}

  std::int64_t plane_size() const { return layout_.n_rows * layout_.n_x; }
  SideRows rows() const {
    return {data(x_source_rows_),    data(x_target_rows_), data(y_source_columns_),
            data(y_target_columns_), data(y_source_rows_), data(y_target_rows_),
            data(line_of_row_)};
  }

  void clear_values(std::int64_t n_parts, std::int64_t size, std::int64_t stride, double* values) {
    const RowPieces pieces{n_parts, size};
    if (size > 0) machine_->launch(ClearValues{pieces, stride, values}, pieces.n_blocks());
  }
  void load_targets(std::int64_t n_planes) {
    const LoadTargetColumns columns{layout_, planes(), rows()};
    if (layout_.x.is_used) machine_->launch(columns, columns.n_blocks(n_planes));
    if (!layout_.y.is_used) return;
    const RowPieces pieces{n_planes * layout_.y.n_targets, layout_.y.length + 2 * layout_.y.reach};
    machine_->launch(LoadTargetRows{pieces, layout_, planes(), rows()}, pieces.n_blocks());
  }
  void sum(const Tables& tables, double weight, std::int64_t n_planes, const StencilPlanes& of) {
    if (layout_.x.is_used) {
      const RowPieces pieces{n_planes * layout_.x.n_targets, layout_.x.length};
      machine_->launch(SumColumns{pieces, layout_, of, tables.x_side.view(), weight},
                       pieces.n_blocks());
    }
    if (!layout_.y.is_used) return;
    const RowPieces pieces{n_planes * layout_.n_rows, layout_.n_x};
    machine_->launch(
        SumRows{pieces, layout_, of, rows(), tables.side_of_y(), tables.corners.view(), weight},
        pieces.n_blocks());
  }
  void gather(const Tables& tables, double weight, std::int64_t n_planes, const StencilPlanes& of) {
    const auto gather_lines = [&](const SideLines& lines, const RowRange* sources,
                                  const SideWeights& table) {
      if (!lines.is_used) return;
      const GatherLines launch{layout_, of, lines, {sources[0], sources[1]}, table, weight};
      machine_->launch(launch, launch.n_blocks(n_planes));
    };
    gather_lines(layout_.x, layout_.x_sources, tables.x_side.view());
    gather_lines(layout_.y, layout_.y_sources, tables.side_of_y());
    if (!layout_.has_corners) return;
    const GatherCorners launch{layout_, of, tables.corners.view(), weight};
    machine_->launch(launch, launch.n_blocks(n_planes));
  }

  Machine* machine_;
  SideLayout layout_;
  Buffer<std::int32_t> x_source_rows_;
  Buffer<std::int32_t> x_target_rows_;
  Buffer<std::int32_t> y_source_columns_;
  Buffer<std::int32_t> y_target_columns_;
  Buffer<std::int32_t> y_source_rows_;
  Buffer<std::int32_t> y_target_rows_;
  Buffer<std::int32_t> line_of_row_;
  EdgeScaling<Machine> held_edges_;
  EdgeScaling<Machine> own_edges_;
  Buffer<double> held_;  ///< [plane][held row][x]
  Buffer<double> sums_;  ///< [plane][own row][x]
  Buffer<double> work_;
  std::vector<Tables> tables_;
};

}  // namespace ringweave::detail::gpu
