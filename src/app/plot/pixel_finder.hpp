// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "app/plot/sky_frame.hpp"
#include "base/checked_cast.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

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

/// Returns this rank's share of a raster, [sum of the values, number of values][raster pixel], of
/// two sub-samples each way in each pixel. The plane is -extent to extent wide and -1 to 1 high.
/// point_at  (place in the plane) the point of the sky there, or nothing
template <class T, class PointAt>
std::vector<double> sums_of_samples(const LocalRings& rings, View<const T> map, int width,
                                    int height, const PointAt& point_at, double extent) {
  const std::int64_t size = checked_product(width, height, "pixels of the picture");
  std::vector<double> sums(to_size(2 * size), 0.0);
  const PixelFinder finder(rings);
#pragma omp parallel for schedule(dynamic)
  for (int j = 0; j < height; ++j) {
    for (int sample = 0; sample < 4 * width; ++sample) {
      const int i = sample / 4;
      const std::optional<SkyPoint> point = point_at(PlanePoint{
          sub_sample(i, sample % 2, width, extent), -sub_sample(j, sample / 2 % 2, height, 1)});
      if (!point) continue;
      const std::int64_t pixel = PixelFinder::nearest(finder.row(point->theta), point->phi);
      if (pixel < 0) continue;
      const double value = static_cast<double>(map[pixel]);
      if (is_unseen(value) || !std::isfinite(value)) continue;
      const std::int64_t place = static_cast<std::int64_t>(j) * width + i;
      sums[to_size(place)] += value;
      sums[to_size(size + place)] += 1;
    }
  }
  return sums;
}

/// Makes a raster of the shares of all ranks, [sum of the values, number of values][raster pixel]:
/// on rank 0 the mean of each pixel, UNSEEN where less than half of its sub-samples have a value,
/// NaN where there are none. Collective.
/// samples_of  (raster pixel) how many sub-samples of it are on the sky
template <class SamplesOf>
std::vector<double> raster_of(const Communicator& comm, std::vector<double> sums,
                              const SamplesOf& samples_of) {
  const std::int64_t size = ssize64(sums) / 2;
  comm.sum_to_root(sums.data(), ssize64(sums));
  double* const means = sums.data();
#pragma omp parallel for schedule(static)
  for (std::int64_t p = 0; p < size; ++p) {
    const int samples = samples_of(p);
    const double count = means[size + p];
    means[p] = samples == 0           ? std::numeric_limits<double>::quiet_NaN()
               : 2 * count >= samples ? means[p] / count
                                      : unseen;
  }
  sums.resize(to_size(size));
  return sums;
}

}  // namespace ringweave::detail::inline app
