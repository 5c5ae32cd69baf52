// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/gauss_legendre.hpp"

namespace ringweave::detail::inline sphere {

/// The two halves of the distances, up to 90 degrees and beyond. A kernel is smooth in the chord c
/// = 2 sin(theta / 2) to a point in the near half, and in the chord sqrt(4 - c^2) to its antipode
/// in the far half.
enum class Half { near, far };

/// Convert between an angle and the chord of its half.
double chord_of(Half half, double theta);
double angle_of(Half half, double chord);

/// Quadrature nodes over a disc, from its centre outwards.
struct ChordNodes {
  std::vector<double> theta;
  std::vector<double> chord_squared;  ///< [node], in the chord of its half
  std::vector<double> weight;         ///< steradians
  std::size_t n_near = 0;             ///< the nodes from here on are far ones

  // Return cos(theta / 2)^power and sin(theta / 2)^power at a node; power is even.
  double cosine_power(std::size_t node, int power) const;
  double sine_power(std::size_t node, int power) const;
  std::span<const double> near() const { return std::span(chord_squared).first(n_near); }
  std::span<const double> far() const { return std::span(chord_squared).subspan(n_near); }
};

/// Class of integrands.
enum class Integrand {
  polynomial,  ///< a polynomial of the given degree in cos(theta)
  piecewise    ///< such a polynomial times a cubic in theta on every panel
};

/// Gauss-Legendre quadrature in the chord, panel by panel, accurate to rounding.
class ChordQuadrature {
 public:
  ChordQuadrature(Integrand integrand, double degree) : integrand_(integrand), degree_(degree) {}

  /// Returns nodes for the panels between ascending angles, the first 0, up to theta_cut.
  ChordNodes nodes(std::span<const double> edges, double theta_cut);

 private:
  void append(Half half, double theta_low, double theta_high, ChordNodes& nodes);
  std::int64_t count(double low, double high) const;

  Integrand integrand_;
  double degree_;
  std::map<std::int64_t, std::vector<QuadratureNode>> rules_;  // often shared by panels
};

}  // namespace ringweave::detail::inline sphere
