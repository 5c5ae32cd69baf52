// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "distribute/points/point_exchange.hpp"
#include "nonuniform/fine_taps.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline nonuniform {

/// Reports a choice of taps and the plan of the points.
PointReport report_of(const PointSpec& spec, const TapChoice& choice, const PointPlan& plan);

/// The taps and fine rows chosen for a specification and a number of points, the points at the
/// ranks that own their rows, and the sums over these rows.
class PlannedPoints {
 public:
  /// field  the taps of a FineField, whose rows are there whether touched or not; null: they are
  ///        chosen for these points
  PlannedPoints(const Communicator& comm, const PointSpec& asked, const PointAngles& angles,
                const std::shared_ptr<const FineTaps>& field);

  std::int64_t n_components() const { return has_psi_ ? 1 : spec_.fields.n_components(); }
  bool has_psi() const { return has_psi_; }
  const PointSpec& spec() const { return spec_; }
  const std::shared_ptr<const FineTaps>& taps() const { return taps_; }
  const PointExchange& exchange() const { return exchange_; }
  const PointReport& report() const { return report_; }
  std::int64_t bytes() const { return exchange_.bytes() + sums_.bytes(); }

  /// [component of the fields][point of exchange().summed()] sums over this rank's rows.
  ComponentView<double> sums() { return sums_.view(); }
  /// * Computes the values of the points that this rank lists from the sums of all ranks, which it
  /// overwrites.
  template <class T>
  void gather(ComponentView<T> values);
  /// * Overwrites sums by the transpose.
  template <class T>
  void scatter(ComponentView<const T> values);

 private:
  void detect();
  void emit();

  bool has_psi_;  ///< some rank's points have it
  PointSpec spec_;
  std::shared_ptr<const FineTaps> taps_;
  PointExchange exchange_;
  ComponentBuffer<double> sums_;
  PointReport report_;
};

}  // namespace ringweave::detail::inline nonuniform
