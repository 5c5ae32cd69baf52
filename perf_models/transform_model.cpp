// SPDX-License-Identifier: GPL-3.0-or-later
#include "perf_models/transform_model.hpp"

#include <algorithm>
#include <cmath>

namespace ringweave::detail::inline perf_models {
namespace {

/// Returns the visible part of an exchange whose passes overlap with the Legendre stage of the next
/// ones. The hidden part is uncertain, because messages may not progress while nobody waits for
/// them.
Estimate visible(const Estimate& exchange, const Estimate& legendre, int n_passes) {
  const double beside = 1 - 1.0 / n_passes;
  const double hidden = std::min(beside * exchange.seconds, beside * legendre.seconds);
  return {exchange.seconds - hidden, std::hypot(exchange.sigma, hidden / 2)};
}

Estimate exchange_of(const TransformWork& work, const Network& network, const Estimate& legendre) {
  const Estimate whole =
      exchange_estimate(network, static_cast<double>(work.sent_bytes), work.n_ranks, work.n_passes);
  return work.timing == ExchangeTiming::after_legendre ? whole
                                                       : visible(whole, legendre, work.n_passes);
}

TransformEstimate estimate_on_host(const TransformWork& work, const Machine& machine) {
  const double share = 1.0 / work.n_threads;
  const auto ring_size = static_cast<double>(work.longest_ring);
  TransformEstimate estimate;
  estimate.legendre = share * work.legendre_work *
                      (machine.legendre_scalar.estimate(work.lmax, work.scalar_flops) +
                       machine.legendre_spin.estimate(work.lmax, work.spin_flops));
  estimate.ring_fft =
      share *
      (machine.ring_fft.estimate(ring_size, static_cast<double>(work.fft_pixel_bytes)) +
       machine.ring_fft_modes.estimate(ring_size, static_cast<double>(work.fft_mode_bytes)));
  estimate.exchange = exchange_of(work, machine.network, estimate.legendre);
  return estimate;
}

/// Half of the bytes go each way: the input of a synthesis is the output of its adjoint.
Estimate copies_of(const DeviceCosts& device, double bytes) {
  return 0.5 * (device.to_device.estimate(bytes, bytes) + device.to_host.estimate(bytes, bytes));
}

/// A rank waits for the others of its device.
TransformEstimate estimate_on_device(const TransformWork& work, const Network& of_host,
                                     const DeviceCosts& device) {
  const double turns = work.ranks_of_device;
  const auto ring_size = static_cast<double>(work.longest_ring);
  const auto sent = static_cast<double>(work.sent_bytes);
  const auto modes = static_cast<double>(work.fft_mode_bytes);
  const auto data = static_cast<double>(work.alm_bytes + work.fft_pixel_bytes);
  TransformEstimate estimate;
  estimate.legendre = turns * (device.legendre_scalar.estimate(work.lmax, work.scalar_flops) +
                               device.legendre_spin.estimate(work.lmax, work.spin_flops));
  estimate.ring_fft =
      turns * (device.ring_fft.estimate(ring_size, static_cast<double>(work.fft_pixel_bytes)) +
               device.ring_fft_modes.estimate(ring_size, modes));
  if (work.place == Place::device_in_blocks) {
    estimate.copies = turns * (copies_of(device, data) + 2 * copies_of(device, modes));
    estimate.exchange = exchange_of(work, of_host, estimate.legendre);
    return estimate;
  }
  estimate.copies = turns * copies_of(device, data);
  if (work.n_ranks == 1) return estimate;
  if (work.route == ModeRoute::direct && device.network) {
    estimate.exchange = exchange_estimate(*device.network, sent, work.n_ranks);
  } else {
    estimate.exchange =
        exchange_estimate(of_host, sent, work.n_ranks) + turns * (2 * copies_of(device, sent));
  }
  return estimate;
}

}  // namespace

TransformEstimate estimate_transform(const TransformWork& work, const Machine& machine) {
  if (work.place == Place::host || !machine.device) return estimate_on_host(work, machine);
  return estimate_on_device(work, machine.network, *machine.device);
}

}  // namespace ringweave::detail::inline perf_models
