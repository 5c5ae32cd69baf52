// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/for_groups.hpp"
#include "base/cuda/row_pieces.hpp"
#include "gyro/cuda/radius_launches.hpp"
#include "gyro/cuda/radius_plan.hpp"

namespace ringweave::detail::gpu {

/// Launches that average over a radius for each node, or transpose that. Machine runs them: a
/// device, or its emulation on the host, with the interface that StageSequence needs. Planes are in
/// the memory of the machine.
template <class Machine>
class RadiusSequence {
 public:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  /// Planes whose arcs are found once for all.
  static constexpr int averages_together = 8;
  static constexpr int transposes_together = 2;

  /// most_planes  of a call, up to averages_together
  RadiusSequence(const RadiusPlan& plan, std::int64_t most_planes, Machine& machine)
      : machine_(&machine),
        interpolation_(plan.interpolation),
        grid_(plan.grid),
        most_planes_(most_planes),
        radii_(machine.upload(plan.radii.data(), plan.grid.n_targets())),
        rows_(machine.upload(plan.rows)),
        x_taps_(plan.x_taps, machine),
        y_taps_(plan.y_taps, machine) {}

  /// fields   [plane][node]
  /// results  [plane][target]; overwritten
  void average(std::int64_t n_planes, const double* fields, double* results) {
    if (interpolation_ == Interpolation::bilinear) return average<2>(n_planes, fields, results);
    double* const nodes = nodes_.grow(4 * grid_.n_nodes() * most_planes_, *machine_);
    const RowPieces pieces = node_rows(n_planes);
    machine_->launch(
        FindDerivatives{pieces, grid_.n_y, x_taps_.taps.data(), y_taps_.taps.data(), fields, nodes},
        pieces.n_blocks());
    average<4>(n_planes, nodes, results);
  }

  /// results  [plane][target]
  /// fields   [plane][node]; overwritten
  void transpose(std::int64_t n_planes, const double* results, double* fields) {
    if (interpolation_ == Interpolation::bilinear) return transpose<2>(n_planes, results, fields);
    const std::int64_t n = transposes_together * grid_.n_nodes();
    double* const nodes = nodes_.grow(4 * n, *machine_);
    double* const halves = halves_.grow(2 * n, *machine_);
    for_groups<transposes_together, 1>(0, n_planes, [&](auto count, std::int64_t plane) {
      transpose<4>(count, results + plane * grid_.n_targets(), nodes);
      spread(count, true, y_taps_, nodes, halves);
      spread(count, false, x_taps_, halves, fields + plane * grid_.n_nodes());
    });
  }

 private:
  /// DerivativeTaps in the memory of the machine.
  struct Taps {
    Buffer<DerivativeTaps::Tap> taps;
    Buffer<DerivativeTaps::Tap> transposed;
    Buffer<std::int64_t> begin;

    Taps(const DerivativeTaps& of, Machine& machine)
        : taps(machine.upload(of.taps)),
          transposed(machine.upload(of.transposed)),
          begin(machine.upload(of.begin)) {}
  };

  RowPieces node_rows(std::int64_t n_planes) const { return {n_planes * grid_.n_y, grid_.n_x}; }

  /// Memory that grows to the need of a call.
  struct Scratch {
    Buffer<double> buffer;

    double* grow(std::int64_t wanted, Machine& machine) {
      if (buffer.bytes() < wanted * std::int64_t{sizeof(double)})
        buffer = machine.template allocate<double>(wanted);
      return buffer.data();
    }
  };

  template <int n_functions>
  void average(std::int64_t n_planes, const double* nodes, double* results) {
    const std::int64_t of_plane = grid_.n_nodes() * numbers_of_node<n_functions>;
    for_groups<averages_together, 2, 1>(0, n_planes, [&](auto count, std::int64_t plane) {
      constexpr int planes = decltype(count)::value;
      using Launch = AverageTargets<n_functions, planes>;
      machine_->launch(Launch{grid_, radii_.data(), nodes + plane * of_plane,
                              results + plane * grid_.n_targets()},
                       Launch::n_blocks(grid_.n_targets()));
    });
  }

  /// nodes  [plane][node][numbers_of_node]
  template <int n_functions>
  void transpose(std::int64_t n_planes, const double* results, double* nodes) {
    constexpr int moments = n_functions * n_functions;
    const std::int64_t of_plane = grid_.n_nodes() * numbers_of_node<n_functions>;
    double* const cells = cells_.grow(moments * grid_.n_cells() * transposes_together, *machine_);
    for_groups<transposes_together, 1>(0, n_planes, [&](auto count, std::int64_t plane) {
      constexpr int planes = decltype(count)::value;
      using Sum = SumCells<n_functions, planes>;
      const double* const own = results + plane * grid_.n_targets();
      machine_->launch(Sum{grid_, rows_.data(), radii_.data(), own, cells},
                       Sum::n_blocks(grid_.n_cells()));
      const RowPieces pieces = node_rows(planes);
      machine_->launch(SumCorners<n_functions>{pieces, grid_, radii_.data(), own, cells,
                                               nodes + plane * of_plane},
                       pieces.n_blocks());
    });
  }

  void spread(std::int64_t n_planes, bool is_along_y, const Taps& taps, const double* from,
              double* to) {
    const RowPieces pieces = node_rows(n_planes);
    machine_->launch(SpreadDerivatives{pieces, grid_.n_y, is_along_y, taps.transposed.data(),
                                       taps.begin.data(), from, to},
                     pieces.n_blocks());
  }

  Machine* machine_;
  Interpolation interpolation_;
  RadiusGrid grid_;
  std::int64_t most_planes_;
  Buffer<double> radii_;
  Buffer<RowRadii> rows_;
  Taps x_taps_;
  Taps y_taps_;
  Scratch nodes_;   ///< [plane][node][4]
  Scratch halves_;  ///< [plane][node][2]
  Scratch cells_;   ///< [plane][moment][cell]
};

}  // namespace ringweave::detail::gpu
