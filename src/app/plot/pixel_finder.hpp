// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>

#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {

/// Finds the pixels of a rank that are nearest to points of the sky.
class PixelFinder {
 public:
  /// The rings whose pixels may be nearest to the points of one colatitude: none where the grid has
  /// no ring within 1.5 median ring distances.
  struct Row {
    struct Candidate {
      const Ring* ring = nullptr;
      std::int64_t first_local = -1;  ///< number of the ring's first pixel; -1: on another rank
      double sin2_half_dtheta = 0;
      double sine_product = 0;
    };
    std::array<Candidate, 3> candidates;
    int n_candidates = 0;
    bool has_owned = false;
  };

  /// Keeps a reference to the rings.
  explicit PixelFinder(const LocalRings& rings);
  Row row(double theta) const;
  /// Returns the local number of the pixel nearest to longitude phi, or -1 if there is none or
  /// another rank owns it.
  static std::int64_t nearest(const Row& row, double phi);

 private:
  double distance(std::int64_t ring, double theta) const;
  void add(RingId id, double theta, Row& row) const;

  const LocalRings& rings_;
  double reach_;
};

/// UsageError unless the raster has pixels and a map those of the rings.
void require_raster(const LocalRings& rings, std::int64_t map_size, int width, int height);

/// Returns the place of a sub-sample, of two in each of the n pixels along an axis that goes from
/// -extent to extent.
inline double sub_sample(int i, int half, int n, double extent) {
  return extent * (2 * (i + 0.25 + 0.5 * half) / n - 1);
}

}  // namespace ringweave::detail::inline app
