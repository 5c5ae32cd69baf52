// SPDX-License-Identifier: GPL-3.0-or-later
// Times rotations of a_lm from galactic to ecliptic coordinates, and the error of going there and
// back. One JSON line per measurement:
//   scripts/mpirun.sh RANKS rotation_bench LMAX [COMPONENTS [REPEATS]]
// With one rank and "turns" after REPEATS it waits for a line of its input before each, so that
// another program can alternate with it.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "bench/run_bench.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/rotation.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail {
namespace {

struct Options {
  int lmax = 1024;
  int components = 1;
  int repeats = 3;
  bool in_turns = false;
};

Options read_options(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  Options options;
  if (!words.empty()) options.lmax = std::stoi(words[0]);
  if (words.size() > 1) options.components = std::stoi(words[1]);
  if (words.size() > 2) options.repeats = std::stoi(words[2]);
  options.in_turns = words.size() > 3 && words[3] == "turns";
  return options;
}

AlmBuffer<double> random_alm(const AlmLayout& layout, int components) {
  AlmBuffer<double> alm(components, layout.size());
  for (int c = 0; c < components; ++c) {
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const NormalPair x = normal_pair(1, static_cast<std::uint32_t>(c), l, m);
        alm.view().component(c)[layout.index(row, l)] = {x.re, m == 0 ? 0 : x.im};
      }
    }
  }
  return alm;
}

/// Root of the sum of squared differences over that of squares.
double relative_difference(const Communicator& comm, const AlmBuffer<double>& a,
                           const AlmBuffer<double>& b) {
  double sums[2] = {0, 0};
  for (std::int64_t i = 0; i < a.n_components() * a.size(); ++i) {
    sums[0] += std::norm(a.view().data()[i] - b.view().data()[i]);
    sums[1] += std::norm(b.view().data()[i]);
  }
  comm.sum(sums, 2);
  return std::sqrt(sums[0] / sums[1]);
}

int run(const Communicator& comm, int argc, char** argv) {
  const Options options = read_options(argc, argv);
  std::vector<int> orders;
  for (int m = comm.rank(); m <= options.lmax; m += comm.size()) orders.push_back(m);
  const AlmLayout layout(options.lmax, options.lmax, orders);
  const EulerAngles angles =
      EulerAngles::between(CoordinateSystem::galactic, CoordinateSystem::ecliptic);
  const AlmBuffer<double> original = random_alm(layout, options.components);
  AlmBuffer<double> alm = random_alm(layout, options.components);
  for (int i = 0; i < options.repeats; ++i) {
    if (options.in_turns) {
      std::string line;
      if (!std::getline(std::cin, line)) break;
    }
    std::copy_n(original.view().data(), original.n_components() * original.size(),
                alm.view().data());
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    rotate(comm, layout, alm, angles);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double seconds = comm.max(elapsed.count());
    if (!comm.is_root()) continue;
    fmt::print(
        "{{\"lmax\": {}, \"components\": {}, \"ranks\": {}, \"threads\": {}, \"simd\": \"{}\", "
        "\"seconds\": {:.6f}}}\n",
        options.lmax, options.components, comm.size(), omp_get_max_threads(), simd_target_chosen(),
        seconds);
    std::fflush(stdout);
  }
  rotate(comm, layout, alm, angles.inverse());
  const double error = relative_difference(comm, alm, original);
  if (comm.is_root()) fmt::print("{{\"back_and_forth_rms\": {:.3e}}}\n", error);
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("rotation_bench", argc, argv, ringweave::detail::run);
}
