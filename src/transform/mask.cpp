// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr double pi = std::numbers::pi;

/// Pixels of 0 that follow one another on a ring: the longitudes of the first and the last.
/// begin <= end, which may go beyond 2 pi.
struct MaskedRun {
  double begin = 0;
  double end = 0;
};

std::vector<MaskedRun> runs_of_ring(const Ring& ring, std::span<const double> mask) {
  const std::int64_t n = ring.n_phi;
  const double step = 2 * pi / static_cast<double>(n);
  const auto is_masked = [&](std::int64_t j) { return mask[to_size(j % n)] == 0; };
  std::int64_t start = 0;  // behind a seen pixel
  while (start < n && is_masked(start)) ++start;
  if (start == n) return {{ring.phi0, ring.phi0 + 2 * pi}};
  std::vector<MaskedRun> runs;
  for (std::int64_t j = start; j < start + n; ++j) {
    if (!is_masked(j)) continue;
    std::int64_t last = j;
    while (is_masked(last + 1)) ++last;
    runs.push_back(
        {ring.phi0 + step * static_cast<double>(j), ring.phi0 + step * static_cast<double>(last)});
    j = last;
  }
  return runs;
}

/// The runs of all rings of the grid.
class MaskedRuns {
 public:
  /// Collective.
  MaskedRuns(const Communicator& comm, const LocalRings& rings, std::span<const double> mask) {
    std::vector<double> counts;
    std::vector<std::vector<MaskedRun>> own;
    agree(comm, [&] {
      counts.resize(to_size(rings.grid().n_rings()));
      first_.resize(counts.size() + 1);
      own.resize(to_size(rings.n_rings()));
      for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
        const Ring& ring = rings.ring(LocalRing{r});
        own[to_size(r)] = runs_of_ring(
            ring, mask.subspan(to_size(rings.first_pixel(LocalRing{r})), to_size(ring.n_phi)));
        counts[to_size(index(rings.global(LocalRing{r})))] =
            static_cast<double>(own[to_size(r)].size());
      }
    });
    comm.sum(counts.data(), ssize64(counts));
    for (std::size_t ring = 0; ring < counts.size(); ++ring)
      first_[ring + 1] = first_[ring] + static_cast<std::int64_t>(counts[ring]);
    agree(comm, [&] { runs_.resize(to_size(first_.back())); });
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      std::copy(own[to_size(r)].begin(), own[to_size(r)].end(),
                runs_.begin() + first_[to_size(index(rings.global(LocalRing{r})))]);
    }
    if (runs_.empty()) return;
    // A run is two numbers; those of other ranks' rings are 0 so far.
    static_assert(sizeof(MaskedRun) == 2 * sizeof(double));
    comm.sum(&runs_.data()->begin, 2 * ssize64(runs_));
  }

  std::span<const MaskedRun> of(std::int64_t ring) const {
    const std::int64_t first = first_[to_size(ring)];
    return std::span(runs_).subspan(to_size(first), to_size(first_[to_size(ring + 1)] - first));
  }

 private:
  std::vector<std::int64_t> first_;  ///< [ring] of its runs
  std::vector<MaskedRun> runs_;
};

/// Collective.
void require_mask(const Communicator& comm, const LocalRings& rings, std::int64_t size) {
  agree(comm, [&] { require_planned("mask", size, rings.n_pixels(), "pixels"); });
}

double squared_sine(double angle) { return std::sin(angle) * std::sin(angle); }

/// The least sin^2(d / 2) of the seen pixels of one ring to masked pixels, where it is below
/// `most`.
class Distances {
 public:
  Distances(const Ring& ring, std::span<const double> mask, double most)
      : ring_(ring),
        mask_(mask),
        step_(2 * pi / static_cast<double>(ring.n_phi)),
        most_(most),
        least_(to_size(ring.n_phi), most) {}

  void add(const Ring& other, std::span<const MaskedRun> runs) {
    const double of_theta = squared_sine((ring_.theta - other.theta) / 2);
    const double scale = ring_.sin_theta * other.sin_theta;
    if (of_theta >= most_) return;
    // Longitudes within the angle: scale sin^2(phi / 2) < most - of_theta.
    const double of_phi = scale > 0 ? (most_ - of_theta) / scale : 1;
    const double reach = of_phi < 1 ? 2 * std::asin(std::sqrt(of_phi)) : pi + step_ / 2;
    const double other_step = 2 * pi / static_cast<double>(other.n_phi);
    const auto lower = [&](std::int64_t j, double of_nearest) {
      const std::size_t pixel = to_size(((j % ring_.n_phi) + ring_.n_phi) % ring_.n_phi);
      if (mask_[pixel] == 0) return;
      least_[pixel] = std::min(least_[pixel], of_theta + scale * squared_sine(of_nearest / 2));
    };
    for (const MaskedRun& run : runs) {
      const std::int64_t begin = number_from(run.begin);
      const std::int64_t inside =
          std::min(number_from(run.end + step_ / 1024), begin + ring_.n_phi);
      for (std::int64_t j = begin; j < inside; ++j)
        lower(j, std::remainder(phi(j) - run.begin, other_step));
      for (std::int64_t j = begin - 1; run.begin - phi(j) < reach; --j)
        lower(j, run.begin - phi(j));
      for (std::int64_t j = inside; phi(j) - run.end < reach; ++j) lower(j, phi(j) - run.end);
    }
  }

  double operator[](std::int64_t pixel) const { return least_[to_size(pixel)]; }

 private:
  double phi(std::int64_t j) const { return ring_.phi0 + step_ * static_cast<double>(j); }
  /// The first pixel at or behind a longitude.
  std::int64_t number_from(double longitude) const {
    return static_cast<std::int64_t>(std::ceil((longitude - ring_.phi0) / step_ - 1e-9));
  }

  const Ring& ring_;
  std::span<const double> mask_;
  double step_;
  double most_;
  std::vector<double> least_;
};

}  // namespace

SkyFraction sky_fraction(const Communicator& comm, const LocalRings& rings,
                         std::span<const double> mask) {
  require_mask(comm, rings, ssize64(mask));
  double sums[3] = {0, 0, 0};  // of the area, of w and of w^2
  bool has_areas = true;
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    const double area = ring.weight > 0 ? ring.weight : 1.0;
    has_areas = has_areas && ring.weight > 0;
    const std::int64_t first = rings.first_pixel(LocalRing{r});
    for (const double w : mask.subspan(to_size(first), to_size(ring.n_phi))) {
      sums[0] += area;
      sums[1] += area * w;
      sums[2] += area * w * w;
    }
  }
  comm.sum(sums, 3);
  if (comm.min(std::int64_t{has_areas ? 1 : 0}) == 1) sums[0] = 4 * pi;
  return {sums[1] / sums[0], sums[2] / sums[0]};
}

void apodise(const Communicator& comm, const LocalRings& rings, double angle,
             std::span<double> mask) {
  agree(comm, [&] {
    if (!(angle > 0 && angle <= pi)) {
      throw UsageError(
          fmt::format("an apodisation of {} radians: expected above 0 and at most pi", angle));
    }
  });
  require_mask(comm, rings, ssize64(mask));
  const MaskedRuns runs(comm, rings, mask);
  const RingGrid& grid = rings.grid();
  const double most = squared_sine(angle / 2);
  FirstError error;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    error.guard([&] {
      const Ring& ring = rings.ring(LocalRing{r});
      const auto own = mask.subspan(to_size(rings.first_pixel(LocalRing{r})), to_size(ring.n_phi));
      Distances distances(ring, own, most);
      const auto others = grid.rings();
      auto other = std::partition_point(others.begin(), others.end(), [&](const Ring& one) {
        return one.theta < ring.theta - angle;
      });
      for (; other != others.end() && other->theta <= ring.theta + angle; ++other)
        distances.add(*other, runs.of(other - others.begin()));
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        if (distances[j] >= most) continue;
        own[to_size(j)] *= squared_sine(pi / 2 * std::sqrt(distances[j] / most));
      }
    });
  }
  agree(comm, [&] { error.rethrow(); });
}

}  // namespace ringweave
