// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/calibration.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numbers>
#include <thread>
#include <utility>
#include <vector>

#include "app/predict/transform_calibration.hpp"
#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/memory_meter.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/options.hpp"
#include "ringweave/splitting.hpp"
#include "ringweave/transform.hpp"
#include "ringweave/views.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

std::shared_ptr<const RingGrid> healpix(std::int64_t nside) {
  return std::make_shared<const RingGrid>(RingGrid::healpix(nside));
}

/// Samples of all sizes.
struct Samples {
  HostTransformSamples transforms;
  DeviceSamples device;
  std::vector<Sample> stencil, sectors, convolution_fft, modes, convolution_planning;
  std::vector<Sample> split_search, new_memory, read, write;
};

/// Idles for a moment, as processors do before a command starts: on a virtual machine they may
/// resume at another speed, which continuous work would not show. Collective.
void rest(const Communicator& comm) {
  comm.barrier();
  std::this_thread::sleep_for(std::chrono::milliseconds(250));
}

/// Adds a sample of the memory newly allocated by the system during `work`.
template <class Work>
void with_memory(const Communicator& comm, Samples& samples, const Work& work) {
  const std::int64_t bytes = MemoryMeter::touched_bytes();
  const double seconds = MemoryMeter::touch_seconds();
  work();
  const double new_bytes = comm.max(static_cast<double>(MemoryMeter::touched_bytes() - bytes));
  const double touching = comm.max(MemoryMeter::touch_seconds() - seconds);
  if (new_bytes > 0)
    samples.new_memory.push_back({new_bytes, new_bytes, touching * omp_get_max_threads()});
}

void measure_convolution(const Communicator& comm, std::int64_t nside, double fwhm,
                         ConvolutionPath path, Samples& samples) {
  RingConvolutionSpec spec;
  spec.grid = healpix(nside);
  spec.error = 1e-5;
  spec.path = path;
  rest(comm);
  std::unique_ptr<RingConvolution> convolution;
  const double planning = timed(comm, [&] {
    spec.kernels = {RadialKernel::gaussian(fwhm, KernelSupport::automatic(spec.error))};
    convolution = std::make_unique<RingConvolution>(comm, spec);
  });
  auto [in, out] = agreed(comm, [&] {
    const std::int64_t n_pixels = convolution->rings().n_pixels();
    return std::pair(MapBuffer<double>(1, n_pixels), MapBuffer<double>(1, n_pixels));
  });
  std::fill_n(in.view().data(), in.size(), 1.0);
  convolution->convolve<double>(std::as_const(in).view(), out.view());

  const RingConvolutionPlan& plan = convolution->plan();
  const ConvolutionSeconds& all = plan.predicted();
  const ConvolutionSeconds own = plan.predicted_with_repeats(comm.rank());
  const auto size = static_cast<double>(spec.grid->longest_ring());
  const auto add = [&](std::vector<Sample>& list, double ConvolutionSeconds::*of,
                       const char* stage) {
    // Ranks do different amounts of work, and the slowest counts, as in a run.
    const double seconds = comm.max(convolution->times().seconds(stage)) * omp_get_max_threads();
    const double predicted = comm.max(own.*of);
    // A stage with hardly any predicted time gives no useful rate.
    if (comm.sum(own.*of) > 0.1 * all.total() && seconds > 0)
      list.push_back({size, predicted, seconds});
  };
  add(samples.stencil, &ConvolutionSeconds::stencil, "stencil");
  add(samples.sectors, &ConvolutionSeconds::sectors, "sectors");
  add(samples.convolution_fft, &ConvolutionSeconds::ring_fft, "ring_fft");
  add(samples.modes, &ConvolutionSeconds::modes, "modes");
  samples.convolution_planning.push_back(
      {size, static_cast<double>(spec.grid->n_rings()), planning});
}

void measure_convolutions(const Communicator& comm, std::int64_t nside, Samples& samples) {
  const double pixel = std::sqrt(std::numbers::pi / 3) / static_cast<double>(nside);
  for (const double width : {3.0, 6.0, 20.0}) {
    measure_convolution(comm, nside, width * pixel, ConvolutionPath::automatic, samples);
    if (width < 10)
      measure_convolution(comm, nside, width * pixel, ConvolutionPath::pixels, samples);
  }
}

/// Uses a kernel with a long tail.
void measure_splitting(const Run& run, std::int64_t nside, Samples& samples) {
  KernelSplitSpec spec;
  spec.nside = nside;
  spec.n_ranks = run.comm.size();
  spec.n_threads = omp_get_max_threads();
  const int lmax = checked_cast<int>(2 * nside, "lmax");
  for (int l = 0; l <= lmax; ++l)
    spec.k_l.push_back(std::pow(1 + l * (l + 1.0) / 100, -0.75) *
                       std::exp(-std::pow(3.5 * l / lmax, 2) / 2));
  rest(run.comm);
  const double seconds =
      timed(run.comm, [&] { agree(run.comm, [&] { const KernelSplit split(spec); }); });
  samples.split_search.push_back({static_cast<double>(lmax), 1, seconds});
}

/// Writes and reads a map, and removes it.
void measure_file(const Communicator& comm, std::int64_t nside, const std::string& folder,
                  Samples& samples) {
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
  samples.write.push_back({bytes, bytes, write});
  samples.read.push_back({bytes, bytes, read});
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const auto colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown processor";
}

/// Returns the curve through the samples, or the typical one if there are none.
CostCurve curve(const std::vector<Sample>& samples, const CostCurve& typical) {
  return samples.empty() ? typical : fit_curve(samples);
}

/// Fits the device that the ranks take turns on.
DeviceCosts device_of(const Run& run, const DeviceSamples& samples) {
  const std::string name =
      run.comm.broadcast(agreed(run.comm, [] { return device_identity().name; }), 0);
  if (samples.legendre_scalar.empty() || samples.legendre_spin.empty()) {
    throw ResourceError("calibrate: no transform that was timed fits " + name +
                        "; free its memory, or give a lower --nside");
  }
  return fit_device(name, samples);
}

Machine machine_of(const Run& run, const Samples& samples, Backend backend) {
  Machine machine = typical_machine();
  machine.name = run.comm.broadcast(processor_name(), 0);
  machine.date = utc_now();
  machine.n_ranks = run.comm.size();
  machine.n_threads = omp_get_max_threads();
  const HostTransformSamples& transforms = samples.transforms;
  const auto fit = [&](CostCurve Machine::*of, const std::vector<Sample>& list) {
    machine.*of = curve(list, typical_machine().*of);
  };
  fit(&Machine::legendre_scalar, transforms.legendre_scalar);
  fit(&Machine::legendre_spin, transforms.legendre_spin);
  fit(&Machine::ring_fft, transforms.ring_fft);
  fit(&Machine::ring_fft_modes, transforms.ring_fft_modes);
  fit(&Machine::transform_planning, transforms.planning);
  fit(&Machine::convolution_stencil, samples.stencil);
  fit(&Machine::convolution_sectors, samples.sectors);
  fit(&Machine::convolution_ring_fft, samples.convolution_fft);
  fit(&Machine::convolution_modes, samples.modes);
  fit(&Machine::convolution_planning, samples.convolution_planning);
  fit(&Machine::split_search, samples.split_search);
  fit(&Machine::new_memory, samples.new_memory);
  fit(&Machine::file_read, samples.read);
  fit(&Machine::file_write, samples.write);
  machine.network = fit_network_if_enough(transforms.messages).value_or(typical_machine().network);
  if (backend == Backend::cuda) {
    machine.backend = "cuda";
    machine.device = device_of(run, samples.device);
  }
  return machine;
}

}  // namespace

Machine calibrate_machine(Run& run, const CalibrationSizes& sizes, Backend backend,
                          const std::string& folder) {
  const Communicator& comm = run.comm;
  const bool on_device = backend == Backend::cuda;
  Samples samples;
  for (int repeat = 0; repeat < sizes.repeats; ++repeat) {
    for (std::int64_t nside = sizes.least_nside; nside <= sizes.most_nside; nside *= 2) {
      run.progress.stage(fmt::format("nside {}, turn {} of {}", nside, repeat + 1, sizes.repeats));
      rest(comm);
      with_memory(comm, samples, [&] { measure_transform(comm, nside, 0, samples.transforms); });
      rest(comm);
      measure_transform(comm, nside, 2, samples.transforms);
      measure_convolutions(comm, nside, samples);
      measure_splitting(run, nside, samples);
      measure_file(comm, nside, folder, samples);
      if (on_device) measure_transform(comm, nside, 0, samples.device);
      if (on_device) measure_transform(comm, nside, 2, samples.device);
    }
    measure_small_messages(comm, sizes.least_nside, samples.transforms);
    if (on_device) measure_small_messages(comm, sizes.least_nside, samples.device);
  }
  return machine_of(run, samples, backend);
}

}  // namespace ringweave::detail::inline app
