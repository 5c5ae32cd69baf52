// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/inverse_deflection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "distribute/mpi/agree.hpp"
#include "distribute/order_moves.hpp"
#include "nonuniform/geodesic.hpp"
#include "ringweave/error.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

constexpr int most_steps = 12;
constexpr double accuracy = 1e-12;  // radians
/// Beyond this the way back is not the shortest.
constexpr double longest_step = 1.5;

/// The state of the search at one pixel.
struct Search {
  std::int64_t pixel;  ///< of this rank
  SpherePoint start;   ///< n'
  Tangent step;        ///< the vector at n' to the current n
  Tangent change;      ///< of the last step
  Tangent residual;    ///< vector at n' to exp_n(d(n))
  // The inverse of the residual's derivative.
  double tt = 1, tp = 0, pt = 0, pp = 1;

  /// Takes the next step.
  void advance() {
    change = {-(tt * residual.theta + tp * residual.phi),
              -(pt * residual.theta + pp * residual.phi)};
    step.theta += change.theta;
    step.phi += change.phi;
  }
  /// Corrects the inverse by what the last step did to the residual.
  void learn(const Tangent& now) {
    const Tangent y{now.theta - residual.theta, now.phi - residual.phi};
    const Tangent hy{tt * y.theta + tp * y.phi, pt * y.theta + pp * y.phi};
    const double scale = change.theta * hy.theta + change.phi * hy.phi;
    residual = now;
    if (scale == 0) return;
    const Tangent miss{(change.theta - hy.theta) / scale, (change.phi - hy.phi) / scale};
    const double row_t = change.theta * tt + change.phi * pt;
    const double row_p = change.theta * tp + change.phi * pp;
    tt += miss.theta * row_t;
    tp += miss.theta * row_p;
    pt += miss.phi * row_t;
    pp += miss.phi * row_p;
  }
  bool is_lost() const { return !(std::hypot(step.theta, step.phi) < longest_step); }
  bool is_found() const { return std::hypot(residual.theta, residual.phi) <= accuracy; }
};

SpherePoint point_at(double theta, double phi) {
  return {std::sin(theta), std::cos(theta), theta, phi};
}

std::vector<Search> start_search(const LocalRings& rings, MapView<const double> d) {
  std::vector<Search> searches(to_size(rings.n_pixels()));
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    const double spacing = 2 * std::numbers::pi / static_cast<double>(ring.n_phi);
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      const std::int64_t pixel = rings.first_pixel(LocalRing{r}) + j;
      Search& search = searches[to_size(pixel)];
      search.pixel = pixel;
      search.start = {ring.sin_theta, ring.cos_theta, ring.theta,
                      ring.phi0 + spacing * static_cast<double>(j)};
      search.residual = {d.component(0)[pixel], d.component(1)[pixel]};
    }
  }
  return searches;
}

/// Returns d at points, [to the south, to the east][point]. Collective.
ComponentBuffer<double> deflection_at(const Communicator& comm, const DeflectionSource& source,
                                      double epsilon, const std::vector<double>& theta,
                                      const std::vector<double>& phi) {
  PointSpec spec;
  spec.lmax = source.layout.lmax();
  spec.mmax = source.layout.mmax();
  spec.fields = FieldSet({1});
  spec.epsilon = epsilon;
  spec.exchange = source.exchange;
  PointTransform transform(comm, spec, PointSet(comm, spec, theta, phi));
  AlmBuffer<double> alm = agreed(comm, [&] { return transform.make_alm<double>(); });
  move_orders<double>(comm, source.layout, source.alm.view(), transform.alm_layout(), alm.view());
  ComponentBuffer<double> values = agreed(comm, [&] { return transform.make_values<double>(); });
  transform.evaluate(alm, values);
  return values;
}

}  // namespace

InverseVectors invert(const Communicator& comm, const LocalRings& rings,
                      const DeflectionSource& source, MapView<const double> d, double rms) {
  // So that d is known to a tenth of the accuracy asked for.
  const double epsilon = std::clamp(0.1 * accuracy / rms, 1e-13, 1e-3);
  InverseVectors result;
  std::vector<Search> searches;
  agree(comm, [&] {
    result.vectors = MapBuffer<double>(2, rings.n_pixels());
    searches = start_search(rings, d);
  });
  const auto finish = [&](Search& search) {
    search.advance();
    result.vectors.view().component(0)[search.pixel] = search.step.theta;
    result.vectors.view().component(1)[search.pixel] = search.step.phi;
  };
  std::vector<double> theta;
  std::vector<double> phi;
  while (comm.sum(ssize64(searches)) > 0 && result.evaluations < most_steps) {
    agree(comm, [&] {
      theta.resize(searches.size());
      phi.resize(searches.size());
    });
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < ssize64(searches); ++i) {
      Search& search = searches[to_size(i)];
      search.advance();
      const GeodesicEnd n = follow_geodesic(search.start, search.step);
      theta[to_size(i)] = search.is_lost() ? 0 : n.theta;
      phi[to_size(i)] = search.is_lost() ? 0 : n.phi;
    }
    const ComponentBuffer<double> there = deflection_at(comm, source, epsilon, theta, phi);
    ++result.evaluations;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < ssize64(searches); ++i) {
      Search& search = searches[to_size(i)];
      const GeodesicEnd end =
          follow_geodesic(point_at(theta[to_size(i)], phi[to_size(i)]),
                          {there.view().component(0)[i], there.view().component(1)[i]});
      search.learn(geodesic_to(search.start, point_at(end.theta, end.phi)));
      if (!search.is_lost() && search.is_found()) finish(search);
    }
    agree(comm, [&] {
      std::erase_if(searches, [&](const Search& search) {
        if (search.is_lost()) result.not_found.push_back(search.pixel);
        return search.is_lost() || search.is_found();
      });
    });
  }
  agree(comm, [&] {
    for (const Search& search : searches) result.not_found.push_back(search.pixel);
  });
  std::sort(result.not_found.begin(), result.not_found.end());
  result.lost = comm.sum(ssize64(result.not_found));
  return result;
}

void refuse_lost_pixels(const Communicator& comm, const LocalRings& rings,
                        const InverseVectors& found, View<const double> area) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < area.size(); ++i) least = std::min(least, area[i]);
  least = comm.min(least);
  agree(comm, [&] {
    if (found.not_found.empty()) return;
    const std::int64_t pixel = found.not_found.front();
    std::int64_t global = 0;
    for (const PixelSlab& slab : rings.slabs()) {
      if (pixel >= slab.first_local && pixel < slab.first_local + slab.count)
        global = slab.first_global + pixel - slab.first_local;
    }
    throw DataError(
        "inverse deflection",
        fmt::format("not found in {} steps at {} pixels; the first is pixel {}, where |A| = {:.3g};"
                    " the least |A| of a pixel is {:.3g}. Where it is not positive the deflection "
                    "folds the sphere: check the units of the potential or smooth it",
                    most_steps, found.lost, global, area[pixel], least));
  });
}

}  // namespace ringweave::detail::inline nonuniform
