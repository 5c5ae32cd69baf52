// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/transform_estimate.hpp"

#include <algorithm>
#include <complex>
#include <numeric>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "legendre/shared/resampled_modes.hpp"
#include "legendre/theta_route.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/device_budget.hpp"
#include "transform/offloaded_transform.hpp"

namespace ringweave::detail::inline transform {

double legendre_work(const TransformSpec& spec, const ModeLimits& limits) {
  std::vector<int> orders(to_size(std::int64_t{spec.mmax} + 1));
  std::iota(orders.begin(), orders.end(), 0);
  const ThetaWork work = theta_work(*spec.grid, limits, orders,
                                    std::min(spec.fields.n_components(), spec.theta_components));
  const double resampled = work.resampled / work.direct;
  const double equidistant = (spec.lmax + 1) / static_cast<double>(spec.grid->n_rings());
  // HEALPix with lmax = 2 nside has twice as many rings as equidistant ones need.
  const double usual = std::min(1.0, resampled - equidistant + 0.5);
  if (spec.fine_rows != nullptr) return resampled / usual;
  switch (spec.theta) {
    case ThetaRoute::direct: return 1 / usual;
    case ThetaRoute::resampled: return resampled / usual;
    case ThetaRoute::automatic: break;
  }
  return std::min(1.0, resampled) / usual;
}

TransformWork work_of(const TransformPlan& plan, int n_threads) {
  const TransformSpec& spec = plan.spec;
  const LegendreFlops flops = plan.legendre_flops();
  TransformWork work;
  work.lmax = spec.lmax;
  work.longest_ring = spec.grid->longest_ring();
  work.scalar_flops = flops.scalar;
  work.spin_flops = flops.spin;
  work.legendre_work = legendre_work(spec, plan.limits);
  work.fft_pixel_bytes = plan.rings.n_pixels() * spec.fields.n_components() *
                         static_cast<std::int64_t>(sizeof(double));
  work.fft_mode_bytes = plan.by_ring_bytes();
  work.alm_bytes = plan.alm.size() * spec.fields.n_components() *
                   static_cast<std::int64_t>(sizeof(std::complex<double>));
  work.sent_bytes = plan.bytes_sent();
  if (plan.always_in_passes()) work.n_passes = plan.n_passes;
  if (plan.always_in_passes() && spec.exchange.schedule == ExchangeSchedule::overlapped)
    work.timing = ExchangeTiming::beside_legendre;
  work.n_ranks = plan.n_ranks;
  work.n_threads = n_threads;
  if (spec.backend == Backend::cuda)
    work.place = plan.is_mixed() || spec.fine_rows ? Place::device_in_blocks : Place::device;
  set_fine_rows(spec, plan.alm.n_orders(), work);
  work.on_device = spec.on_device;
  return work;
}

TransformWork work_of(const SphericalHarmonicTransform& transform, int n_threads) {
  TransformWork work = work_of(transform.plan(), n_threads);
  if (transform.device() != nullptr) work.ranks_of_device = transform.device()->n_ranks;
  const OffloadedTransform* offloaded = transform.offloaded();
  if (work.place != Place::host && offloaded == nullptr) work.place = Place::device_in_blocks;
  if (offloaded != nullptr && offloaded->transform().route() == DeviceRoute::staged)
    work.route = ModeRoute::staged;
  return work;
}

TransformWork on_spectra(TransformWork work) {
  work.fft_pixel_bytes = 0;
  return work;
}

void set_fine_rows(const TransformSpec& spec, std::int64_t n_orders, TransformWork& work) {
  if (!spec.fine_rows) return;
  const std::int64_t n_rings = equidistant_rings(spec.lmax).n_rings();
  // Both circles go through both poles.
  const std::int64_t samples = 2 * (n_rings + spec.fine_rows->n_rows);
  work.is_to_fine_rows = true;
  work.summed_rings = static_cast<double>(n_rings) / static_cast<double>(spec.grid->n_rings());
  work.theta_bytes = samples * n_orders * spec.fields.n_components() *
                     static_cast<std::int64_t>(sizeof(std::complex<double>));
}

Estimate estimate_planning(const TransformSpec& spec, const Machine& machine) {
  return machine.transform_planning.estimate(spec.lmax, static_cast<double>(spec.grid->n_rings()));
}

}  // namespace ringweave::detail::inline transform
