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

/// Adds the time of the exchange, which includes waiting for the slower rank and cold memory.
void add_message(const Communicator& comm, const MeasuredTransform& measured,
                 std::vector<MessageSample>& messages) {
  const double peers = comm.size() - 1;
  const double bytes = comm.max(static_cast<double>(measured.work.sent_bytes));
  if (bytes > 0) messages.push_back({bytes / peers, measured.exchange / peers});
}

/// Whether messages go between the places where the stages compute.
bool is_direct(const TransformWork& work) {
  return work.place == Place::host ||
         (work.place == Place::device && work.route == ModeRoute::direct);
}

}  // namespace

void measure_transform(const Communicator& comm, std::int64_t nside, int spin, Backend backend,
                       StageSamples& samples) {
  const std::int64_t few_degrees = std::max<std::int64_t>(1, nside / 8);
  const MeasuredTransform few =
      run_transform(comm, healpix_spec(nside, spin, few_degrees, backend));
  const MeasuredTransform all = run_transform(comm, healpix_spec(nside, spin, 2 * nside, backend));
  const TransformWork& work = all.work;
  if (backend == Backend::cuda && work.place != Place::device) return;
  const auto add = [&](const char* stage, double size, double units, double seconds) {
    samples.stages[stage].push_back({size, units, seconds});
  };
  const auto ring = static_cast<double>(work.longest_ring);
  const auto lmax = static_cast<double>(work.lmax);
  const double pixels = comm.max(static_cast<double>(work.fft_pixel_bytes));
  const double modes = comm.max(static_cast<double>(work.fft_mode_bytes));
  // With few degrees the ring FFT time is that of pixels only.
  constexpr double least_share = 0.01;  // of the FFT's time, for the modes
  add("ring_fft", ring, pixels, std::min(few.ring_fft, all.ring_fft));
  add("ring_fft_modes", ring, modes,
      std::max(all.ring_fft - few.ring_fft, least_share * all.ring_fft));
  add(spin == 0 ? "legendre_scalar" : "legendre_spin", lmax,
      comm.max(work.scalar_flops + work.spin_flops), all.legendre);
  if (backend == Backend::cuda) {
    const double bytes = comm.max(static_cast<double>(work.alm_bytes + work.fft_pixel_bytes));
    add("to_device", bytes, bytes, all.upload);
    add("to_host", bytes, bytes, all.download);
  } else {
    const auto rings = static_cast<double>(RingGrid::healpix(nside).n_rings());
    add("transform_planning", lmax, rings, all.planning);
  }
  if (is_direct(work)) add_message(comm, all, samples.messages);
}

void measure_small_messages(const Communicator& comm, std::int64_t below_nside, Backend backend,
                            StageSamples& samples) {
  if (comm.size() == 1) return;
  for (std::int64_t nside = 1; nside < below_nside; nside *= 2) {
    // Small enough to be repeated.
    const MeasuredTransform measured =
        run_transform(comm, healpix_spec(nside, 0, 2 * nside, backend), nside < 64 ? 100 : 10);
    if (!is_direct(measured.work)) return;
    add_message(comm, measured, samples.messages);
  }
}

}  // namespace ringweave::detail::inline app
