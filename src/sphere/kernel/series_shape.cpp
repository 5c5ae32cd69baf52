// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "sphere/kernel/kernel_fit.hpp"
#include "sphere/kernel/kernel_shape.hpp"
#include "sphere/kernel/kernel_table.hpp"
#include "sphere/kernel/legendre_sums.hpp"
#include "sphere/kernel/spin_sums.hpp"

namespace ringweave::detail::inline sphere {
namespace {

using std::numbers::pi;

std::vector<double> gaussian_multipoles(double sigma, int spin) {
  // sum_{l > L} (2l+1) K_l is the integral of exp(-x); the part left out is 1e-18 of the peak.
  const double end = std::sqrt(2 * std::log(1e18)) / sigma;
  constexpr double most = 1 << 22;
  if (end > most) {
    throw UsageError(fmt::format(
        "a Gaussian kernel of fwhm = {:.3g} rad is a sum over {:.3g} degrees, {:.3g} are the most; "
        "so narrow a kernel changes no map of this size, leave it out",
        sigma * std::sqrt(8 * std::log(2.0)), end, most));
  }
  std::vector<double> k_l;
  for (int l = 0; l <= static_cast<int>(end) + 1; ++l) {
    const double degree = l;
    const double of_spin = spin * spin;
    k_l.push_back(std::exp(-(degree * (degree + 1) - of_spin) * sigma * sigma / 2));
  }
  return k_l;
}

}  // namespace

SeriesShape::SeriesShape(std::vector<double> k_l, int spin, bool acts_on_conjugate)
    : k_l_(std::move(k_l)), spin_(spin), acts_on_conjugate_(acts_on_conjugate) {
  for (std::size_t l = 0; l < std::min(k_l_.size(), to_size(spin)); ++l) k_l_[l] = 0;
  for (std::size_t l = 0; l < k_l_.size(); ++l) {
    coefficient_.push_back((2 * static_cast<double>(l) + 1) / (4 * pi) * k_l_[l]);
    bound_ += std::abs(coefficient_.back());
  }
  // Drop the highest degrees as long as their sum is below rounding.
  double left_out = 0;
  while (k_l_.size() > 1) {
    left_out += std::abs(coefficient_.back());
    if (left_out > 1e-17 * bound_) break;
    coefficient_.pop_back();
    k_l_.pop_back();
  }
}

double SeriesShape::end() const { return pi; }

std::vector<double> SeriesShape::whole_multipoles(int lmax) const {
  std::vector<double> k_l = k_l_;
  k_l.resize(static_cast<std::size_t>(lmax) + 1, 0.0);
  return k_l;
}

ChordNodes SeriesShape::nodes(double theta_cut, double polynomial_degree) const {
  const std::array<double, 2> edges{0, pi};
  return ChordQuadrature(Integrand::polynomial, degree() + polynomial_degree)
      .nodes(edges, theta_cut);
}

LegendreSeriesValues SeriesShape::sums(std::span<const double> chord_squared) const {
  if (spin_ == 0) return sum_legendre_series(coefficient_, chord_squared);
  return acts_on_conjugate_ ? sum_conjugate_series(spin_, coefficient_, chord_squared)
                            : sum_spin_series(spin_, coefficient_, chord_squared);
}

std::vector<double> SeriesShape::values(const ChordNodes& nodes) const {
  LegendreSeriesValues found = sums(nodes.near());
  const std::span<const double> far = nodes.far();
  // On the whole sphere the far nodes mirror the near ones.
  if (std::equal(far.rbegin(), far.rend(), nodes.near().begin(), nodes.near().end())) {
    found.near.insert(found.near.end(), found.far.rbegin(), found.far.rend());
  } else if (!far.empty()) {
    const LegendreSeriesValues beyond = sums(far);
    found.near.insert(found.near.end(), beyond.far.begin(), beyond.far.end());
  }
  const bool lacks_factor = spin_ > 0 && !acts_on_conjugate_;
  for (std::size_t i = 0; lacks_factor && i < found.near.size(); ++i)
    found.near[i] *= nodes.cosine_power(i, 2 * spin_);
  return std::move(found.near);
}

double SeriesShape::half_width(double theta_cut) const {
  // The interpolation error at n Chebyshev points is max |f^(n)| h^n / (2^(n-1) n!). The n = 8th
  // derivative of P_l with respect to theta is at most 35/128 (l+1)^8, at theta = 0; away from
  // there theta varies faster than the chord. Without its factor in front d^l_ss is larger by 2^s
  // at 90 degrees, and at most as large up to there. d^l_s,-s is a trigonometric polynomial of
  // degree l, at most 1.
  const double stretch = 1 / std::cos(std::min(theta_cut, pi / 2) / 2);
  const double highest = degree() + spin_ + 1.0;
  double sum = 0;
  for (std::size_t l = 0; l < coefficient_.size(); ++l)
    sum += std::abs(coefficient_[l]) * std::pow((static_cast<double>(l) + spin_ + 1) / highest, 8);
  const double largest = acts_on_conjugate_ ? 1 : 35.0 / 128 * std::exp2(spin_);
  const double derivative = largest * sum / bound_;
  constexpr double tolerance = 1e-15;
  constexpr double factor = 128.0 * 40320;
  return std::pow(tolerance * factor / derivative, 1.0 / 8) / (highest * stretch);
}

KernelTable SeriesShape::tabulate(double theta_cut) const {
  KernelTable table;
  table.chord_squared_cut = chord_squared_at_cut(theta_cut);
  table.scale = 1 / (2 * half_width(theta_cut));
  const bool has_far = table.chord_squared_cut > 2;
  const auto cell_at = [&](double chord_squared) {
    return static_cast<std::int64_t>(table.scale * std::sqrt(std::max(0.0, chord_squared)));
  };
  const std::int64_t n_near = cell_at(std::min(table.chord_squared_cut, 2.0)) + 1;
  const std::int64_t first_far = has_far ? cell_at(4 - table.chord_squared_cut) : n_near;
  const double work = 8 * static_cast<double>(n_near) * (degree() + 1.0);
  constexpr double most = 2e10;  // half a minute on one core
  if (work > most) {
    throw UsageError(fmt::format(
        "a kernel with degrees up to {} cut at {:.4g} degrees needs a table of {} pieces, {:.2g} "
        "steps to make, {:.2g} are the most; cut it at a smaller angle, or convolve with it in "
        "harmonic space",
        degree(), theta_cut * 180 / pi, 2 * n_near - first_far, work, most));
  }
  table.far_offset = n_near - first_far;
  const PieceFit fit;
  std::vector<double> chord_squared;
  for (std::int64_t cell = 0; cell < n_near; ++cell) {
    for (const double s : fit.points()) {
      const double chord = (static_cast<double>(cell) + (1 + s) / 2) / table.scale;
      chord_squared.push_back(chord * chord);
    }
  }
  const LegendreSeriesValues values = sums(chord_squared);
  const auto add = [&](const std::vector<double>& value, std::int64_t cell) {
    PieceFit::Values at{};
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = value[to_size(cell) * at.size() + i];
    table.pieces.push_back(fit.piece(at, 0.5));
  };
  for (std::int64_t cell = 0; cell < n_near; ++cell) add(values.near, cell);
  for (std::int64_t cell = first_far; cell < n_near; ++cell) add(values.far, cell);
  return table;
}

GaussianShape::GaussianShape(double sigma, int spin)
    : SeriesShape(gaussian_multipoles(sigma, spin), spin), sigma_(sigma) {}

double GaussianShape::white_noise_angle(double error) const {
  // Wide kernels see the curvature of the sphere; searching all of it costs degree^2.
  constexpr int narrow = 2048;
  if (degree() < narrow) return KernelShape::white_noise_angle(error);
  // On the plane a fraction exp(-theta^2 / sigma^2) of the integral of the square is beyond theta;
  // the curvature of the sphere changes it by O(sigma^2).
  return sigma_ * std::sqrt(2 * std::log(1 / error)) * (1 + sigma_ * sigma_);
}

}  // namespace ringweave::detail::inline sphere
