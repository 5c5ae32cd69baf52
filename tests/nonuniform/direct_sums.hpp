// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/direct_harmonics.hpp"
#include "nonuniform/point_problem.hpp"

namespace ringweave::detail::test {

/// Direct sums at points of different colatitudes, for one field.
class DirectSums {
 public:
  DirectSums(int lmax, int spin, Directions at)
      : lmax_(lmax),
        spin_(spin),
        points_(std::move(at)),
        rings_(std::make_unique<PointRings>(spec_of(lmax_, {spin_}, 1e-2), points_)) {}

  const Directions& points() const { return points_; }
  ComponentBuffer<double> values(const AlmBuffer<double>& alm) const {
    const MapBuffer<double> map = synthesized(*rings_->transform, alm);
    ComponentBuffer<double> values = of_numbers(map, rings_->places);
    sum_orders(alm, next_to_poles(), values.view());
    return values;
  }
  /// Returns the values of a_lm that are zero but for one order, from sums in quad precision.
  ComponentBuffer<double> values_of_order(int m, const AlmBuffer<double>& alm) const {
    ComponentBuffer<double> values(alm.n_components(), points_.size());
    Summed all{std::vector<std::int64_t>(to_size(points_.size())), m, m};
    std::iota(all.points.begin(), all.points.end(), std::int64_t{0});
    sum_orders(alm, all, values.view());
    return values;
  }
  AlmBuffer<double> adjoint(const ComponentBuffer<double>& values) const {
    const ComponentBuffer<double> rest = off_poles(values);
    MapBuffer<double> map(values.n_components(), values.size());
    for (std::int64_t c = 0; c < values.n_components(); ++c) {
      for (std::int64_t i = 0; i < values.size(); ++i)
        map.view().component(c)[rings_->places[to_size(i)]] = rest.view().component(c)[i];
    }
    AlmBuffer<double> alm = adjoint_of(*rings_->transform, map);
    add_from_next_to_poles(values, alm.view());
    return alm;
  }
  /// Returns values that are zero at the points next to the poles.
  ComponentBuffer<double> off_poles(const ComponentBuffer<double>& values) const {
    ComponentBuffer<double> rest = copy_of(values);
    for (std::int64_t i = 0; i < points_.size(); ++i) {
      for (std::int64_t c = 0; c < rest.n_components() && ring_of(i).sin_theta < near_pole; ++c)
        rest.view().component(c)[i] = 0;
    }
    return rest;
  }

 private:
  using LongComplex = std::complex<long double>;
  static constexpr LongComplex imaginary{0, 1};

  /// The transform's own sums lose digits next to the poles, about as l^1.5; few orders count
  /// there.
  static constexpr double near_pole = 0.0101;

  const Ring& ring_of(std::int64_t point) const {
    return rings_->transform->spec().grid->ring(RingId{rings_->places[to_size(point)]});
  }
  int most_m_on(const Ring& ring) const {
    const double turns = lmax_ * ring.sin_theta;
    return std::min(lmax_, static_cast<int>(turns + 12 * std::cbrt(turns)) + 30);
  }

  /// Points, and the orders that count there.
  struct Summed {
    std::vector<std::int64_t> points;
    int least_m = 0;
    int most_m = -1;
    int n_orders() const { return most_m - least_m + 1; }
  };
  Summed next_to_poles() const {
    Summed near;
    for (std::int64_t point = 0; point < points_.size(); ++point) {
      if (ring_of(point).sin_theta >= near_pole) continue;
      near.points.push_back(point);
      near.most_m = std::max(near.most_m, most_m_on(ring_of(point)));
    }
    return near;
  }
  /// Calls use(number in at.points, modes of degrees 0 to lmax_) for an order, with modes of quad
  /// precision. Several orders are summed side by side, or the points of one.
  template <class Use>
  void for_modes_of_order(int m, const Summed& at, const Use& use) const {
    std::optional<DirectHarmonics> scalar;
    std::optional<DirectSpinModes> of_spin;
    if (spin_ == 0) {
      scalar.emplace(lmax_, m, 0);
    } else {
      of_spin.emplace(lmax_, m, spin_);
    }
#pragma omp parallel for schedule(dynamic) if (at.n_orders() == 1)
    for (std::size_t k = 0; k < at.points.size(); ++k) {
      const Ring& ring = ring_of(at.points[k]);
      // A single order may count nowhere.
      if (at.n_orders() > 1 && m > most_m_on(ring)) continue;
      if (of_spin) {
        use(k, of_spin->at(ring));
        continue;
      }
      std::vector<SpinMode> modes;
      for (const long double lambda : scalar->at(ring)) modes.push_back({lambda, 0});
      use(k, modes);
    }
  }
  LongComplex turn(int m, std::int64_t point) const {
    return std::polar(1.0L, m * static_cast<long double>(ring_of(point).phi0));
  }

  /// Overwrites the values at some points.
  void sum_orders(const AlmBuffer<double>& alm, const Summed& at,
                  ComponentView<double> values) const {
    const AlmLayout& layout = rings_->transform->alm_layout();
    using Modes = std::array<LongComplex, 2>;
    std::vector<std::vector<Modes>> sums(to_size(at.n_orders()),
                                         std::vector<Modes>(at.points.size()));
#pragma omp parallel for schedule(dynamic) if (at.n_orders() > 1)
    for (int m = at.least_m; m <= at.most_m; ++m) {
      const auto a = [&](std::int64_t component, int l) {
        return LongComplex(alm.view().component(component)[layout.index(layout.row_of(m), l)]);
      };
      for_modes_of_order(m, at, [&](std::size_t k, const std::vector<SpinMode>& modes) {
        auto& [mode, other] = sums[to_size(m - at.least_m)][k];
        for (int l = m; l <= lmax_; ++l) {
          const SpinMode& of_l = modes[to_size(l)];
          mode += of_l.gradient * a(0, l);
          if (alm.n_components() == 1) continue;
          mode += imaginary * of_l.curl * a(1, l);
          other += of_l.gradient * a(1, l) - imaginary * of_l.curl * a(0, l);
        }
      });
    }
    for (std::size_t k = 0; k < at.points.size(); ++k) {
      Modes sum{};
      for (int m = at.least_m; m <= at.most_m; ++m) {
        const LongComplex factor = (m == 0 ? 1.0L : 2.0L) * turn(m, at.points[k]);
        for (std::size_t c = 0; c < sum.size(); ++c)
          sum[c] += factor * sums[to_size(m - at.least_m)][k][c];
      }
      for (std::int64_t c = 0; c < values.n_components(); ++c)
        values.component(c)[at.points[k]] = static_cast<double>(sum[to_size(c)].real());
    }
  }
  /// The transpose, added to a_lm.
  void add_from_next_to_poles(const ComponentBuffer<double>& values, AlmView<double> alm) const {
    const Summed near = next_to_poles();
    const AlmLayout& layout = rings_->transform->alm_layout();
#pragma omp parallel for schedule(dynamic)
    for (int m = 0; m <= near.most_m; ++m) {
      std::vector<std::array<LongComplex, 2>> sums(to_size(lmax_ + 1));
      for_modes_of_order(m, near, [&](std::size_t k, const std::vector<SpinMode>& modes) {
        std::array<LongComplex, 2> turned{};
        for (std::int64_t c = 0; c < alm.n_components(); ++c) {
          const long double value = values.view().component(c)[near.points[k]];
          turned[to_size(c)] = std::conj(turn(m, near.points[k])) * value;
        }
        for (int l = m; l <= lmax_; ++l) {
          const SpinMode& of_l = modes[to_size(l)];
          auto& [gradient, curl] = sums[to_size(l)];
          gradient += of_l.gradient * turned[0] + imaginary * of_l.curl * turned[1];
          curl += of_l.gradient * turned[1] - imaginary * of_l.curl * turned[0];
        }
      });
      for (int l = m; l <= lmax_; ++l) {
        for (std::int64_t c = 0; c < alm.n_components(); ++c)
          alm.component(c)[layout.index(layout.row_of(m), l)] +=
              std::complex<double>(sums[to_size(l)][to_size(c)]);
      }
    }
  }

  int lmax_;
  int spin_;
  Directions points_;
  std::unique_ptr<PointRings> rings_;
};

/// Returns the rms over the sphere of a component that is one mode of order m: a = 1, with m > 0
/// a = 1 - i / 2.
inline double rms_of_mode(int m) {
  return std::sqrt((m == 0 ? 1 : 2 * 1.25) / (4 * std::numbers::pi));
}

/// Returns errors over the rms of the expected values, or over `rms` if that is larger: of points
/// where a field is small.
inline RelativeError error_over(double rms, const ComponentBuffer<double>& values,
                                const ComponentBuffer<double>& expected) {
  const RelativeError error = relative_error(Communicator::self(), values, expected);
  long double squares = 0;
  const std::int64_t n = expected.n_components() * expected.size();
  for (std::int64_t i = 0; i < n; ++i)
    squares += std::pow(static_cast<long double>(expected.view().data()[i]), 2);
  const auto rms_here = static_cast<double>(std::sqrt(squares / static_cast<long double>(n)));
  // Where all values are zero relative_error() is absolute.
  const double own_scale = rms_here > 0 ? rms_here : 1;
  const double scale = own_scale / std::max(rms, rms_here);
  return {error.rms * scale, error.max * scale};
}

}  // namespace ringweave::detail::test
