// SPDX-License-Identifier: GPL-3.0-or-later
// Times the ring FFT on one rank's full HEALPix map, with pruned rows as from the Legendre stage.
// Arguments: nside, lmax, components. OMP_NUM_THREADS sets the threads; --benchmark_format=json
// writes records.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "base/mode_view.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_limits.hpp"

namespace {

using namespace ringweave;

using namespace ringweave::detail;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

RingFftShape healpix_shape(std::int64_t nside, int lmax, std::int64_t n_components) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  const ModeLimits limits(*grid, lmax, lmax, 0);
  ModeLayout rows;
  std::int64_t position = 0;
  for (int m = 0; m <= lmax; ++m) {
    rows.begin_row(m);
    rows.add_segment(limits.kept(m), position);
    position += limits.kept(m).size();
  }
  rows.set_size(position);
  return {LocalRings(grid), std::move(rows), n_components};
}

/// Measures the bytes per second that all threads together copy between arrays too large for any
/// cache (read + written).
double stream_bandwidth() {
  static const double bandwidth = [] {
    constexpr std::int64_t size = std::int64_t{1} << 25;
    HostBuffer<double> from(size);
    HostBuffer<double> to(size);
    double best = 0;
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto start = Clock::now();
#pragma omp parallel for schedule(static)
      for (std::int64_t i = 0; i < size; ++i) {
        if (repeat == 0) from[i] = static_cast<double>(i);
        to[i] = from[i] + 1;
      }
      benchmark::DoNotOptimize(to.data());
      if (repeat > 0)
        best = std::max(best, 16.0 * static_cast<double>(size) / seconds_since(start));
    }
    return best;
  }();
  return bandwidth;
}

struct Problem {
  explicit Problem(const benchmark::State& state)
      : shape(healpix_shape(state.range(0), static_cast<int>(state.range(1)), state.range(2))),
        modes(shape.rows.size() * shape.n_components),
        map(shape.rings.n_pixels() * shape.n_components) {
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < modes.size(); ++i) {
      modes[i] = {static_cast<double>(i % 17) - 8, static_cast<double>(i % 23) - 11};
    }
    std::fill(map.begin(), map.end(), 0.5);
  }
  ModeView<double> mode_view() { return {modes.data(), modes.size()}; }
  MapView<double> map_view() { return {map.data(), shape.n_components, shape.rings.n_pixels()}; }
  double bytes() const {
    return static_cast<double>(modes.size()) * sizeof(std::complex<double>) +
           static_cast<double>(map.size()) * sizeof(double);
  }
  void report(benchmark::State& state, double seconds) const {
    const double rate = bytes() * static_cast<double>(state.iterations()) / seconds;
    state.counters["GB_per_s"] = rate * 1e-9;
    state.counters["of_stream"] = rate / stream_bandwidth();
    state.counters["threads"] = omp_get_max_threads();
  }

  RingFftShape shape;
  HostBuffer<std::complex<double>> modes;
  HostBuffer<double> map;
};

/// The ring in the middle of the map, where no mode of the benchmarks folds onto mode 0.
struct Belt {
  explicit Belt(const RingFftShape& shape)
      : ring(shape.rings.n_rings() / 2),
        n_phi(shape.rings.ring(LocalRing{ring}).n_phi),
        first_pixel(shape.rings.first_pixel(LocalRing{ring})) {}
  std::int64_t ring;
  std::int64_t n_phi;
  std::int64_t first_pixel;
};

/// Times the first plan of a process; later ones reuse its FFT plans.
void plan(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    RingFftShape shape =
        healpix_shape(state.range(0), static_cast<int>(state.range(1)), state.range(2));
    state.ResumeTiming();
    const auto fft = make_ring_fft(std::move(shape), Backend::host);
    state.counters["plan_MB"] = static_cast<double>(fft->bytes()) * 1e-6;
  }
}

void synthesize(benchmark::State& state) {
  Problem problem(state);
  const auto fft = make_ring_fft(problem.shape, Backend::host);
  fft->synthesize(problem.mode_view(), problem.map_view());
  const auto start = Clock::now();
  for (auto _ : state) fft->synthesize(problem.mode_view(), problem.map_view());
  problem.report(state, seconds_since(start));
  const Belt belt(problem.shape);
  const double* pixels = problem.map.data() + belt.first_pixel;
  const double mean =
      std::accumulate(pixels, pixels + belt.n_phi, 0.0) / static_cast<double>(belt.n_phi);
  const double wanted = problem.modes[belt.ring * problem.shape.n_components].real();
  if (std::abs(mean - wanted) > 1e-9) state.SkipWithError("a ring's mean is not its mode 0");
}

void adjoint(benchmark::State& state) {
  Problem problem(state);
  const auto fft = make_ring_fft(problem.shape, Backend::host);
  fft->adjoint(problem.map_view(), {}, problem.mode_view());
  const auto start = Clock::now();
  for (auto _ : state) fft->adjoint(problem.map_view(), {}, problem.mode_view());
  problem.report(state, seconds_since(start));
  const Belt belt(problem.shape);
  const double found = problem.modes[belt.ring * problem.shape.n_components].real();
  if (std::abs(found - 0.5 * static_cast<double>(belt.n_phi)) > 1e-9)
    state.SkipWithError("mode 0 is not the sum");
}

void arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nside", "lmax", "components"})->Unit(benchmark::kMillisecond)->UseRealTime();
  bench->Args({2048, 4096, 1})->Args({1024, 3071, 1})->Args({1024, 2048, 1});
  bench->Args({1024, 2048, 2})->Args({1024, 2048, 8})->Args({256, 512, 1})->Args({64, 128, 1});
}
// Largest first: FFT plans are made only once per process.
BENCHMARK(plan)
    ->ArgNames({"nside", "lmax", "components"})
    ->Args({2048, 4096, 1})
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK(synthesize)->Apply(arguments);
BENCHMARK(adjoint)->Apply(arguments);

}  // namespace

BENCHMARK_MAIN();
