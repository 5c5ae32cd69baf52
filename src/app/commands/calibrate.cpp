// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "app/backend_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/predict/calibration.hpp"
#include "app/predict/machine_choice.hpp"
#include "app/predict/machine_load.hpp"
#include "distribute/mpi/agree.hpp"
#include "perf_models/machine_combination.hpp"
#include "perf_models/machine_file.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {
namespace {

void say_curve(Run& run, const char* name, const CostCurve& curve, const char* unit) {
  const CostCurve::Point& first = curve.points().front();
  const CostCurve::Point& last = curve.points().back();
  run.print_line(fmt::format(
      "  {:<24} {:>9.3g} at {:<8.6g} {:>9.3g} at {:<10.8g} {:<22} +- {:.0f} %", name, first.seconds,
      first.size, last.seconds, last.size, unit, 100 * curve.uncertainty()));
}

void say_network(Run& run, const char* name, const Network& network, const std::string& note) {
  run.print_line(
      fmt::format("  {:<24} {:.3g} s + {:.3g} s a byte; above {:.0f} bytes {:.3g} s + {:.3g} s "
                  "a byte{}",
                  name, network.short_latency, network.short_byte, network.longest_short,
                  network.long_latency, network.long_byte,
                  note.empty() ? fmt::format(" +- {:.0f} %", 100 * network.uncertainty) : note));
}

void say_device(Run& run, const DeviceCosts& device) {
  run.print_line(fmt::format("{}; seconds of a rank that has it for itself", device.name));
  say_curve(run, "Legendre, scalar", device.legendre_scalar, "a FLOP, by lmax");
  say_curve(run, "Legendre, spin", device.legendre_spin, "a FLOP, by lmax");
  say_curve(run, "ring FFT", device.ring_fft, "a byte of pixels");
  say_curve(run, "ring FFT, modes", device.ring_fft_modes, "a byte of modes");
  say_curve(run, "copies to it", device.to_device, "a byte, by bytes");
  say_curve(run, "copies from it", device.to_host, "a byte, by bytes");
  say_curve(run, "convolution: pixels", device.convolution_pixels, "of predicted");
  say_curve(run, "convolution: ring FFT", device.convolution_ring_fft, "of predicted");
  say_curve(run, "convolution: modes", device.convolution_modes, "of predicted");
  say_curve(run, "points: taps", device.point_sums, "an operation on vectors, by lmax");
  if (device.network) say_network(run, "message between devices", *device.network, "");
}

void say_machine(Run& run, const Machine& machine) {
  run.print_line(fmt::format("{}, {} rank(s) x {} thread(s); seconds of one thread", machine.name,
                             machine.n_ranks, machine.n_threads));
  say_curve(run, "Legendre, scalar", machine.legendre_scalar, "a FLOP, by lmax");
  say_curve(run, "Legendre, spin", machine.legendre_spin, "a FLOP, by lmax");
  say_curve(run, "ring FFT", machine.ring_fft, "a byte of pixels");
  say_curve(run, "ring FFT, modes", machine.ring_fft_modes, "a byte of modes");
  say_curve(run, "making a transform", machine.transform_planning, "a ring, by lmax");
  say_curve(run, "points: taps", machine.point_sums, "an operation on vectors, by lmax");
  say_curve(run, "convolution: stencil", machine.convolution_stencil, "of predicted");
  say_curve(run, "convolution: sectors", machine.convolution_sectors, "of predicted");
  say_curve(run, "convolution: ring FFT", machine.convolution_ring_fft, "of predicted");
  say_curve(run, "convolution: modes", machine.convolution_modes, "of predicted");
  say_curve(run, "convolution: spin", machine.convolution_spin, "of predicted");
  say_curve(run, "making a convolution", machine.convolution_planning, "a ring, by ring length");
  say_curve(run, "splitting a kernel", machine.split_search, "a search, by lmax");
  say_curve(run, "new memory", machine.new_memory, "a byte, by bytes");
  say_curve(run, "file, read", machine.file_read, "a byte, by bytes");
  say_curve(run, "file, write", machine.file_write, "a byte, by bytes");
  say_network(run, "message", machine.network,
              machine.n_ranks > 1 ? "" : " (typical: two ranks are needed to measure it)");
  if (machine.device) say_device(run, *machine.device);
}

std::string time_text(double seconds) {
  return seconds < 60 ? fmt::format("{:.0f} s", seconds)
                      : fmt::format("{:.0f} min", std::ceil(seconds / 60));
}

void write_machine(Run& run, const std::string& path, const Machine& machine) {
  write_text(run, path, machine_text(machine));
  say_machine(run, machine);
  run.conclusion = fmt::format(
      "{}: written; predict with it: --machine {}, or export "
      "RINGWEAVE_MACHINE={}",
      path, path, path);
}

/// Returns the load of the machine while this job sleeps. Collective.
NodeLoad load_at_rest(const Communicator& comm) {
  constexpr std::chrono::milliseconds rest{500};
  const LoadMeter meter(comm);
  std::this_thread::sleep_for(rest);
  return meter.load();
}

/// Warns of measurements that other work has disturbed, and returns the same for the machine file;
/// empty where they are sound.
std::string judge(Run& run, const NodeLoad& load, const std::vector<CostSpread>& spreads) {
  constexpr double noticeable = 2;
  constexpr std::size_t most_named = 3;
  std::vector<std::string> found;
  if (load.is_busy()) found.push_back("other programs used " + load.text());
  std::vector<std::string> named;
  for (const CostSpread& spread : spreads) {
    if (spread.ratio >= noticeable && named.size() < most_named)
      named.push_back(fmt::format("{} ({:.1f} times)", spread.cost, spread.ratio));
  }
  if (!named.empty()) found.push_back(fmt::format("turns differ: {}", fmt::join(named, ", ")));
  for (const std::string& what : found) {
    run.warn(
        fmt::format("{}; predictions from this file will be wrong: repeat when the machine is "
                    "idle",
                    what));
  }
  return found.empty() ? "" : fmt::format("disturbed: {}", fmt::join(found, "; "));
}

/// Combines several calibrations into one machine. Collective.
int combine(Run& run, const CalibrateOptions& options) {
  std::vector<Machine> calibrations;
  for (const std::string& path : options.combine)
    calibrations.push_back(choose_machine(run.comm, path));
  const Machine machine = agreed(run.comm, [&] {
    try {
      return combine_machines(calibrations);
    } catch (const UsageError& error) {
      throw UsageError(fmt::format("--combine: {}", error.what()));
    }
  });
  if (!run.options.dry_run) write_machine(run, options.output, machine);
  return 0;
}

}  // namespace

int calibrate(Run& run, const CalibrateOptions& options) {
  run.outputs.announce(options.output, OutputContent::machine);
  for (const std::string& path : options.combine) run.outputs.keep(path);
  run.outputs.require_writable();
  if (!options.combine.empty()) return combine(run, options);
  const Backend backend = choose_backend(run, options.backend);
  CalibrationSizes sizes;
  sizes.most_nside = options.nside;
  sizes.least_nside = std::min(sizes.least_nside, sizes.most_nside);
  sizes.repeats = options.repeats;
  const std::string time = time_text(predict_calibration(run.comm, run.machine, sizes, backend));
  if (run.options.dry_run) {
    run.print_line(fmt::format(
        "plan: transforms, convolutions and files of nside {} to {}, {} turns: about {}{}",
        sizes.least_nside, sizes.most_nside, sizes.repeats, time,
        backend == Backend::cuda ? "; transforms, convolutions and points on GPUs too" : ""));
    return 0;
  }
  run.note(
      fmt::format("measuring takes about {}; a lower --nside or --repeats makes it shorter", time));
  const std::filesystem::path folder = std::filesystem::path(options.output).parent_path();
  const int n_sharers = backend == Backend::cuda ? ranks_of_device(run) : 1;
  if (const NodeLoad load = load_at_rest(run.comm); load.is_busy()) {
    run.warn(
        fmt::format("other programs use {}: costs that are measured now will be too large; "
                    "stop, and repeat when the machine is idle",
                    load.text()));
  }
  const LoadMeter meter(run.comm);
  auto [machine, spreads] = calibrate_machine(run.comm, run.progress, sizes, backend, n_sharers,
                                              folder.empty() ? "." : folder.string());
  machine.date = utc_now();
  machine.notes = judge(run, meter.load(), spreads);
  write_machine(run, options.output, machine);
  return 0;
}

}  // namespace ringweave::detail::inline app
