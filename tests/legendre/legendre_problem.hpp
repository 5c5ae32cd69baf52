// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail {

using Complex = std::complex<double>;

/// Random complex numbers with unit variance, the same for the same seed.
inline std::vector<Complex> random_values(std::int64_t count, unsigned seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal(0, std::sqrt(0.5));
  std::vector<Complex> values(to_size(count));
  for (Complex& value : values) value = {normal(engine), normal(engine)};
  return values;
}

/// A Legendre stage with a mode layout of one segment per order, as on one rank without an
/// exchange; optionally only of the given orders.
struct LegendreProblem {
  enum class Fold { no, yes };

  LegendreProblem(const RingGrid& ring_grid, int lmax, int mmax, const std::vector<int>& spins,
                  Fold fold = Fold::no, const std::vector<int>& orders = {})
      : LegendreProblem(ring_grid, ModeLimits(ring_grid, lmax, mmax, FieldSet(spins).max_spin()),
                        spins, nullptr, fold, orders) {}
  LegendreProblem(RingGrid ring_grid, const ModeLimits& limits, const std::vector<int>& spins,
                  const std::shared_ptr<const DeconvolvedRows>& fine_rows, Fold fold = Fold::no,
                  const std::vector<int>& orders = {})
      : grid(std::make_shared<const RingGrid>(std::move(ring_grid))),
        fields(spins),
        alm_layout(orders.empty() ? AlmLayout(limits.lmax(), limits.mmax())
                                  : AlmLayout(limits.lmax(), limits.mmax(), orders)) {
    if (fold == Fold::yes) fold_rule = FoldRule::for_grid(*grid, limits.mmax());
    std::int64_t position = 0;
    for (std::int64_t i = 0; i < alm_layout.n_orders(); ++i) {
      const int m = alm_layout.order(i);
      rows.begin_row(m);
      const RingRange kept = limits.kept(m);
      RingRange folded;
      if (fold_rule.active() && fold_rule.alias(m).m0 != m) {
        folded = intersection(kept, fold_rule.rings);
        rows.fold_row(fold_rule.alias(m).m0, folded);
      }
      for (const RingRange& part : {RingRange{kept.begin, folded.empty() ? kept.end : folded.begin},
                                    RingRange{folded.empty() ? kept.end : folded.end, kept.end}}) {
        rows.add_segment(part, position);
        position += part.size();
      }
    }
    rows.set_size(position);
    LegendreShape shape{grid, limits, fold_rule, alm_layout, rows, fields};
    shape.fine_rows = fine_rows;
    stage = make_legendre_stage(std::move(shape), Backend::host);
  }

  std::int64_t alm_size() const { return alm_layout.size() * fields.n_components(); }
  std::int64_t modes_size() const { return rows.size() * fields.n_components(); }

  template <class T>
  std::vector<Complex> synthesize(const std::vector<std::complex<T>>& alm) const {
    std::vector<Complex> modes(to_size(modes_size()));
    stage->synthesize(AlmView<const T>(alm.data(), fields.n_components(), alm_layout.size()),
                      view(modes));
    return modes;
  }
  std::vector<Complex> adjoint(const std::vector<Complex>& modes) const {
    std::vector<Complex> alm(to_size(alm_size()));
    adjoint(modes, alm, Accumulate::overwrite);
    return alm;
  }
  template <class T>
  void adjoint(const std::vector<Complex>& modes, std::vector<std::complex<T>>& alm,
               Accumulate how) const {
    stage->adjoint(ModeView<const double>(modes.data(), ssize64(modes)),
                   AlmView<T>(alm.data(), fields.n_components(), alm_layout.size()), how);
  }

  /// Calls visit(row, ring, mode index of component 0) for every mode.
  template <class Visit>
  void for_each_mode(Visit&& visit) const {
    for (std::int64_t row = 0; row < ssize64(rows.rows()); ++row) {
      for (const RowSegment& segment : rows.segments(rows.rows()[to_size(row)])) {
        for (std::int64_t ring = segment.rings.begin; ring < segment.rings.end; ++ring) {
          visit(row, ring, (segment.first + ring - segment.rings.begin) * fields.n_components());
        }
      }
    }
  }

  static ModeView<double> view(std::vector<Complex>& modes) {
    return {modes.data(), ssize64(modes)};
  }

  std::shared_ptr<const RingGrid> grid;
  FieldSet fields;
  AlmLayout alm_layout;
  ModeLayout rows;
  FoldRule fold_rule;
  std::unique_ptr<LegendreStage> stage;
};

inline LegendreShape shape_of(const LegendreProblem& problem) {
  const AlmLayout& alm = problem.alm_layout;
  const ModeLimits limits(*problem.grid, alm.lmax(), alm.mmax(), problem.fields.max_spin());
  return {problem.grid, limits, problem.fold_rule, alm, problem.rows, problem.fields};
}

/// Errors over the rms of the expected values.
struct RelativeError {
  double rms = 0;
  double max = 0;
};
inline RelativeError relative_error(const std::vector<Complex>& values,
                                    const std::vector<Complex>& expected) {
  long double difference = 0;
  long double norm = 0;
  double worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    difference += std::norm(values[i] - expected[i]);
    norm += std::norm(expected[i]);
    worst = std::max(worst, std::abs(values[i] - expected[i]));
  }
  if (norm == 0) return {static_cast<double>(difference), worst};
  const long double count = static_cast<long double>(expected.size());
  return {static_cast<double>(std::sqrt(difference / norm)),
          worst / static_cast<double>(std::sqrt(norm / count))};
}

}  // namespace ringweave::detail
