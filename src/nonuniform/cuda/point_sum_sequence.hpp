// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/for_groups.hpp"
#include "nonuniform/cuda/interpolate_launch.hpp"
#include "nonuniform/cuda/point_sum_plan.hpp"
#include "nonuniform/cuda/spread_launch.hpp"
#include "nonuniform/cuda/turn_launch.hpp"
#include "nonuniform/summed_points.hpp"
#include "ringweave/alm.hpp"

namespace ringweave::detail::gpu {

/// Launches of the sums over the taps of points, and of the turns of their frames, in order.
/// Machine runs them: a device, or its emulation on the host (see StageSequence).
template <class Machine>
class PointSumSequence {
 public:
  /// beyond_pole  [component] factor of rows beyond a pole, (-1)^spin
  PointSumSequence(const PointSumPlan& plan, const FrameTurns& turns, const TapPolynomials& theta,
                   const TapPolynomials& phi, std::span<const double> beyond_pole, Machine& machine)
      : machine_(&machine),
        beyond_pole_(beyond_pole.begin(), beyond_pole.end()),
        n_tiles_(ssize64(plan.tiles)),
        theta_(upload_taps(theta)),
        phi_(upload_taps(phi)),
        first_value_(machine.upload(plan.first_value)),
        places_(machine.upload(plan.places)),
        tiles_(machine.upload(plan.tiles)),
        visits_(machine.upload(plan.visits)),
        group_begins_(machine.upload(plan.group_begins)),
        visited_(machine.upload(plan.visited)),
        turned_(turns.fields),
        cos_gamma_(machine.upload(turns.cos_gamma.data(), ssize64(turns.cos_gamma))),
        sin_gamma_(machine.upload(turns.sin_gamma.data(), ssize64(turns.sin_gamma))),
        tables_{plan.grid,           theta,          phi,
                first_value_.data(), places_.data(), ssize64(plan.places),
                tiles_.data(),       visits_.data(), group_begins_.data(),
                visited_.data(),     plan.n_groups()} {
    tables_.theta.coefficients = theta_.data();
    tables_.phi.coefficients = phi_.data();
  }

  /// Overwrites values, [component][point].
  void interpolate(ComponentsAt<const double> rows, ComponentsAt<double> values) {
    for_groups<2, 1>(0, ssize64(beyond_pole_), [&](auto count, std::int64_t c) {
      constexpr int n = decltype(count)::value;
      const ComponentsAt<const double> from = {rows.first + c * rows.stride, rows.stride};
      const ComponentsAt<double> to = {values.first + c * values.stride, values.stride};
      if (tables_.phi.half == 4) {
        interpolate_with<InterpolatePoints<8, n>>(c, from, to);
      } else {
        interpolate_with<InterpolatePoints<16, n>>(c, from, to);
      }
    });
    turn(values, 1);
  }

  /// Overwrites the rows of this rank. The values are turned back.
  void spread(ComponentsAt<double> values, ComponentsAt<double> rows) {
    turn(values, -1);
    for_groups<2, 1>(0, ssize64(beyond_pole_), [&](auto count, std::int64_t c) {
      constexpr int n = decltype(count)::value;
      const ComponentsAt<const double> from = {values.first + c * values.stride, values.stride};
      const ComponentsAt<double> to = {rows.first + c * rows.stride, rows.stride};
      if (tables_.theta.half == 4 && tables_.phi.half == 4) {
        spread_with<SpreadPoints<16, n>>(c, from, to);
      } else {
        spread_with<SpreadPoints<32, n>>(c, from, to);
      }
    });
  }

  std::int64_t bytes() const {
    return theta_.bytes() + phi_.bytes() + first_value_.bytes() + places_.bytes() + tiles_.bytes() +
           visits_.bytes() + group_begins_.bytes() + visited_.bytes() + cos_gamma_.bytes() +
           sin_gamma_.bytes();
  }

 private:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  Buffer<double> upload_taps(const TapPolynomials& taps) const {
    return machine_->upload(taps.coefficients, std::int64_t{taps.n_terms} * taps.row_size());
  }
  void turn(ComponentsAt<double> values, double sign) {
    for (const FieldSet::Field& field : turned_) {
      double* const first = values.first + field.first_component * values.stride;
      const TurnFrames launch{
          cos_gamma_.data(),    sin_gamma_.data(), tables_.n_points, sign, field.spin, first,
          first + values.stride};
      machine_->launch(launch, launch.n_blocks());
    }
  }
  template <class Launch>
  void set_factors(Launch& launch, std::int64_t component) const {
    for (double& factor : launch.beyond_pole) factor = beyond_pole_[to_size(component++)];
  }
  template <class Launch>
  void interpolate_with(std::int64_t component, const ComponentsAt<const double>& rows,
                        const ComponentsAt<double>& values) {
    Launch launch{tables_, rows, {}, values};
    set_factors(launch, component);
    machine_->launch(launch, launch.n_blocks());
  }

  template <class Launch>
  void spread_with(std::int64_t component, const ComponentsAt<const double>& values,
                   const ComponentsAt<double>& rows) {
    const std::int64_t n_pieces = Launch::pieces(tables_.grid.n_columns);
    Launch launch{tables_, n_pieces, values, {}, rows};
    set_factors(launch, component);
    machine_->launch(launch, n_tiles_ * n_pieces);
  }

  Machine* machine_;
  std::vector<double> beyond_pole_;
  std::int64_t n_tiles_;
  Buffer<double> theta_;
  Buffer<double> phi_;
  Buffer<std::int64_t> first_value_;
  Buffer<PointPlace> places_;
  Buffer<SpreadTile> tiles_;
  Buffer<TileVisit> visits_;
  Buffer<std::int64_t> group_begins_;
  Buffer<std::uint32_t> visited_;
  std::vector<FieldSet::Field> turned_;
  Buffer<double> cos_gamma_;
  Buffer<double> sin_gamma_;
  PointTables tables_;
};

}  // namespace ringweave::detail::gpu
