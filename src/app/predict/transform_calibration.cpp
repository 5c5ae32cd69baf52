// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/transform_calibration.hpp"

#include <omp.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/options.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_estimate.hpp"

namespace ringweave::detail::inline app {
namespace {

TransformSpec healpix_spec(std::int64_t nside, int spin, std::int64_t lmax, Backend backend) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.fields = FieldSet({spin});
  spec.lmax = spec.mmax = checked_cast<int>(lmax, "lmax");
  spec.backend = backend;
  return spec;
}

/// Seconds of one direction on the slowest rank: of one thread, or of a rank with a device of its
/// own.
struct MeasuredTransform {
  TransformWork work;
  double legendre = 0;
  double ring_fft = 0;
  double exchange = 0;
  double upload = 0;    ///< of a_lm and map, one after the other
  double download = 0;  ///< the same
  double planning = 0;
};

/// Times synthesis and adjoint pairs and returns the mean.
MeasuredTransform run_transform(const Communicator& comm, const TransformSpec& spec,
                                int n_pairs = 1) {
  std::unique_ptr<SphericalHarmonicTransform> transform;
  MeasuredTransform measured;
  measured.planning =
      timed(comm, [&] { transform = std::make_unique<SphericalHarmonicTransform>(comm, spec); });
  auto alm = agreed(comm, [&] { return transform->make_alm<double>(); });
  std::fill_n(alm.view().data(), alm.view().n_components() * alm.size(), std::complex<double>(1));
  for (int pair = 0; pair < n_pairs; ++pair) {
    auto map = transform->synthesize<double>(std::move(alm));
    alm = transform->adjoint<double>(std::move(map), {});
  }
  const TransformWork& work = measured.work = work_of(*transform, omp_get_max_threads());
  const double share = work.place == Place::host ? work.n_threads : 1.0 / work.ranks_of_device;
  const auto of_pair = [&](const char* stage) {
    return comm.max(transform->times().seconds(stage)) / n_pairs;
  };
  measured.legendre = share * of_pair("legendre") / 2;
  measured.ring_fft = share * of_pair("ring_fft") / 2;
  measured.exchange = of_pair("exchange") / 2;
  measured.upload = share * of_pair("upload");
  measured.download = share * of_pair("download");
  return measured;
}

/// Timings with few and with all degrees.
struct MeasuredPair {
  MeasuredTransform few;
  MeasuredTransform all;
};
MeasuredPair run_few_and_all(const Communicator& comm, std::int64_t nside, int spin,
                             Backend backend) {
  const std::int64_t few = std::max<std::int64_t>(1, nside / 8);
  return {run_transform(comm, healpix_spec(nside, spin, few, backend)),
          run_transform(comm, healpix_spec(nside, spin, 2 * nside, backend))};
}

template <class Samples>
void add_stages(const Communicator& comm, const MeasuredPair& pair, int spin, Samples& samples) {
  const MeasuredTransform& all = pair.all;
  const auto ring = static_cast<double>(all.work.longest_ring);
  const double pixels = comm.max(static_cast<double>(all.work.fft_pixel_bytes));
  const double modes = comm.max(static_cast<double>(all.work.fft_mode_bytes));
  // With few degrees the ring FFT time is that of pixels only.
  constexpr double least_share = 0.01;  // of the FFT's time, for the modes
  samples.ring_fft.push_back({ring, pixels, std::min(pair.few.ring_fft, all.ring_fft)});
  samples.ring_fft_modes.push_back(
      {ring, modes, std::max(all.ring_fft - pair.few.ring_fft, least_share * all.ring_fft)});
  (spin == 0 ? samples.legendre_scalar : samples.legendre_spin)
      .push_back({static_cast<double>(all.work.lmax),
                  comm.max(all.work.scalar_flops + all.work.spin_flops), all.legendre});
}

/// Adds the time of the exchange, which includes waiting for the slower rank and cold memory.
void add_message(const Communicator& comm, const MeasuredTransform& measured,
                 std::vector<MessageSample>& messages) {
  const double peers = comm.size() - 1;
  const double bytes = comm.max(static_cast<double>(measured.work.sent_bytes));
  if (bytes > 0) messages.push_back({bytes / peers, measured.exchange / peers});
}

bool is_direct(const MeasuredTransform& measured) {
  return measured.work.place == Place::device && measured.work.route == ModeRoute::direct;
}

/// Times a transform small enough to be repeated.
MeasuredTransform run_small(const Communicator& comm, std::int64_t nside, Backend backend) {
  return run_transform(comm, healpix_spec(nside, 0, 2 * nside, backend), nside < 64 ? 100 : 10);
}

}  // namespace

void measure_transform(const Communicator& comm, std::int64_t nside, int spin,
                       HostTransformSamples& samples) {
  const MeasuredPair pair = run_few_and_all(comm, nside, spin, Backend::host);
  add_stages(comm, pair, spin, samples);
  add_message(comm, pair.all, samples.messages);
  samples.planning.push_back({static_cast<double>(pair.all.work.lmax),
                              static_cast<double>(RingGrid::healpix(nside).n_rings()),
                              pair.all.planning});
}

void measure_transform(const Communicator& comm, std::int64_t nside, int spin,
                       DeviceSamples& samples) {
  const MeasuredPair pair = run_few_and_all(comm, nside, spin, Backend::cuda);
  if (pair.all.work.place != Place::device) return;
  add_stages(comm, pair, spin, samples);
  const double bytes =
      comm.max(static_cast<double>(pair.all.work.alm_bytes + pair.all.work.fft_pixel_bytes));
  samples.to_device.push_back({bytes, bytes, pair.all.upload});
  samples.to_host.push_back({bytes, bytes, pair.all.download});
  if (is_direct(pair.all)) add_message(comm, pair.all, samples.messages);
}

void measure_small_messages(const Communicator& comm, std::int64_t below_nside,
                            HostTransformSamples& samples) {
  if (comm.size() == 1) return;
  for (std::int64_t nside = 1; nside < below_nside; nside *= 2)
    add_message(comm, run_small(comm, nside, Backend::host), samples.messages);
}

void measure_small_messages(const Communicator& comm, std::int64_t below_nside,
                            DeviceSamples& samples) {
  if (comm.size() == 1) return;
  for (std::int64_t nside = 1; nside < below_nside; nside *= 2) {
    const MeasuredTransform measured = run_small(comm, nside, Backend::cuda);
    if (!is_direct(measured)) return;
    add_message(comm, measured, samples.messages);
  }
}

}  // namespace ringweave::detail::inline app
