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

Estimate legendre_on_host(const TransformWork& work, const Machine& machine) {
  return 1.0 / work.n_threads * work.legendre_work *
         (machine.legendre_scalar.estimate(work.lmax, work.scalar_flops) +
          machine.legendre_spin.estimate(work.lmax, work.spin_flops));
}

/// Seconds of ring FFTs with the costs of a Machine or of its DeviceCosts.
template <class Costs>
Estimate ring_fft_of(const TransformWork& work, const Costs& costs) {
  const auto ring_size = static_cast<double>(work.longest_ring);
  return costs.ring_fft.estimate(ring_size, static_cast<double>(work.fft_pixel_bytes)) +
         costs.ring_fft_modes.estimate(ring_size, static_cast<double>(work.fft_mode_bytes));
}

Estimate ring_fft_on_host(const TransformWork& work, const Machine& machine) {
  return 1.0 / work.n_threads * ring_fft_of(work, machine);
}

TransformEstimate estimate_on_host(const TransformWork& work, const Machine& machine) {
  TransformEstimate estimate;
  estimate.legendre = legendre_on_host(work, machine);
  estimate.ring_fft = ring_fft_on_host(work, machine);
  estimate.exchange = exchange_of(work, machine.network, estimate.legendre);
  return estimate;
}

/// Half of the bytes go each way: the input of a synthesis is the output of its adjoint.
Estimate copies_of(const DeviceCosts& device, double bytes) {
  return 0.5 * (device.to_device.estimate(bytes, bytes) + device.to_host.estimate(bytes, bytes));
}

Estimate legendre_on_device(const TransformWork& work, const DeviceCosts& device) {
  return device.legendre_scalar.estimate(work.lmax, work.scalar_flops) +
         device.legendre_spin.estimate(work.lmax, work.spin_flops);
}

/// Each stage on the device copies its input and output, but for fine rows, which stay there.
TransformEstimate estimate_in_blocks(const TransformWork& work, const Machine& machine,
                                     const DeviceCosts& device) {
  const double turns = work.ranks_of_device;
  TransformEstimate estimate;
  double copied = 0;
  if (work.on_device == StagesOnDevice::ring_fft) {
    estimate.legendre = legendre_on_host(work, machine);
  } else {
    estimate.legendre = turns * (work.summed_rings * legendre_on_device(work, device) +
                                 device.ring_fft.estimate(static_cast<double>(work.longest_ring),
                                                          static_cast<double>(work.theta_bytes)));
    copied += static_cast<double>(work.alm_bytes + work.fft_mode_bytes);
  }
  if (work.on_device == StagesOnDevice::legendre) {
    estimate.ring_fft = ring_fft_on_host(work, machine);
  } else {
    estimate.ring_fft = turns * ring_fft_of(work, device);
    copied += static_cast<double>(work.fft_mode_bytes +
                                  (work.is_to_fine_rows ? 0 : work.fft_pixel_bytes));
  }
  estimate.copies = turns * copies_of(device, copied);
  estimate.exchange = exchange_of(work, machine.network, estimate.legendre);
  return estimate;
}

/// A rank waits for the others of its device.
TransformEstimate estimate_on_device(const TransformWork& work, const Network& of_host,
                                     const DeviceCosts& device) {
  const double turns = work.ranks_of_device;
  const auto sent = static_cast<double>(work.sent_bytes);
  TransformEstimate estimate;
  estimate.legendre = turns * legendre_on_device(work, device);
  estimate.ring_fft = turns * ring_fft_of(work, device);
  estimate.copies =
      turns * copies_of(device, static_cast<double>(work.alm_bytes + work.fft_pixel_bytes));
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
  if (work.place == Place::device_in_blocks)
    return estimate_in_blocks(work, machine, *machine.device);
  return estimate_on_device(work, machine.network, *machine.device);
}

}  // namespace ringweave::detail::inline perf_models
