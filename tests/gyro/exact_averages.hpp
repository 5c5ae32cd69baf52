// SPDX-License-Identifier: GPL-3.0-or-later
// Averages of functions on [-1, 1]^2 over circles, zero outside, by quadrature of their arcs.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include "base/gauss_legendre.hpp"

namespace ringweave::detail::test {

/// A function and where its restriction to a circle is not smooth.
struct PlaneFunction {
  const char* name;
  double (*value)(double x, double y);
  /// Adds angles in any turn.
  void (*add_breaks)(double x, double y, double rho, std::vector<double>& breaks);
};

inline double bell(double x, double y) { return std::exp(-22 * (x * x + y * y)); }
inline double runge(double x, double y) {
  const double distance2 = (x - 0.2) * (x - 0.2) + (y + 0.5) * (y + 0.5);
  return (1 - x * x) * (1 - y * y) / (1 + 25 * distance2);
}
inline double horn(double x, double y) { return std::sqrt(std::hypot(x - 0.2, y + 0.5)); }
inline double ridge(double x, double y) {
  const double l = std::max(0.0, 0.75 - std::abs(x - y));
  return (1 - x * x) * (1 - y * y) * l * l * l * l * (4 * std::abs(x - y) + 1);
}

inline void add_no_breaks(double, double, double, std::vector<double>&) {}
/// The direction of the horn's point: finer and finer arcs about it.
inline void add_horn_breaks(double x, double y, double, std::vector<double>& breaks) {
  const double direction = std::atan2(-0.5 - y, 0.2 - x);
  breaks.push_back(direction);
  for (double away = 0.3; away > 1e-7; away /= 4) {
    breaks.push_back(direction - away);
    breaks.push_back(direction + away);
  }
}
/// Where x - y is 0 or +-0.75.
inline void add_ridge_breaks(double x, double y, double rho, std::vector<double>& breaks) {
  for (const double difference : {-0.75, 0.0, 0.75}) {
    const double cosine = (difference - (x - y)) / (std::numbers::sqrt2 * rho);
    if (std::abs(cosine) >= 1) continue;
    breaks.push_back(-std::numbers::pi / 4 + std::acos(cosine));
    breaks.push_back(-std::numbers::pi / 4 - std::acos(cosine));
  }
}

inline constexpr PlaneFunction plane_functions[] = {{"bell", bell, add_no_breaks},
                                                    {"runge", runge, add_no_breaks},
                                                    {"horn", horn, add_horn_breaks},
                                                    {"ridge", ridge, add_ridge_breaks}};

/// Averages a function about a point. One object per thread.
class ExactAverage {
 public:
  ExactAverage() : nodes_(gauss_legendre_nodes(16)) {}

  double operator()(const PlaneFunction& f, double x, double y, double rho) {
    constexpr double pi = std::numbers::pi;
    breaks_.clear();
    for (int k = 0; k < 16; ++k) breaks_.push_back(k * pi / 8);
    for (const double edge : {-1.0, 1.0}) {
      if (std::abs(edge - x) < rho) add_both(std::acos((edge - x) / rho));
      if (std::abs(edge - y) < rho) {
        const double angle = std::asin((edge - y) / rho);
        breaks_.push_back(angle);
        breaks_.push_back(pi - angle);
      }
    }
    f.add_breaks(x, y, rho, breaks_);
    for (double& angle : breaks_) angle -= 2 * pi * std::floor(angle / (2 * pi));
    std::sort(breaks_.begin(), breaks_.end());
    breaks_.push_back(breaks_.front() + 2 * pi);
    double sum = 0;
    for (std::size_t i = 1; i < breaks_.size(); ++i)
      sum += of_arc(f, x, y, rho, breaks_[i - 1], breaks_[i]);
    return sum / (2 * pi);
  }

 private:
  void add_both(double angle) {
    breaks_.push_back(angle);
    breaks_.push_back(-angle);
  }
  double of_arc(const PlaneFunction& f, double x, double y, double rho, double begin,
                double end) const {
    const double middle = (begin + end) / 2;
    const double half = (end - begin) / 2;
    const bool is_inside =
        std::abs(x + rho * std::cos(middle)) <= 1 && std::abs(y + rho * std::sin(middle)) <= 1;
    if (!is_inside || half == 0) return 0;
    double sum = 0;
    for (const QuadratureNode& node : nodes_) {
      const double t = middle + half * node.cos_theta;
      sum += node.weight * f.value(x + rho * std::cos(t), y + rho * std::sin(t));
    }
    return half * sum;
  }

  std::vector<QuadratureNode> nodes_;
  std::vector<double> breaks_;
};

}  // namespace ringweave::detail::test
