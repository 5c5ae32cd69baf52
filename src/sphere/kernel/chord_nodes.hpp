// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "sphere/quadrature.hpp"

namespace ringweave {

/// Distances up to 90 degrees and beyond: a kernel is smooth in the chord c = 2 sin(theta / 2) to a
/// point, and in the chord sqrt(4 - c^2) to its antipode.
enum class Half { near, far };

/// The half's own chord of an angle, and back.
double chord_of(Half half, double theta);
double angle_of(Half half, double chord);

/// Nodes of a quadrature over a disc, from its centre outwards.
struct ChordNodes {
  std::vector<double> theta;
  std::vector<double> chord_squared;  ///< [node] of its half's chord
  std::vector<double> weight;         ///< steradians
  std::size_t n_near = 0;             ///< the nodes after these are far ones

  std::span<const double> near() const { return std::span(chord_squared).first(n_near); }
  std::span<const double> far() const { return std::span(chord_squared).subspan(n_near); }
};

/// What is integrated.
enum class Integrand {
  polynomial,  ///< of the given degree in cos(theta)
  piecewise    ///< such a polynomial times a cubic in theta on every panel
};

/// Gauss-Legendre in the chord, panel by panel, to rounding.
class ChordQuadrature {
 public:
  ChordQuadrature(Integrand integrand, double degree) : integrand_(integrand), degree_(degree) {}

  /// The panels between ascending angles that begin at 0, as far as theta_cut.
  ChordNodes nodes(std::span<const double> edges, double theta_cut);

 private:
  void append(Half half, double theta_low, double theta_high, ChordNodes& nodes);
  std::int64_t count(double low, double high) const;

  Integrand integrand_;
  double degree_;
  std::map<std::int64_t, std::vector<QuadratureNode>> rules_;  // neighbours mostly have the same
};

}  // namespace ringweave
