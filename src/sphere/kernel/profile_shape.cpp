// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "sphere/kernel/kernel_fit.hpp"
#include "sphere/kernel/kernel_shape.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline sphere {
namespace {

/// Computes the slopes of a monotone cubic at the points: a weighted harmonic mean of the secants,
/// 0 at an extremum, the secant at both ends.
std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  const auto secant = [&](std::size_t i) { return (y[i + 1] - y[i]) / (x[i + 1] - x[i]); };
  std::vector<double> slope(n, 0.0);
  slope.front() = secant(0);
  slope.back() = secant(n - 2);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double before = secant(i - 1);
    const double after = secant(i);
    if (before == 0 || after == 0 || (before > 0) != (after > 0)) continue;
    const double left = x[i] - x[i - 1];
    const double right = x[i + 1] - x[i];
    slope[i] = 3 * (left + right) / ((2 * right + left) / before + (right + 2 * left) / after);
  }
  return slope;
}

}  // namespace

ProfileShape::ProfileShape(std::vector<double> theta, std::vector<double> value)
    : theta_(std::move(theta)), value_(std::move(value)), slope_(monotone_slopes(theta_, value_)) {
  for (const double v : value_) bound_ = std::max(bound_, std::abs(v));
}

double ProfileShape::cubic(std::size_t interval, double theta) const {
  const double step = theta_[interval + 1] - theta_[interval];
  const double secant = (value_[interval + 1] - value_[interval]) / step;
  const double first = slope_[interval];
  const double last = slope_[interval + 1];
  const double x = theta - theta_[interval];
  const double s = x / step;
  return value_[interval] +
         x * (first + s * ((3 * secant - 2 * first - last) + s * (first + last - 2 * secant)));
}

ChordNodes ProfileShape::nodes(double theta_cut, double polynomial_degree) const {
  return ChordQuadrature(Integrand::piecewise, polynomial_degree).nodes(theta_, theta_cut);
}

std::vector<double> ProfileShape::values(const ChordNodes& nodes) const {
  std::vector<double> result;
  std::size_t interval = 0;
  for (const double theta : nodes.theta) {
    while (interval + 2 < theta_.size() && theta > theta_[interval + 1]) ++interval;
    result.push_back(cubic(interval, theta));
  }
  return result;
}

std::vector<double> ProfileShape::whole_multipoles(int lmax) const {
  return cut_multipoles(end(), lmax);
}

std::vector<ProfileShape::Stretch> ProfileShape::stretches(Half half, double theta_cut) const {
  constexpr double equator = std::numbers::pi / 2;
  std::vector<Stretch> result;
  for (std::size_t i = 0; i + 1 < theta_.size() && theta_[i] < theta_cut; ++i) {
    const double first = half == Half::near ? theta_[i] : std::max(theta_[i], equator);
    const double last = std::min(theta_[i + 1], half == Half::near ? equator : theta_cut);
    if (!(first < last)) continue;
    double low = chord_of(half, half == Half::near ? first : last);
    const double high = chord_of(half, half == Half::near ? last : first);
    // theta has a branch point at a chord of 2. A piece that covers at most this part of the
    // distance to it is accurate to 1e-15.
    constexpr double part = 0.05;
    while (low < high) {
      const double reach = low + part * (2 - low);
      const double next = reach < high ? reach : high;
      result.push_back({i, low, next});
      low = next;
    }
  }
  std::sort(result.begin(), result.end(),
            [](const Stretch& a, const Stretch& b) { return a.low < b.low; });
  return result;
}

void ProfileShape::add_pieces(Half half, const std::vector<Stretch>& stretches,
                              KernelTable& table) const {
  const PieceFit fit;
  for (const Stretch& stretch : stretches) {
    const double middle = (stretch.low + stretch.high) / 2;
    const double half_width = (stretch.high - stretch.low) / 2;
    PieceFit::Values values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = cubic(stretch.interval, angle_of(half, middle + half_width * fit.points()[i]));
    table.pieces.push_back(fit.piece(values, table.scale * half_width));
    table.piece_end.push_back(table.scale * stretch.high);
    table.piece_centre.push_back(table.scale * middle);
  }
  table.piece_end.back() = std::numeric_limits<double>::infinity();
}

KernelTable ProfileShape::tabulate(double theta_cut) const {
  KernelTable table;
  table.chord_squared_cut = chord_squared_at_cut(theta_cut);
  const std::vector<Stretch> near = stretches(Half::near, theta_cut);
  const std::vector<Stretch> far = stretches(Half::far, theta_cut);
  // About as many cells as pieces: most cells then step over at most one piece.
  table.scale = 2 * static_cast<double>(near.size()) / near.back().high;
  const auto add_cells = [&](const std::vector<Stretch>& half, double low, double high) {
    const std::int64_t first_piece = ssize64(table.pieces) - ssize64(half);
    std::int64_t piece = first_piece;
    const auto first = static_cast<std::int64_t>(table.scale * low);
    const auto last = static_cast<std::int64_t>(table.scale * high);
    for (std::int64_t cell = first; cell <= last; ++cell) {
      while (table.piece_end[to_size(piece)] < static_cast<double>(cell)) ++piece;
      table.first_piece.push_back(static_cast<std::int32_t>(piece));
      std::int64_t reached = piece;
      while (table.piece_end[to_size(reached)] < static_cast<double>(cell + 1)) ++reached;
      table.most_steps = std::max(table.most_steps, reached - piece);
    }
    return first;
  };
  add_pieces(Half::near, near, table);
  add_cells(near, 0, std::sqrt(std::min(table.chord_squared_cut, 2.0)));
  // A cut at 90 degrees, widened for rounding, has no far pieces; its far cells are then the near
  // ones, since both chords are equal there.
  if (!far.empty()) {
    const std::int64_t n_near = ssize64(table.first_piece);
    add_pieces(Half::far, far, table);
    const double low = std::sqrt(std::max(0.0, 4 - table.chord_squared_cut));
    table.far_offset = n_near - add_cells(far, low, std::numbers::sqrt2);
  }
  return table;
}

}  // namespace ringweave::detail::inline sphere
