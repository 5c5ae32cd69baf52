// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/inverse_deflection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <utility>

#include "distribute/mpi/agree.hpp"
#include "distribute/order_moves.hpp"
#include "nonuniform/geodesic.hpp"
#include "ringweave/error.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

constexpr int most_steps = 12;
constexpr std::int64_t usual_steps = 8;
/// Pixels of a rank. Each takes about 190 bytes with its point.
constexpr std::int64_t searched_at_once = std::int64_t{1} << 18;
constexpr double accuracy = 1e-12;  // radians
/// Beyond this the way back is not the shortest.
constexpr double longest_step = 1.5;

/// The state of the search at one pixel.
struct Search {
  std::int64_t pixel = 0;  ///< of this rank
  SpherePoint start;       ///< n'
  Tangent step;            ///< the vector at n' to the current n
  Tangent change;          ///< of the last step
  Tangent residual;        ///< vector at n' to exp_n(d(n))
  // The inverse of the residual's derivative.
  double tt = 1, tp = 0, pt = 0, pp = 1;

  /// Takes the next step.
  void advance() {
    change = {-(tt * residual.theta + tp * residual.phi),
              -(pt * residual.theta + pp * residual.phi)};
    step.theta += change.theta;
    step.phi += change.phi;
  }
  /// Corrects the inverse by the change of the residual in the last step.
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

/// Every n-th ring of a rank, from one of the first n on: a part of its pixels that has some near
/// all others, so that all ranks have work at once.
struct RingShare {
  std::int64_t first;
  std::int64_t n;

  /// Calls use(ring) for each.
  template <class Use>
  void for_each_ring(const LocalRings& rings, const Use& use) const {
    for (std::int64_t r = first; r < rings.n_rings(); r += n) use(LocalRing{r});
  }
  std::int64_t n_pixels(const LocalRings& rings) const {
    std::int64_t sum = 0;
    for_each_ring(rings, [&](LocalRing r) { sum += rings.ring(r).n_phi; });
    return sum;
  }
};

/// The searches at some pixels, all after the same number of steps.
class Searches {
 public:
  static constexpr std::int64_t bytes_of_pixel = sizeof(Search) + 4 * sizeof(double);

  /// most  pixels at once
  explicit Searches(std::int64_t most) : searches_(most), theta_(most), phi_(most), d_(2, most) {}

  std::int64_t size() const { return size_; }
  std::span<const double> theta() const { return {theta_.data(), to_size(size_)}; }
  std::span<const double> phi() const { return {phi_.data(), to_size(size_)}; }
  /// Returns the place of d at theta and phi, [to the south, to the east][search].
  ComponentView<double> d() { return {d_.view().data(), 2, size_}; }

  /// Begins at the identity. d is that of all pixels of the rank.
  void start(const LocalRings& rings, const RingShare& share, MapView<const double> d) {
    size_ = 0;
    share.for_each_ring(rings, [&](LocalRing r) {
      const Ring& ring = rings.ring(r);
      const double spacing = 2 * std::numbers::pi / static_cast<double>(ring.n_phi);
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        const std::int64_t pixel = rings.first_pixel(r) + j;
        Search& search = searches_[size_++] = Search{};
        search.pixel = pixel;
        search.start = {ring.sin_theta, ring.cos_theta, ring.theta,
                        ring.phi0 + spacing * static_cast<double>(j)};
        search.residual = {d.component(0)[pixel], d.component(1)[pixel]};
      }
    });
  }

  /// Takes a step to theta() and phi().
  void advance() {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < size_; ++i) {
      Search& search = searches_[i];
      search.advance();
      const GeodesicEnd n = follow_geodesic(search.start, search.step);
      theta_[i] = search.is_lost() ? 0 : n.theta;
      phi_[i] = search.is_lost() ? 0 : n.phi;
    }
  }

  /// Learns from d(), and takes the last step where n is found.
  void learn() {
    const ComponentView<const double> there = d();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < size_; ++i) {
      Search& search = searches_[i];
      const GeodesicEnd end = follow_geodesic(point_at(theta_[i], phi_[i]),
                                              {there.component(0)[i], there.component(1)[i]});
      search.learn(geodesic_to(search.start, point_at(end.theta, end.phi)));
      if (!search.is_lost() && search.is_found()) search.advance();
    }
  }

  /// Leaves the searches that go on; others give their vector, or become pixels without one.
  void settle(InverseVectors& result) {
    const auto is_over = [&](const Search& search) {
      if (search.is_lost()) {
        result.not_found.push_back(search.pixel);
        return true;
      }
      if (!search.is_found()) return false;
      result.vectors.view().component(0)[search.pixel] = search.step.theta;
      result.vectors.view().component(1)[search.pixel] = search.step.phi;
      return true;
    };
    Search* const begin = searches_.data();
    size_ = std::remove_if(begin, begin + size_, is_over) - begin;
  }
  /// Ends all searches without a vector.
  void give_up(InverseVectors& result) {
    for (std::int64_t i = 0; i < size_; ++i) result.not_found.push_back(searches_[i].pixel);
    size_ = 0;
  }

 private:
  std::int64_t size_ = 0;
  HostBuffer<Search> searches_;
  HostBuffer<double> theta_;
  HostBuffer<double> phi_;
  ComponentBuffer<double> d_;
};

/// Returns the field d, for any points. Collective.
FineField field_of(const Communicator& comm, const DeflectionSource& source, double rms,
                   std::int64_t n_pixels) {
  FineField field(comm,
                  spec_of_inverse(source.layout.lmax(), source.layout.mmax(), source.exchange, rms),
                  points_of_inverse(n_pixels));
  AlmBuffer<double> alm = agreed(comm, [&] { return field.make_alm<double>(); });
  move_orders<double>(comm, source.layout, source.alm.view(), field.alm_layout(), alm.view());
  field.set(alm);
  return field;
}

/// Searches until all have an end. Returns the number of steps. Collective.
int search(const Communicator& comm, FineField& field, Searches& searches, InverseVectors& result) {
  int steps = 0;
  while (steps < most_steps && comm.sum(searches.size()) > 0) {
    searches.advance();
    field.evaluate<double>(PointSet(field, searches.theta(), searches.phi()), searches.d());
    searches.learn();
    agree(comm, [&] { searches.settle(result); });
    ++steps;
  }
  agree(comm, [&] { searches.give_up(result); });
  return steps;
}

}  // namespace

PointSpec spec_of_inverse(int lmax, int mmax, const ExchangeOptions& exchange, double rms) {
  PointSpec spec;
  spec.lmax = lmax;
  spec.mmax = mmax;
  spec.fields = FieldSet({1});
  // So that d is known to a tenth of the accuracy asked for. A whole decade, so that predictions
  // for a usual deflection have the taps of most others.
  const double decade = std::pow(10, std::floor(std::log10(0.1 * accuracy / rms)));
  spec.epsilon = std::clamp(decade, 1e-13, 1e-3);
  spec.exchange = exchange;
  return spec;
}

std::int64_t points_of_inverse(std::int64_t n_pixels) {
  return checked_product(usual_steps, n_pixels, "points of an inverse deflection");
}

std::int64_t parts_of_inverse(std::int64_t n_pixels) {
  return std::max<std::int64_t>(1, (n_pixels + searched_at_once - 1) / searched_at_once);
}

std::int64_t bytes_of_search(std::int64_t n_pixels) { return n_pixels * Searches::bytes_of_pixel; }

InverseVectors invert(const Communicator& comm, const LocalRings& rings,
                      const DeflectionSource& source, MapView<const double> d, double rms) {
  FineField field = field_of(comm, source, rms, comm.sum(rings.n_pixels()));
  const std::int64_t n_shares = parts_of_inverse(comm.max(rings.n_pixels()));
  InverseVectors result;
  std::optional<Searches> searches;
  agree(comm, [&] {
    result.vectors = MapBuffer<double>(2, rings.n_pixels());
    std::int64_t most = 0;
    for (std::int64_t k = 0; k < n_shares; ++k)
      most = std::max(most, RingShare{k, n_shares}.n_pixels(rings));
    searches.emplace(most);
  });
  for (std::int64_t k = 0; k < n_shares; ++k) {
    searches->start(rings, {k, n_shares}, d);
    result.evaluations = std::max(result.evaluations, search(comm, field, *searches, result));
  }
  agree(comm, [&] { std::sort(result.not_found.begin(), result.not_found.end()); });
  result.lost = comm.sum(ssize64(result.not_found));
  return result;
}

void refuse_lost_pixels(const Communicator& comm, const LocalRings& rings,
                        const InverseVectors& found, View<const double> area) {
  double least = std::numeric_limits<double>::infinity();
  for (std::int64_t i = 0; i < area.size(); ++i) least = std::min(least, area[i]);
  least = comm.min(least);
  // Local pixels are in the order of the grid's.
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const PixelSlab& slab : rings.slabs()) {
    if (found.not_found.empty()) break;
    const std::int64_t pixel = found.not_found.front() - slab.first_local;
    if (pixel >= 0 && pixel < slab.count) first = slab.first_global + pixel;
  }
  const std::int64_t first_of_all = comm.min(first);
  agree(comm, [&] {
    if (found.not_found.empty() || first != first_of_all) return;
    throw DataError(
        "inverse deflection",
        fmt::format("not found in {} steps at {} pixels; the first is pixel {}, where |A| = {:.3g};"
                    " the least |A| of a pixel is {:.3g}. Where it is not positive the deflection "
                    "folds the sphere: check the units of the potential or smooth it",
                    most_steps, found.lost, first, area[found.not_found.front()], least));
  });
}

}  // namespace ringweave::detail::inline nonuniform
