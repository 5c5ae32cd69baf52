// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/calibration.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numbers>
#include <thread>
#include <utility>
#include <vector>

#include "app/predict/point_prediction.hpp"
#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/memory_meter.hpp"
#include "base/stage_timer.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "perf_models/machine_curves.hpp"
#include "perf_models/transform_model.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/files.hpp"
#include "ringweave/points.hpp"
#include "ringweave/transform.hpp"
#include "ringweave/views.hpp"
#include "transform/transform_estimate.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

std::shared_ptr<const RingGrid> healpix(std::int64_t nside) {
  return std::make_shared<const RingGrid>(RingGrid::healpix(nside));
}

/// Seconds of the slowest rank, all having begun together. Collective.
template <class Work>
double timed(const Communicator& comm, const Work& work) {
  StageTimes times;
  comm.barrier();
  {
    const StageTimer timer(&times, "work");
    work();
  }
  return comm.max(times.seconds("work"));
}

TransformSpec healpix_spec(std::int64_t nside, int spin, std::int64_t lmax, Backend backend) {
  TransformSpec spec;
  spec.grid = healpix(nside);
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

/// Tells whether messages go between the places where the stages compute.
bool is_direct(const TransformWork& work) {
  return work.place == Place::host ||
         (work.place == Place::device && work.route == ModeRoute::direct);
}

/// Times a synthesis and an adjoint of a field of spin 0 or 2 on HEALPix, with few and with all
/// degrees, each once and with cold caches, as a program runs them. Adds nothing if the data do not
/// fit the device of Backend::cuda. Collective. Error  ResourceError.
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

/// Times the exchange of transforms too small for measure_transform(): nside from 1 to below_nside,
/// lmax = 2 nside; between devices if MPI sends modes from their memory. Collective.
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

constexpr double rest_seconds = 0.25;

/// Idles for a moment, as processors do before a command starts: on a virtual machine they may
/// resume at another speed, which continuous work would not show. Collective.
void rest(const Communicator& comm) {
  comm.barrier();
  std::this_thread::sleep_for(std::chrono::duration<double>(rest_seconds));
}

/// Adds a sample of the memory newly allocated by the system during `work`.
template <class Work>
void with_memory(const Communicator& comm, StageSamples& samples, const Work& work) {
  const std::int64_t bytes = MemoryMeter::touched_bytes();
  const double seconds = MemoryMeter::touch_seconds();
  work();
  const double new_bytes = comm.max(static_cast<double>(MemoryMeter::touched_bytes() - bytes));
  const double touching = comm.max(MemoryMeter::touch_seconds() - seconds);
  if (new_bytes > 0)
    samples.stages["new_memory"].push_back(
        {new_bytes, new_bytes, touching * omp_get_max_threads()});
}

/// A convolution to be timed.
struct ConvolutionCase {
  double fwhm = 0;
  ConvolutionPath path = ConvolutionPath::automatic;
  int spin = 0;
  Backend backend = Backend::host;
};

RingConvolutionSpec spec_of(std::int64_t nside, const ConvolutionCase& one) {
  RingConvolutionSpec spec;
  spec.grid = healpix(nside);
  spec.error = 1e-5;
  spec.path = one.path;
  spec.n_maps = one.spin > 0 ? 2 : 1;
  spec.backend = one.backend;
  spec.kernels = {RadialKernel::gaussian(one.fwhm, KernelSupport::automatic(spec.error), one.spin)};
  return spec;
}

/// The predicted and the measured seconds of a stage.
struct ConvolutionStage {
  const char* cost;
  const char* timed_as;
  double predicted = 0;  ///< of this rank
};

/// Returns the stages whose costs a case measures.
std::vector<ConvolutionStage> stages_of(const ConvolutionCase& one, const ConvolutionSeconds& of) {
  if (one.backend == Backend::cuda) {
    return {{"convolution_pixels", "pixels", of.stencil + of.sectors},
            {"convolution_ring_fft", "ring_fft", of.ring_fft},
            {"convolution_modes", "modes", of.modes}};
  }
  if (one.spin > 0) return {{"convolution_spin", "sectors", of.sectors}};
  return {{"convolution_stencil", "stencil", of.stencil},
          {"convolution_sectors", "sectors", of.sectors},
          {"convolution_ring_fft", "ring_fft", of.ring_fft},
          {"convolution_modes", "modes", of.modes}};
}

/// Times a convolution. Adds nothing if the data do not fit the device of Backend::cuda.
void measure_convolution(const Communicator& comm, std::int64_t nside, const ConvolutionCase& one,
                         int ranks_of_device, StageSamples& samples) {
  rest(comm);
  std::unique_ptr<RingConvolution> convolution;
  double planning = 0;
  try {
    planning = timed(
        comm, [&] { convolution = std::make_unique<RingConvolution>(comm, spec_of(nside, one)); });
  } catch (const ResourceError&) {
    if (one.backend == Backend::host) throw;
    return;
  }
  const RingConvolutionPlan& plan = convolution->plan();
  auto [in, out] = agreed(comm, [&] {
    const std::int64_t n_pixels = convolution->rings().n_pixels();
    return std::pair(MapBuffer<double>(plan.spec().n_maps, n_pixels),
                     MapBuffer<double>(plan.spec().n_maps, n_pixels));
  });
  std::fill_n(in.view().data(), in.n_components() * in.size(), 1.0);
  convolution->convolve<double>(std::as_const(in).view(), out.view());

  const double all = plan.predicted().total();
  const auto size = static_cast<double>(plan.grid().longest_ring());
  const double share = one.backend == Backend::host ? omp_get_max_threads() : 1.0 / ranks_of_device;
  for (const auto& [cost, timed_as, own] :
       stages_of(one, plan.predicted_with_repeats(comm.rank()))) {
    // Ranks do different amounts of work, and the slowest counts, as in a run.
    const double seconds = share * comm.max(convolution->times().seconds(timed_as));
    const double predicted = comm.max(own);
    // A stage with hardly any predicted time gives no useful rate.
    if (comm.sum(own) > 0.1 * all && seconds > 0)
      samples.stages[cost].push_back({size, predicted, seconds});
  }
  if (one.backend == Backend::host && one.spin == 0) {
    samples.stages["convolution_planning"].push_back(
        {size, static_cast<double>(plan.grid().n_rings()), planning});
  }
}

/// Returns the widths of a kernel and ways to convolve with it, of maps of this nside.
std::vector<ConvolutionCase> convolution_cases(std::int64_t nside, Backend backend) {
  const double pixel = std::sqrt(std::numbers::pi / 3) / static_cast<double>(nside);
  std::vector<ConvolutionCase> cases;
  for (const double width : {3.0, 6.0, 20.0}) {
    cases.push_back({width * pixel, ConvolutionPath::automatic, 0, backend});
    if (width > 10) continue;
    cases.push_back({width * pixel, ConvolutionPath::pixels, 0, backend});
    if (backend == Backend::host)
      cases.push_back({width * pixel, ConvolutionPath::pixels, 2, backend});
  }
  return cases;
}

/// This rank's part of about as many points all over the sphere as the grid has pixels, from the
/// north to the south.
struct SpiralPoints {
  SpiralPoints(std::int64_t n, int rank, int n_ranks) {
    constexpr double turn = 2.399963229728653;  // the golden angle
    for (std::int64_t i = rank; i < n; i += n_ranks) {
      const auto place = static_cast<double>(i);
      theta.push_back(std::acos(1 - (2 * place + 1) / static_cast<double>(n)));
      phi.push_back(std::fmod(turn * place, 2 * std::numbers::pi));
    }
  }
  std::vector<double> theta;
  std::vector<double> phi;
};

/// Times the sums over taps in a transform to points and its adjoint, of a scalar field. Adds
/// nothing if they do not fit the device of Backend::cuda.
void measure_points(const Communicator& comm, std::int64_t nside, Backend backend,
                    int ranks_of_device, StageSamples& samples) {
  constexpr std::int64_t most_points = 4'000'000;
  const std::int64_t n_points = std::min(12 * nside * nside, most_points);
  PointSpec spec;
  spec.lmax = checked_cast<int>(2 * nside, "lmax");
  spec.epsilon = 1e-6;
  spec.backend = backend;
  rest(comm);
  const auto spiral =
      agreed(comm, [&] { return SpiralPoints(n_points, comm.rank(), comm.size()); });
  const PointSet points(comm, spec, spiral.theta, spiral.phi);
  std::optional<PointTransform> transform;
  try {
    transform.emplace(comm, spec, points);
  } catch (const ResourceError&) {
    if (backend == Backend::host) throw;
    return;
  }
  auto alm = agreed(comm, [&] { return transform->make_alm<double>(); });
  auto values = agreed(comm, [&] { return transform->make_values<double>(); });
  std::fill_n(alm.view().data(), alm.size(), std::complex<double>(1));
  transform->evaluate(alm, values);
  transform->adjoint(values, alm);
  const double share = backend == Backend::host ? omp_get_max_threads() : 1.0 / ranks_of_device;
  const double of_both = comm.max(transform->times().seconds("points")) * share;
  samples.stages["point_sums"].push_back({static_cast<double>(spec.lmax),
                                          point_work(*transform, comm.size(), 1).operations,
                                          of_both / 2});
}

/// Uses a kernel with a long tail.
void measure_splitting(const Communicator& comm, std::int64_t nside, StageSamples& samples) {
  KernelSplitSpec spec;
  spec.nside = nside;
  spec.n_ranks = comm.size();
  spec.n_threads = omp_get_max_threads();
  spec.choice = SplitChoice::one_core;
  const int lmax = checked_cast<int>(2 * nside, "lmax");
  for (int l = 0; l <= lmax; ++l)
    spec.k_l.push_back(std::pow(1 + l * (l + 1.0) / 100, -0.75) *
                       std::exp(-std::pow(3.5 * l / lmax, 2) / 2));
  rest(comm);
  const double seconds = timed(comm, [&] { agree(comm, [&] { const KernelSplit split(spec); }); });
  samples.stages["split_search"].push_back({static_cast<double>(lmax), 1, seconds});
}

/// Writes and reads a map, and removes it.
void measure_file(const Communicator& comm, std::int64_t nside, const std::string& folder,
                  StageSamples& samples) {
  const std::string path = folder + "/ringweave_calibration.h5";
  TransformSpec spec;
  spec.grid = healpix(nside);
  spec.lmax = spec.mmax = 1;
  const LocalRings rings =
      agreed(comm, [&] { return TransformPlan(spec, comm.rank(), comm.size()).rings; });
  auto map = agreed(comm, [&] { return MapBuffer<double>(1, rings.n_pixels()); });
  std::fill_n(map.view().data(), map.size(), 1.0);
  MapHeader header;
  header.grid = spec.grid;
  header.columns = {{"TEMPERATURE", ""}};
  rest(comm);
  const double write = timed(comm, [&] {
    write_map(comm, path, IfExists::overwrite, header, Provenance(), rings,
              std::as_const(map).view());
  });
  const double read = timed(comm, [&] {
    const auto reader = open_map(comm, path);
    const int column = 0;
    reader->read({&column, 1}, rings, map.view());
  });
  agree(comm, [&] {
    if (comm.is_root()) std::filesystem::remove(path);
  });
  const double bytes = static_cast<double>(spec.grid->n_pixels()) * sizeof(double);
  samples.stages["file_write"].push_back({bytes, bytes, write});
  samples.stages["file_read"].push_back({bytes, bytes, read});
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

/// Fits the device that the ranks take turns on.
DeviceCosts device_of(const Communicator& comm, const StageSamples& samples) {
  const std::string name = comm.broadcast(agreed(comm, [] { return device_identity().name; }), 0);
  for (const auto& [cost, curve] : device_curves) {
    if (samples.stages.contains(cost)) continue;
    throw ResourceError(fmt::format(
        "calibrate: nothing that was timed on {} measures its \"{}\"; free its memory, or give a "
        "lower --nside",
        name, cost));
  }
  return fit_device(name, samples);
}

/// Returns the machine of some samples. Stages without any, such as the exchange of one rank, have
/// their typical cost.
Machine machine_of(const Communicator& comm, const StageSamples& samples) {
  Machine machine = typical_machine();
  machine.name = comm.broadcast(processor_name(), 0);
  machine.n_ranks = comm.size();
  machine.n_threads = omp_get_max_threads();
  for (const auto& [name, curve] : machine_curves) {
    const auto found = samples.stages.find(name);
    if (found != samples.stages.end()) machine.*curve = fit_curve(found->second);
  }
  machine.network = fit_network_if_enough(samples.messages).value_or(machine.network);
  return machine;
}

/// Returns how far the turns of each cost differ. Files and new memory always do.
std::vector<CostSpread> spreads_of(const StageSamples& samples, int n_turns) {
  std::vector<CostSpread> spreads;
  for (const auto& [cost, taken] : samples.stages) {
    if (!cost.starts_with("file_") && cost != "new_memory")
      spreads.push_back({cost, spread_of_turns(taken, n_turns)});
  }
  std::sort(spreads.begin(), spreads.end(),
            [](const CostSpread& a, const CostSpread& b) { return a.ratio > b.ratio; });
  return spreads;
}

}  // namespace

Calibration calibrate_machine(const Communicator& comm, Progress& progress,
                              const CalibrationSizes& sizes, Backend backend, int n_sharers,
                              const std::string& folder) {
  const bool on_device = backend == Backend::cuda;
  StageSamples samples;
  StageSamples on_gpu;
  for (int repeat = 0; repeat < sizes.repeats; ++repeat) {
    for (std::int64_t nside = sizes.least_nside; nside <= sizes.most_nside; nside *= 2) {
      progress.stage(fmt::format("nside {}, turn {} of {}", nside, repeat + 1, sizes.repeats));
      rest(comm);
      with_memory(comm, samples,
                  [&] { measure_transform(comm, nside, 0, Backend::host, samples); });
      rest(comm);
      measure_transform(comm, nside, 2, Backend::host, samples);
      measure_points(comm, nside, Backend::host, 1, samples);
      for (const ConvolutionCase& one : convolution_cases(nside, Backend::host))
        measure_convolution(comm, nside, one, 1, samples);
      measure_splitting(comm, nside, samples);
      measure_file(comm, nside, folder, samples);
      if (!on_device) continue;
      measure_transform(comm, nside, 0, backend, on_gpu);
      measure_transform(comm, nside, 2, backend, on_gpu);
      measure_points(comm, nside, backend, n_sharers, on_gpu);
      for (const ConvolutionCase& one : convolution_cases(nside, backend))
        measure_convolution(comm, nside, one, n_sharers, on_gpu);
    }
    measure_small_messages(comm, sizes.least_nside, Backend::host, samples);
    if (on_device) measure_small_messages(comm, sizes.least_nside, backend, on_gpu);
  }
  Machine machine = machine_of(comm, samples);
  if (on_device) {
    machine.backend = "cuda";
    machine.device = device_of(comm, on_gpu);
  }
  return {std::move(machine), spreads_of(samples, sizes.repeats)};
}

double predict_calibration(const Communicator& comm, const Machine& machine,
                           const CalibrationSizes& sizes, Backend backend) {
  // A device rests before points and each of its convolutions too; its computations take less
  // time.
  const double of_each_nside =
      (backend == Backend::cuda ? 18 : 12) * rest_seconds + 1.4;  // kernels and plans are made
  // Both directions of transforms, which are cold, also to points, then convolutions, a search for
  // a split, files.
  constexpr double transforms = 9;
  double seconds = 0;
  for (std::int64_t nside = sizes.least_nside; nside <= sizes.most_nside; nside *= 2) {
    seconds += of_each_nside;
    for (const int spin : {0, 2}) {
      const TransformWork work = agreed(comm, [&] {
        const TransformSpec spec = healpix_spec(nside, spin, 2 * nside, Backend::host);
        return work_of(TransformPlan(spec, comm.rank(), comm.size()), omp_get_max_threads());
      });
      seconds += transforms * comm.max(estimate_transform(work, machine).total().seconds);
    }
  }
  return sizes.repeats * seconds;
}

}  // namespace ringweave::detail::inline app
