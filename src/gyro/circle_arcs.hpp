// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/host_device.hpp"

// Arcs of circles between the lines of a grid: one piece of code for the host and for devices.
namespace ringweave::detail::inline gyro {

/// A circle in units of the spacings: semi-axes rho / h_x and rho / h_y.
struct GridCircle {
  double x = 0;
  double y = 0;

  /// Tells whether it has no extent but for rounding.
  RINGWEAVE_HOST_DEVICE bool is_point() const { return x < 1e-300 || y < 1e-300; }
};

/// A point in units of the spacings: cell + fraction along each axis. Kept as two, so that circles
/// about nodes, which have fraction 0, lose no digits.
struct GridPoint {
  struct Position {
    std::int64_t cell = 0;
    double fraction = 0;  ///< 0 <= fraction < 1
  };
  Position x;
  Position y;
};

/// Cells [begin, end) of an axis; cell i is between the grid lines i and i + 1.
struct CellRange {
  std::int64_t begin = 0;
  std::int64_t end = 0;

  static constexpr std::int64_t unlimited = std::int64_t{1} << 50;
  static constexpr CellRange all() { return {-unlimited, unlimited}; }
};
struct CellBox {
  CellRange x;
  CellRange y;
};

inline constexpr double arc_epsilon = std::numeric_limits<double>::epsilon();

/// Returns a radius, in spacings, that is a whole number but for rounding (4 epsilon) as that
/// number: where a circle touches a grid line, rounding would open an arc as long as the root of
/// it.
RINGWEAVE_HOST_DEVICE double rounded_radius(double radius) {
  const double whole = std::rint(radius);
  const double gap = radius < whole ? whole - radius : radius - whole;
  return gap <= 4 * arc_epsilon * whole ? whole : radius;
}
/// Returns the circle with both semi-axes rounded.
RINGWEAVE_HOST_DEVICE GridCircle rounded_circle(const GridCircle& circle) {
  return {rounded_radius(circle.x), rounded_radius(circle.y)};
}

/// An arc of a circle inside one cell, in a quadrant, where angles go from the x axis on towards
/// the y axis, whatever the signs.
struct CircleArc {
  double half = 0;  ///< of its angle, at most pi / 16
  double c = 1;     ///< cosine and sine of its middle
  double s = 0;
  double x_sign = 1;  ///< of x - centre
  double y_sign = 1;
  std::int64_t cell_x = 0;
  std::int64_t cell_y = 0;
};

/// A direction in a quadrant.
struct ArcCut {
  double c = 1;
  double s = 0;

  /// Grows with the angle, by 1 to sqrt(2) for each radian.
  RINGWEAVE_HOST_DEVICE double order() const { return s - c; }
};

/// A semi-axis of a circle.
struct ArcRadius {
  double length = 0;
  double inverse = 0;
  double reach = 0;  ///< distances from here on are no crossing

  /// Returns where the circle is at this distance along x: at the ends of the quadrant when it does
  /// not get there.
  RINGWEAVE_HOST_DEVICE ArcCut along_x(double distance) const {
    if (distance >= reach) return {1, 0};
    if (distance <= 0) return {0, 1};
    return {distance * inverse,
            std::sqrt((length - distance) * inverse * ((length + distance) * inverse))};
  }
};

/// One axis of a circle as a quadrant sees it: distances from the centre grow with its sign.
class ArcSide {
 public:
  RINGWEAVE_HOST_DEVICE ArcSide(double semi_axis, double direction,
                                const GridPoint::Position& centre)
      : sign_(direction), cell_(centre.cell), fraction_(centre.fraction) {
    // A fraction has the rounding error of the whole coordinate.
    const double position = static_cast<double>(cell_) + fraction_;
    const double rounding = fraction_ == 0 ? 0 : std::fabs(position);
    radius_ = {semi_axis, 1 / semi_axis, semi_axis - 8 * arc_epsilon * (semi_axis + rounding)};
  }

  RINGWEAVE_HOST_DEVICE double sign() const { return sign_; }
  RINGWEAVE_HOST_DEVICE const ArcRadius& radius() const { return radius_; }
  RINGWEAVE_HOST_DEVICE double distance(std::int64_t line) const {
    return sign_ * (static_cast<double>(line - cell_) - fraction_);
  }
  RINGWEAVE_HOST_DEVICE ArcCut along_x(double distance) const { return radius_.along_x(distance); }
  RINGWEAVE_HOST_DEVICE ArcCut along_y(double distance) const {
    const ArcCut cut = radius_.along_x(distance);
    return {cut.s, cut.c};
  }
  /// Returns the cell of the point at a distance of `share` of the radius.
  RINGWEAVE_HOST_DEVICE std::int64_t cell(double share) const {
    return cell_ + floor_of(fraction_ + sign_ * (radius_.length * share));
  }
  /// Returns the number of the last line that is not beyond the point at a distance of `share` of
  /// the radius, but for rounding. Numbers grow with the distance.
  RINGWEAVE_HOST_DEVICE double line_before(double share) const {
    return static_cast<double>(floor_of(radius_.length * share + sign_ * fraction_));
  }
  RINGWEAVE_HOST_DEVICE double distance_of_line(double line) const {
    return line - sign_ * fraction_;
  }

 private:
  RINGWEAVE_HOST_DEVICE static std::int64_t floor_of(double number) {
    const auto whole = static_cast<std::int64_t>(number);
    return static_cast<double>(whole) > number ? whole - 1 : whole;
  }

  ArcRadius radius_;
  double sign_;
  std::int64_t cell_;
  double fraction_;
};

/// Lists the arcs of one quadrant of an ellipse about a point that lie inside a box of cells: cut
/// at all grid lines and at multiples of pi / 8, so that none is long. The circle is no point.
/// Touching a line is no crossing. The quadrants of one circle mirror each other to the last digit
/// where the centre is a node.
///
///     QuadrantArcs arcs(circle, centre, box, quadrant);
///     for (CircleArc arc; arcs.next(arc);) ...
class QuadrantArcs {
 public:
  static constexpr int n_quadrants = 4;

  RINGWEAVE_HOST_DEVICE QuadrantArcs(const GridCircle& circle, const GridPoint& centre,
                                     const CellBox& box, int quadrant)
      : x_(circle.x, quadrant % 2 == 0 ? 1 : -1, centre.x),
        y_(circle.y, quadrant / 2 == 0 ? 1 : -1, centre.y),
        box_(box) {
    const Span along_x(x_, box.x);
    const Span along_y(y_, box.y);
    if (along_x.is_missed(x_) || along_y.is_missed(y_)) return;
    // x falls with the angle, y grows.
    now_ = x_.along_x(along_x.farthest);
    end_ = y_.along_y(along_y.farthest);
    if (along_x.nearest > 0) {
      const ArcCut cut = x_.along_x(along_x.nearest);
      if (cut.order() < end_.order()) end_ = cut;
    }
    if (along_y.nearest > 0) {
      const ArcCut cut = y_.along_y(along_y.nearest);
      if (now_.order() < cut.order()) now_ = cut;
    }
    is_done_ = !(now_.order() < end_.order());
    if (is_done_) return;
    // Rounding at the beginning: lines too many are sorted out by their order.
    x_line_ = x_.line_before(now_.c) + 1;
    y_line_ = y_.line_before(now_.s);
    x_cut_ = x_.along_x(x_.distance_of_line(x_line_));
    y_cut_ = y_.along_y(y_.distance_of_line(y_line_));
  }

  /// Finds the next arc; false: there is none.
  RINGWEAVE_HOST_DEVICE bool next(CircleArc& arc) {
    while (!is_done_) {
      ArcCut to = next_cut();
      if (!(to.order() < end_.order())) {
        to = end_;
        is_done_ = true;
      }
      if (!(now_.order() < to.order())) continue;
      arc = arc_between(now_, to);
      now_ = to;
      return true;
    }
    return false;
  }

 private:
  static constexpr int n_sectors = 4;

  /// Distances of a box.
  struct Span {
    double nearest;
    double farthest;

    RINGWEAVE_HOST_DEVICE Span(const ArcSide& side, const CellRange& range)
        : nearest(side.distance(range.begin)), farthest(side.distance(range.end)) {
      if (nearest <= farthest) return;
      const double swapped = nearest;
      nearest = farthest;
      farthest = swapped;
    }
    RINGWEAVE_HOST_DEVICE bool is_missed(const ArcSide& side) const {
      return farthest <= 0 || nearest >= side.radius().reach;
    }
  };

  RINGWEAVE_HOST_DEVICE static ArcCut begin_of_sector(int sector) {
    constexpr double large = 0.92387953251128676;  // cos(pi / 8)
    constexpr double small = 0.38268343236508977;
    constexpr double middle = 0.70710678118654752;
    if (sector == 1) return {large, small};
    if (sector == 2) return {middle, middle};
    return sector == 3 ? ArcCut{small, large} : ArcCut{0, 1};
  }

  /// Returns the next one of all cuts.
  RINGWEAVE_HOST_DEVICE ArcCut next_cut() {
    const ArcCut of_sector = begin_of_sector(sector_);
    const bool x_first = x_cut_.order() < y_cut_.order();
    const ArcCut of_line = x_first ? x_cut_ : y_cut_;
    if (of_sector.order() < of_line.order()) {
      ++sector_;
      return of_sector;
    }
    if (x_first) {
      x_line_ -= 1;
    } else {
      y_line_ += 1;
    }
    // One root for lines of either axis. Values are chosen, not places, which registers lack.
    const ArcRadius& x = x_.radius();
    const ArcRadius& y = y_.radius();
    const ArcRadius radius{x_first ? x.length : y.length, x_first ? x.inverse : y.inverse,
                           x_first ? x.reach : y.reach};
    const ArcCut cut =
        radius.along_x(x_first ? x_.distance_of_line(x_line_) : y_.distance_of_line(y_line_));
    if (x_first) {
      x_cut_ = cut;
    } else {
      y_cut_ = {cut.s, cut.c};
    }
    return of_line;
  }

  RINGWEAVE_HOST_DEVICE CircleArc arc_between(const ArcCut& from, const ArcCut& to) const {
    const double c = from.c + to.c;
    const double s = from.s + to.s;
    const double inverse = 1 / std::sqrt(c * c + s * s);
    const double cross = from.c * (to.s - from.s) - from.s * (to.c - from.c);
    CircleArc arc{arc_tangent(2 * cross * inverse * inverse), c * inverse, s * inverse, x_.sign(),
                  y_.sign()};
    // The cell is that of the middle; an arc that is outside the box by rounding is put inside.
    arc.cell_x = within(box_.x, x_.cell(arc.c));
    arc.cell_y = within(box_.y, y_.cell(arc.s));
    return arc;
  }
  RINGWEAVE_HOST_DEVICE static std::int64_t within(const CellRange& range, std::int64_t cell) {
    if (cell < range.begin) return range.begin;
    return cell < range.end ? cell : range.end - 1;
  }
  /// Returns the angle of a tangent of at most that of pi / 16, by its series.
  RINGWEAVE_HOST_DEVICE static double arc_tangent(double t) {
    const double q = t * t;
    const double high = 1. / 13 - q * (1. / 15 - q * (1. / 17 - q * (1. / 19 - q / 21)));
    const double low = 1. / 7 - q * (1. / 9 - q * (1. / 11 - q * high));
    return t - t * (q * (1. / 3 - q * (1. / 5 - q * low)));
  }

  ArcSide x_;
  ArcSide y_;
  CellBox box_;
  ArcCut now_;
  ArcCut end_;
  ArcCut x_cut_;  ///< at the next lines
  ArcCut y_cut_;
  double x_line_ = 0;
  double y_line_ = 0;
  int sector_ = 1;
  bool is_done_ = true;
};

}  // namespace ringweave::detail::inline gyro
