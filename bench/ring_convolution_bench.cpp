// SPDX-License-Identifier: GPL-3.0-or-later
// Times the parts of a ring convolution. OMP_NUM_THREADS sets the threads. Arguments:
// Gaussians on HEALPix: nside, FWHM in tenths of an arcminute, digits of the kernel's truncation,
// maps, path (0: chosen by the plan, 1: pixels, 2: modes, 3: modes in the belt).
// Discs on a Gauss-Legendre grid: rings, radius in arcminutes, rows of kernel modes (0: chosen by
// the plan, 1: by sums, 2: by FFT).
// Batches on HEALPix: nside, FWHM in tenths of an arcminute, maps, kernels (1: for all maps).
// Q and U, smoothed with Gaussians on HEALPix: nside, FWHM in tenths of an arcminute, path.
#include <benchmark/benchmark.h>
#include <omp.h>

#include <cmath>
#include <memory>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench/fma_peak.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace {

using namespace ringweave;

using namespace ringweave::detail;

RadialKernel kernel(std::int64_t tenths_arcmin, std::int64_t digits, int spin = 0) {
  const double arcmin = std::numbers::pi / (180 * 60);
  return RadialKernel::gaussian(
      0.1 * static_cast<double>(tenths_arcmin) * arcmin,
      KernelSupport::automatic(std::pow(10.0, -static_cast<double>(digits))), spin);
}

/// 1 within the radius, normalised to preserve a constant.
RadialKernel disc(double radius) {
  const std::vector<double> theta{0, radius};
  const std::vector<double> value(2, 1 / (2 * std::numbers::pi * (1 - std::cos(radius))));
  return RadialKernel::from_profile(theta, value, KernelSupport::whole());
}

/// Products of a pixel with a kernel value in a sum over pixels, for equal rings alone or for all.
double products(const RingConvolutionPlan& plan) {
  const double share = std::pow(std::sin(plan.support() / 2), 2);
  double pixels = 0;
  for (std::int64_t r = 0; r < plan.grid().n_rings(); ++r) {
    if (plan.has_stencil(r)) pixels += static_cast<double>(plan.grid().ring(RingId{r}).n_phi);
  }
  return pixels * share * static_cast<double>(plan.grid().n_pixels() * plan.spec().n_maps);
}

template <class T>
void measure(benchmark::State& state, const RingConvolutionSpec& spec) {
  std::unique_ptr<RingConvolution> made;
  try {
    made = std::make_unique<RingConvolution>(Communicator::self(), spec);
  } catch (const Error& error) {
    return state.SkipWithError(error.what());
  }
  RingConvolution& convolution = *made;
  MapBuffer<T> in(spec.n_maps, spec.grid->n_pixels());
  MapBuffer<T> out(spec.n_maps, spec.grid->n_pixels());
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < spec.n_maps * in.size(); ++i) {
    in.view().data()[i] = static_cast<T>(1);
    out.view().data()[i] = 0;
  }
  convolution.convolve<T>(std::as_const(in).view(), out.view());
  convolution.times().clear();
  for (auto _ : state) convolution.convolve<T>(std::as_const(in).view(), out.view());
  const double calls = static_cast<double>(state.iterations());
  const auto seconds = [&](const char* part) { return convolution.times().seconds(part) / calls; };
  for (const char* part : {"ring_fft", "modes", "stencil", "sectors"})
    state.counters[part] = seconds(part);
  const ConvolutionSeconds& predicted = convolution.plan().predicted();
  state.counters["ring_fft_predicted"] = predicted.ring_fft;
  state.counters["modes_predicted"] = predicted.modes;
  state.counters["stencil_predicted"] = predicted.stencil;
  state.counters["sectors_predicted"] = predicted.sectors;
  state.counters["support_arcmin"] = convolution.plan().support() * 180 * 60 / std::numbers::pi;
  if (seconds("stencil") > 0) {
    static const double peak = measure_fma_peak(0.5);
    state.counters["stencil_of_peak"] =
        2 * products(convolution.plan()) / seconds("stencil") /
        (peak * (sizeof(T) == 4 ? 2 : 1) * static_cast<double>(omp_get_max_threads()));
  }
  // A kernel preserves a constant only as far as pixels are a quadrature.
  const double found = static_cast<double>(out.view().data()[spec.grid->n_pixels() / 2]);
  if (convolution.plan().spin() == 0 && std::abs(found - 1) > 0.02)
    state.SkipWithError("a constant is not kept");
}

RingConvolutionSpec spec_of(benchmark::State& state, std::int64_t n_maps) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(state.range(0)));
  spec.n_maps = n_maps;
  return spec;
}

template <class T>
void convolve(benchmark::State& state) {
  RingConvolutionSpec spec = spec_of(state, state.range(3));
  spec.kernels = {kernel(state.range(1), state.range(2))};
  spec.path = static_cast<ConvolutionPath>(state.range(4));
  if (state.range(2) < 13) spec.error = std::pow(10.0, -static_cast<double>(state.range(2)));
  measure<T>(state, spec);
}

template <class T>
void convolve_with_disc(benchmark::State& state) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(
      RingGrid::gauss_legendre(state.range(0), 2 * state.range(0)));
  spec.kernels = {disc(static_cast<double>(state.range(1)) * std::numbers::pi / (180 * 60))};
  spec.rows = static_cast<KernelRows>(state.range(2));
  spec.error = 1e-5;
  measure<T>(state, spec);
}

/// One kernel for all maps, or a different width for each.
template <class T>
void convolve_batch(benchmark::State& state) {
  RingConvolutionSpec spec = spec_of(state, state.range(2));
  for (std::int64_t i = 0; i < state.range(3); ++i)
    spec.kernels.push_back(kernel(state.range(1) - state.range(1) / 50 * i, 5));
  spec.error = 1e-5;
  measure<T>(state, spec);
  state.counters["a_map"] = benchmark::Counter(
      static_cast<double>(spec.n_maps),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

template <class T>
void convolve_spin(benchmark::State& state) {
  RingConvolutionSpec spec = spec_of(state, 2);
  spec.kernels = {kernel(state.range(1), 5, 2)};
  spec.path = static_cast<ConvolutionPath>(state.range(2));
  spec.error = 1e-5;
  measure<T>(state, spec);
}

void arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nside", "fwhm", "digits", "maps", "path"});
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int digits : {5, 13}) {
    for (const int path : {0, 1, 3}) bench->Args({2048, 47, digits, 1, path});
  }
  for (const int fwhm : {75, 100, 200, 400, 800, 1600}) {
    bench->Args({2048, fwhm, 5, 1, 0});
    bench->Args({2048, fwhm, 5, 1, 2});
    if (fwhm <= 100) bench->Args({2048, fwhm, 5, 1, 1});
  }
  bench->Args({1024, 47, 5, 8, 1});
}
BENCHMARK(convolve<double>)->Apply(arguments);
BENCHMARK(convolve<float>)->Apply(arguments);

void disc_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"rings", "radius", "rows"});
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int radius : {60, 120, 240, 480, 960}) {
    for (const int rows : {0, 1, 2}) bench->Args({4096, radius, rows});
  }
}
BENCHMARK(convolve_with_disc<double>)->Apply(disc_arguments);

void batch_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nside", "fwhm", "maps", "kernels"});
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int fwhm : {47, 100, 600}) {
    bench->Args({1024, fwhm, 1, 1});
    for (const int kernels : {1, 4}) bench->Args({1024, fwhm, 4, kernels});
  }
}
BENCHMARK(convolve_batch<double>)->Apply(batch_arguments);

void spin_arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nside", "fwhm", "path"});
  bench->Unit(benchmark::kMillisecond)->UseRealTime();
  for (const int fwhm : {100, 300, 1000}) {
    for (const int path : {0, 1, 2, 3}) bench->Args({512, fwhm, path});
  }
}
BENCHMARK(convolve_spin<double>)->Apply(spin_arguments);

}  // namespace

BENCHMARK_MAIN();
