// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/unit_powers.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"
#include "sphere/order_segments.hpp"

// Data read by the launches of a ring convolution: plain structs, computed on the host.
namespace ringweave::detail::gpu {

/// Partners of one ring whose kernel modes are sums of samples at the same longitudes.
struct PartnerTile {
  static constexpr int most_partners = 12;

  std::int32_t first = 0;  ///< ring of the grid; the others follow, `step` rings apart
  std::int32_t n_partners = 0;
  std::int32_t step = 1;
  std::int32_t n_samples = 0;  ///< from the middle of the kernel on
  std::int32_t half = 0;       ///< 1: samples are shifted by half of their distance
  std::int32_t rule = 0;
  std::int32_t limit = 0;  ///< highest order that a pair has
};

/// A ring whose modes are computed, together with its mirror image where a grid has one: both have
/// the same kernel modes.
struct OutputRing {
  std::int64_t ring = 0;  ///< of the grid
  bool is_own = false;
  bool is_mirror_own = false;  ///< false too where the mirror is the ring itself
  std::int64_t limit = 0;      ///< highest order
  std::int64_t first_tile = 0;
  std::int64_t n_tiles = 0;
};

/// Numbers of samples around a ring.
struct SampleRule {
  std::int64_t around = 0;
  std::int64_t powers = 0;  ///< first factor of exp(i pi k / around)
  std::int64_t sines = 0;   ///< of sin^2(pi h / (2 around))
};

/// A ring of the grid.
struct SumRing {
  double theta = 0;
  double cos_theta = 0;
  double sin_theta = 0;
  double weight = 0;
  double offset = 0;  ///< of its first pixel from longitude 0, in pixels
  std::int64_t n_phi = 0;
  RingOffset first;  ///< of its pixels, in the map or the halo
  /// Pixel `mirror` - p, or the one a turn away, is at longitude -phi where p is at phi; -1 where
  /// the ring begins neither at longitude 0 nor half a pixel from it.
  std::int64_t mirror = -1;
};

/// An own ring whose sums over pixels go over rings within some ranges.
struct PixelRing {
  std::int64_t ring = 0;
  bool has_modes = false;  ///< the map has the sum of the others already
  RingRange partners;
  RingRange but;  ///< without these
};

/// Own rings whose sums over pixels are formed by one launch.
struct PixelRings {
  std::vector<PixelRing> rings;
  std::int64_t longest = 0;  ///< pixels of a ring

  void add(const PixelRing& ring, std::int64_t n_phi) {
    rings.push_back(ring);
    longest = std::max(longest, n_phi);
  }
};

/// Own rings with sums over pixels, by the launches that form them.
struct PixelRingSets {
  PixelRings equal;  ///< all partners have as many pixels
  /// A quarter of a turn and a reflection leave the ring and its partners as they are.
  PixelRings symmetric;
  PixelRings other;
};

/// Plan of the sums of a rank on a device, made without a device. Every pair of rings that has
/// modes is summed by them, every other one over its pixels.
struct RingSumPlan {
  explicit RingSumPlan(const RingConvolutionPlan& plan);

  std::int64_t n_rings = 0;         ///< of the grid
  int spin = 0;                     ///< of all fields
  bool is_symmetric = false;        ///< ring r and n_rings - 1 - r mirror one another
  bool halves_nyquist = false;      ///< a synthesis counts a ring's Nyquist mode as two orders
  std::int64_t highest_order = -1;  ///< -1: no ring has modes
  std::vector<OutputRing> outputs;
  std::vector<PartnerTile> tiles;
  std::vector<SampleRule> rules;
  std::vector<double> sines;
  std::vector<UnitPowers::Request> powers;
  std::vector<OrderSegments> orders;  ///< [m] of own and halo rings, from north to south
  std::vector<RowSegment> segments;
  std::vector<OrderSegments> own_orders;  ///< [m] of own rings
  std::vector<RowSegment> own_segments;
  std::vector<SumRing> rings;  ///< [ring]
  PixelRingSets pixels;
  PixelRingSets conjugates;  ///< of the conjugates of fields of spin, added to all other sums

  /// Returns the bytes of the tables on the device.
  std::int64_t table_bytes() const;

 private:
  void plan_modes(const RingConvolutionPlan& plan);
  void sort_segments();
  void add_tiles(const RingConvolutionPlan& plan, OutputRing& output);
  std::int32_t rule_of(std::int64_t around);
  void add_sines();
  void plan_pixels(const RingConvolutionPlan& plan);
  void add_pixel_ring(const PixelRing& ring, PixelRingSets& sets) const;
};

}  // namespace ringweave::detail::gpu
