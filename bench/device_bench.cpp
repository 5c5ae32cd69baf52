// SPDX-License-Identifier: GPL-3.0-or-later
// Times the stages with their data on a device, compared with the device's measured rates and the
// host's stages.
//   device_bench --json device.json
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/device.hpp"
#include "bench/command_line.hpp"
#include "bench/cuda/device_rates.hpp"
#include "bench/device_legendre_cases.hpp"
#include "bench/device_transform_cases.hpp"
#include "bench/json_file.hpp"
#include "bench/run_bench.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

struct Options {
  std::vector<std::int64_t> nsides{2048, 4096};
  std::vector<int> spins{0, 2};
  std::vector<int> maps{1, 2, 4, 8};
  double lmax_over_nside = 2;
  int host_repeats = 0;
  std::string bounds;
  std::string json_file;
  bool about = false;
};

void add_options(CommandLine& command, Options& options) {
  command.add("--nside", &options.nsides, "HEALPix maps; batches at the first only");
  command.add("--lmax-over-nside", &options.lmax_over_nside, "lmax = this times nside");
  command.add("--spins", &options.spins, "spins of the fields");
  command.add("--maps", &options.maps, "numbers of maps that go through at once");
  command.add("--host-repeats", &options.host_repeats,
              "calls of the host's stages after the device's, all threads; 0: none");
  command.add("--bounds", &options.bounds,
              "make one call of each transform in this direction and measure nothing: "
              "device_bounds.py counts its operations on the software device");
  command.add("--about", &options.about,
              "only say which device there is; exits with 4 without one");
  command.add("--json", &options.json_file, "write everything to this file");
}

json describe_device() {
  const DeviceProperties device = device_properties();
  return {{"name", device.name},
          {"compute_capability", device.compute_capability},
          {"multiprocessors", device.n_multiprocessors},
          {"clock_ghz", 1e-9 * device.clock_hz},
          {"memory_bytes", device.memory_bytes},
          {"driver", device.driver_version},
          {"runtime", device.runtime_version}};
}

json measure_ceilings(const DeviceStream& stream) {
  const CopyRates copies = device_copy_rates(stream);
  json found = {{"fma_gflop_per_s", 1e-9 * device_fma_peak(stream)},
                {"copy_gb_per_s", 1e-9 * copies.on_device},
                {"to_device_gb_per_s", 1e-9 * copies.to_device},
                {"to_host_gb_per_s", 1e-9 * copies.to_host}};
  if (const auto rate = device_dgemm_rate(stream, 4096)) {
    found["cublas_dgemm_gflop_per_s"] = 1e-9 * *rate;
  }
  return found;
}

/// Batches are measured at the first nside alone, by both kinds of sums where possible.
std::vector<DeviceCase> cases_of(const Options& options) {
  std::vector<DeviceCase> cases;
  for (std::size_t i = 0; i < options.nsides.size(); ++i) {
    const std::int64_t nside = options.nsides[i];
    const int lmax = static_cast<int>(options.lmax_over_nside * static_cast<double>(nside));
    for (const int spin : options.spins) {
      for (const int maps : options.maps) {
        if (i > 0 && maps > 1) continue;
        cases.push_back({nside, lmax, spin, maps, BatchedSums::by_threads});
        // Q and U of a field are two maps.
        if (maps > 1 || spin > 0) {
          cases.push_back({nside, lmax, spin, maps, BatchedSums::by_matrices});
        }
      }
    }
  }
  return cases;
}

constexpr const char* row_format =
    "{:<9} {:<9} {:>6} {:>6} {:>5} {:>5} {:<8} {:>10} {:>10} {:>9} {:>8} {:>8} {:>9} {:>9} {:>10} "
    "{:>7}\n";

void print_head() {
  fmt::print(row_format, "stage", "direction", "nside", "lmax", "spin", "maps", "way", "seconds",
             "copied, s", "GFLOP/s", "of peak", "x floor", "x legend.", "x cuFFT", "host, s",
             "faster");
}

/// Absent values are left empty; `way` is that of sums or of batches.
void print_row(const json& row) {
  const auto number = [&](const char* key, int digits) {
    return row.contains(key) ? fmt::format("{:.{}f}", row[key].get<double>(), digits)
                             : std::string();
  };
  const auto count = [&](const char* key) { return row[key].get<std::int64_t>(); };
  fmt::print(row_format, row["stage"].get<std::string>(), row["direction"].get<std::string>(),
             count("nside"), count("lmax"), count("spin"), count("maps"),
             row.value("sums", row.value("batches", std::string())), number("seconds", 6),
             number("seconds_with_transfers", 6), number("gflop_per_s", 1), number("of_peak", 3),
             number("times_memory_floor", 2), number("times_legendre", 2),
             number("times_cufft_of_belt", 2), number("host_seconds", 4), number("times_host", 1));
  std::fflush(stdout);
}

/// Prints, for every batch summed in both ways, the time with matrix products over that with sums
/// by threads, and the faster way of a direction.
void print_sums(const json& rows, const std::string& direction, BatchedSums usual) {
  double log_ratio = 0;
  int n_pairs = 0;
  const auto same_case = [](const json& a, const json& b) {
    for (const char* key : {"stage", "direction", "nside", "lmax", "spin", "maps"}) {
      if (a[key] != b[key]) return false;
    }
    return true;
  };
  for (const json& matrices : rows) {
    if (matrices.value("sums", "") != "matrices" || matrices["direction"] != direction) continue;
    for (const json& threads : rows) {
      if (threads.value("sums", "") != "threads" || !same_case(matrices, threads)) continue;
      const double ratio = matrices["seconds"].get<double>() / threads["seconds"].get<double>();
      fmt::print("sums: {}, spin {}, {} maps: matrices take {:.2f} of threads\n", direction,
                 matrices["spin"].get<int>(), matrices["maps"].get<int>(), ratio);
      log_ratio += std::log(ratio);
      ++n_pairs;
    }
  }
  if (n_pairs == 0) return;
  const BatchedSums faster = log_ratio < 0 ? BatchedSums::by_matrices : BatchedSums::by_threads;
  fmt::print("sums: {}: {} are faster, as BatchedSums::as_measured {}\n", direction,
             name_of(faster), faster == usual ? "says" : "does not say");
}

/// The bounds that rounding explains.
constexpr double largest_difference = 1e-12;

/// Measures every case that fits and continues after failures: every row is written at once.
json measure_all(const Communicator& comm, const Options& options) {
  const DeviceStream stream;
  json all;
  all["device"] = describe_device();
  all["ceilings"] = measure_ceilings(stream);
  fmt::print("{}\nmeasured:", all["device"].dump());
  for (const auto& [key, value] : all["ceilings"].items()) {
    fmt::print(" {} {:.1f}", key, value.get<double>());
  }
  fmt::print("\n\n");
  print_head();
  const auto ceiling = [&](const char* key) { return 1e9 * all["ceilings"][key].get<double>(); };
  const bool has_cublas = all["ceilings"].contains("cublas_dgemm_gflop_per_s");
  const DeviceCeilings ceilings{
      ceiling("fma_gflop_per_s"), ceiling("copy_gb_per_s"),
      ceiling(has_cublas ? "cublas_dgemm_gflop_per_s" : "fma_gflop_per_s")};
  all["rows"] = json::array();
  all["failures"] = json::array();
  const auto fail = [&](const DeviceCase& one, const std::string& why) {
    const std::string failure = fmt::format("nside {}, spin {}, {} maps, {}: {}", one.nside,
                                            one.spin, one.maps, name_of(one.sums), why);
    fmt::print("failed: {}\n", failure);
    all["failures"].push_back(failure);
  };
  const auto measure = [&](const DeviceCase& one, const auto& work) {
    try {
      for (const json& row : work()) {
        print_row(row);
        all["rows"].push_back(row);
        for (const char* key : {"adjoint_gap", "host_difference"}) {
          const double difference = row.value(key, 0.0);
          // also false for NaN
          if (!(difference <= largest_difference))
            fail(one,
                 fmt::format("{}: {} is {:.2g}", row["stage"].get<std::string>(), key, difference));
        }
      }
    } catch (const Error& error) {
      fail(one, error.what());
    }
    write_json(options.json_file, all);
  };
  for (const DeviceCase& one : cases_of(options)) {
    measure(one,
            [&] { return measure_device_legendre(one, ceilings, options.host_repeats, stream); });
    // Transforms use the usual sums: one row for each batch.
    if (one.sums != BatchedSums::by_threads) continue;
    measure(one,
            [&] { return measure_device_transform(comm, one, ceilings, options.host_repeats); });
  }
  return all;
}

int run(const Communicator& comm, int argc, char** argv) {
  Options options;
  CommandLine command("Times the stages of a transform on a GPU and checks their answers.");
  add_options(command, options);
  if (const auto code = command.parse(comm, argc, argv)) return *code;
  if (comm.size() > 1)
    throw UsageError("device_bench: runs on one rank, has " + std::to_string(comm.size()));
  if (device_count() == 0) {
    fmt::print("skipped: no CUDA device: {}\n", device_unavailable_reason());
    return options.about ? exit_code(ErrorKind::resource) : 0;
  }
  choose_device(0);
  if (options.about) {
    fmt::print("{}\n", describe_device().dump());
    return 0;
  }
  if (!options.bounds.empty()) {
    for (const DeviceCase& one : cases_of(options)) {
      if (one.sums == BatchedSums::by_threads) call_device_transform(comm, one, options.bounds);
    }
    return 0;
  }
  const json all = measure_all(comm, options);
  print_sums(all["rows"], "synthesis", BatchedSums::by_threads);
  print_sums(all["rows"], "adjoint", BatchedSums::by_matrices);
  if (all["failures"].empty()) return 0;
  throw InternalError(fmt::format("device_bench: {} failures, see above and \"failures\" in {}",
                                  all["failures"].size(),
                                  options.json_file.empty() ? "--json" : options.json_file));
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("device_bench", argc, argv, ringweave::detail::run);
}
