// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "distribute/order_moves.hpp"
#include "nonuniform/deflection_data.hpp"
#include "nonuniform/geodesic.hpp"
#include "nonuniform/inverse_deflection.hpp"
#include "nonuniform/lensing_memory.hpp"
#include "ringweave/error.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr const char* in_deflection = "deflection";

void require_potential(const Potential& potential) {
  const auto require = [&](AlmView<const double> alm, const char* name) {
    if (alm.n_components() != 1 || alm.size() != potential.layout.size()) {
      throw UsageError(fmt::format("{}: {} has {} components of {} coefficients; expected 1 of {}",
                                   in_deflection, name, alm.n_components(), alm.size(),
                                   potential.layout.size()));
    }
    const AlmLayout& layout = potential.layout;
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      for (int l = layout.order(row); l <= layout.lmax(); ++l) {
        const std::complex<double> a = alm.component(0)[layout.index(row, l)];
        if (std::isfinite(a.real()) && std::isfinite(a.imag())) continue;
        throw DataError(name, fmt::format("the coefficient of l = {}, m = {} is not finite; "
                                          "repair the potential",
                                          l, layout.order(row)));
      }
    }
  };
  require(potential.phi, "phi_lm");
  if (potential.omega.n_components() > 0) require(potential.omega, "Omega_lm");
}

/// Multiplies coefficients of every degree by factor(l).
template <class Factor>
void scale(const AlmLayout& layout, View<std::complex<double>> alm, const Factor& factor) {
  std::vector<double> factors;
  for (int l = 0; l <= layout.lmax(); ++l) factors.push_back(factor(l));
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    for (int l = layout.order(row); l <= layout.lmax(); ++l)
      alm[layout.index(row, l)] *= factors[to_size(l)];
  }
}

TransformSpec transform_spec(std::shared_ptr<const RingGrid> grid, const AlmLayout& layout,
                             const ExchangeOptions& exchange, const FieldSet& fields) {
  TransformSpec spec;
  spec.grid = std::move(grid);
  spec.lmax = layout.lmax();
  spec.mmax = layout.mmax();
  spec.fields = fields;
  spec.exchange = exchange;
  return spec;
}

/// Returns the source with its orders where the transform of the deflection has them. Collective.
DeflectionSource make_source(const Communicator& comm, const Potential& potential,
                             const AlmLayout& layout, const ExchangeOptions& exchange) {
  DeflectionSource source{layout, {}, false, exchange};
  source.has_curl = comm.max(std::int64_t{potential.omega.n_components()}) > 0;
  agree(comm, [&] {
    if (source.has_curl != (potential.omega.n_components() > 0))
      throw UsageError(fmt::format("{}: Omega_lm is given on some ranks only", in_deflection));
    source.alm = AlmBuffer<double>(2, layout.size());
    std::fill_n(source.alm.view().data(), 2 * layout.size(), 0.0);
  });
  const auto fill = [&](AlmView<const double> from, std::int64_t component) {
    const AlmView<double> to = source.alm.view().components(component, 1);
    move_orders<double>(comm, potential.layout, from, layout, to);
    agree(comm,
          [&] { scale(layout, to.component(0), [](int l) { return std::sqrt(l * (l + 1.0)); }); });
  };
  fill(potential.phi, 0);
  if (source.has_curl) fill(potential.omega, 1);
  return source;
}

}  // namespace

Deflection::Impl::Impl(const Communicator& communicator,
                       std::shared_ptr<const RingDistribution> ring_bands, MapBuffer<double>&& d)
    : comm(communicator),
      bands(std::move(ring_bands)),
      rings(bands->rings(comm.rank())),
      vectors(std::move(d)) {
  struct OfRing {
    double squares;
    double most;
  };
  std::vector<OfRing> of_rings;
  agree(comm, [&] { of_rings.resize(to_size(rings.n_rings())); });
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const double* const d_theta =
        vectors.view().component(0).data() + rings.first_pixel(LocalRing{r});
    const double* const d_phi = d_theta + vectors.view().stride();
    const std::int64_t n_phi = rings.ring(LocalRing{r}).n_phi;
    double squares = 0;
    double most = 0;
    for (std::int64_t i = 0; i < n_phi; ++i) {
      const double square = d_theta[i] * d_theta[i] + d_phi[i] * d_phi[i];
      squares += square;
      most = std::max(most, square);
    }
    of_rings[to_size(r)] = {squares, most};
  }
  double sums[4] = {0, 0, 0, 0};  // of w d^2, w, d^2, 1
  double most = 0;
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    const auto n = static_cast<double>(ring.n_phi);
    const auto& [squares, most_of_ring] = of_rings[to_size(r)];
    const double terms[4] = {ring.weight * squares, ring.weight * n, squares, n};
    for (int k = 0; k < 4; ++k) sums[k] += terms[k];
    most = std::max(most, most_of_ring);
  }
  comm.sum(sums, 4);
  // Grids of a user may have no weights, or negative ones.
  rms = std::sqrt(sums[0] > 0 && sums[1] > 0 ? sums[0] / sums[1] : sums[2] / sums[3]);
  largest = std::sqrt(comm.max(most));
  if (!std::isfinite(rms) || !std::isfinite(largest)) {
    throw DataError(in_deflection,
                    fmt::format("its rms is {} and its largest length {} rad; check the "
                                "units of the potential",
                                rms, largest));
  }
}

Deflection::Deflection(const Communicator& comm, std::shared_ptr<const RingGrid> grid,
                       const Potential& potential, const ExchangeOptions& exchange) {
  agree(comm, [&] { require_potential(potential); });
  SphericalHarmonicTransform transform(
      comm, transform_spec(std::move(grid), potential.layout, exchange, FieldSet({1})));
  const DeflectionMemory memory = memory_of_deflection(transform.plan(), omp_get_max_threads());
  require_memory_of_ranks(comm, memory.peak(), memory.tables,
                          "pixels and ring modes of a deflection");
  DeflectionSource source = make_source(comm, potential, transform.alm_layout(), exchange);
  MapBuffer<double> d = agreed(comm, [&] { return transform.make_map<double>(); });
  transform.synthesize<double>(std::as_const(source.alm).view(), d.view());
  const auto impl = [&] {
    const StageTimer timer(&transform.times(), "deflection");
    return std::make_shared<Impl>(
        comm, std::make_shared<const RingDistribution>(transform.plan().ring_bands), std::move(d));
  }();
  impl->source = std::move(source);
  impl->times = transform.times();
  impl_ = impl;
}

const LocalRings& Deflection::rings() const { return impl_->rings; }
std::shared_ptr<const RingDistribution> Deflection::ring_bands() const { return impl_->bands; }
MapView<const double> Deflection::vectors() const { return impl_->vectors.view(); }
double Deflection::rms() const { return impl_->rms; }
double Deflection::largest() const { return impl_->largest; }
int Deflection::evaluations() const { return impl_->evaluations; }
const StageTimes& Deflection::times() const { return impl_->times; }

std::int64_t Deflection::bytes() const {
  return impl_->vectors.bytes() + (impl_->source ? impl_->source->alm.bytes() : 0) +
         (impl_->area ? held_bytes(*impl_->area) : 0);
}

void Deflection::positions(View<double> theta, View<double> phi) const {
  require_planned(in_deflection, theta.size(), rings().n_pixels(), "colatitudes");
  require_planned(in_deflection, phi.size(), rings().n_pixels(), "longitudes");
  impl_->for_each_piece([&](const DeflectedPixels& pixels, std::int64_t first) {
    find_positions(pixels, theta.data() + first, phi.data() + first);
  });
}

void Deflection::rotation(View<double> cos_gamma, View<double> sin_gamma) const {
  require_planned(in_deflection, cos_gamma.size(), rings().n_pixels(), "cosines");
  require_planned(in_deflection, sin_gamma.size(), rings().n_pixels(), "sines");
  impl_->for_each_piece([&](const DeflectedPixels& pixels, std::int64_t first) {
    find_rotation(pixels, cos_gamma.data() + first, sin_gamma.data() + first);
  });
}

void Deflection::Impl::find_area() const {
  const FieldSet fields(source->has_curl ? std::vector{2, 0, 0} : std::vector{2, 0});
  TransformSpec spec = transform_spec(bands->grid(), source->layout, source->exchange, fields);
  spec.ring_bands = bands;
  SphericalHarmonicTransform transform(comm, spec);
  MapBuffer<double> shear = agreed(comm, [&] { return transform.make_map<double>(); });
  {
    AlmBuffer<double> alm = agreed(comm, [&] { return transform.make_alm<double>(); });
    const auto fill = [&](std::int64_t component, std::int64_t from, const auto& factor) {
      const auto to = alm.view().component(component);
      std::copy_n(source->alm.view().component(from).data(), to.size(), to.data());
      scale(source->layout, to, factor);
    };
    agree(comm, [&] {
      for (const std::int64_t from : {0, 1}) {
        fill(from, from,
             [](int l) { return l < 2 ? 0.0 : 0.5 * std::sqrt((l - 1.0) * (l + 2.0)); });
        if (from == 0 || source->has_curl)
          fill(2 + from, from, [](int l) { return 0.5 * std::sqrt(l * (l + 1.0)); });
      }
    });
    transform.synthesize<double>(std::as_const(alm).view(), shear.view());
  }
  const std::int64_t n = rings.n_pixels();
  agree(comm, [&] { area.emplace(n); });
  const double* const s = shear.view().data();
  const double* const d = vectors.view().data();
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < n; ++i) {
    (*area)[i] = ringweave::magnification({.kappa = s[2 * n + i],
                                           .omega = source->has_curl ? s[3 * n + i] : 0,
                                           .gamma1 = s[i],
                                           .gamma2 = s[n + i]},
                                          {d[i], d[n + i]});
  }
}

void Deflection::magnification(View<double> map) const {
  const Impl& own = *impl_;
  agree(own.comm, [&] {
    if (!own.source)
      throw UsageError("the inverse of a deflection has no potential, from which |A| is computed");
    require_planned(in_deflection, map.size(), own.rings.n_pixels(), "pixels of |A|");
  });
  if (!own.area) own.find_area();
  std::copy(own.area->begin(), own.area->end(), map.data());
}

Deflection Deflection::inverse() const {
  const Impl& own = *impl_;
  agree(own.comm, [&] {
    if (!own.source) throw UsageError("a deflection that is an inverse has no inverse");
  });
  const InverseMemory memory = agreed(own.comm, [&] {
    const AlmLayout& layout = own.source->layout;
    const LensingProblem problem{
        spec_of_inverse(layout.lmax(), layout.mmax(), own.source->exchange, own.rms), own.largest,
        omp_get_max_threads()};
    return memory_of_inverse(problem, pixels_of_inverse(problem, *own.bands), own.comm.rank());
  });
  require_memory_of_ranks(own.comm, memory.peak(), memory.tables,
                          "fine rows and pixels of an inverse deflection");
  StageTimes times;
  InverseVectors found = [&] {
    const StageTimer timer(&times, "deflection");
    return invert(own.comm, own.rings, *own.source, own.vectors.view(), own.rms);
  }();
  if (found.lost > 0) {
    HostBuffer<double> area =
        agreed(own.comm, [&] { return HostBuffer<double>(rings().n_pixels()); });
    magnification({area.data(), area.size()});
    refuse_lost_pixels(own.comm, own.rings, found, {area.data(), area.size()});
  }
  const auto impl = std::make_shared<Impl>(own.comm, own.bands, std::move(found.vectors));
  impl->evaluations = found.evaluations;
  impl->times = std::move(times);
  return Deflection(impl);
}

}  // namespace ringweave
