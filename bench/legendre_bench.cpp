// SPDX-License-Identifier: GPL-3.0-or-later
// Times the host Legendre stage on one core: useful floating-point operations per second and their
// share of the peak.
//   legendre_bench --benchmark_format=json --benchmark_filter=Synthesis
//   legendre_bench --instructions=AVX2      emulates a machine with nothing better; peak likewise
#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <hwy/targets.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <random>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "bench/fma_peak.hpp"
#include "bench/significant_terms.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail {
namespace {

using Complex = std::complex<double>;

struct Problem {
  Problem(RingGrid ring_grid, int lmax, const std::vector<int>& spins)
      : grid(std::make_shared<const RingGrid>(std::move(ring_grid))),
        fields(spins),
        layout(lmax, lmax),
        limits(*grid, lmax, lmax, fields.max_spin()) {
    std::int64_t size = 0;
    for (int m = 0; m <= lmax; ++m) {
      rows.begin_row(m);
      rows.add_segment(limits.kept(m), size);
      size += limits.kept(m).size();
    }
    rows.set_size(size);
    stage = make_legendre_stage({grid, limits, {}, layout, rows, fields}, Backend::host);
    alm = random(layout.size() * fields.n_components());
    modes = random(size * fields.n_components());
    alm_out.resize(alm.size());
    modes_out.resize(modes.size());
  }
  static std::vector<Complex> random(std::int64_t count) {
    std::mt19937_64 engine(1);
    std::normal_distribution<double> normal;
    std::vector<Complex> values(to_size(count));
    for (Complex& value : values) value = {normal(engine), normal(engine)};
    return values;
  }
  void synthesize() {
    stage->synthesize(AlmView<const double>(alm.data(), fields.n_components(), layout.size()),
                      ModeView<double>(modes_out.data(), ssize64(modes_out)));
  }
  void adjoint() {
    stage->adjoint(ModeView<const double>(modes.data(), ssize64(modes)),
                   AlmView<double>(alm_out.data(), fields.n_components(), layout.size()),
                   Accumulate::overwrite);
  }
  /// Gap between <S a, y> and <a, S^T y>, relative to ||S a|| ||y|| / sqrt(N).
  double adjoint_gap() {
    synthesize();
    adjoint();
    const auto dot = [](const std::vector<Complex>& a, const std::vector<Complex>& b) {
      long double sum = 0;
      for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i].real() * b[i].real() + a[i].imag() * b[i].imag();
      return sum;
    };
    const long double scale = std::sqrt(dot(modes_out, modes_out) * dot(modes, modes) /
                                        static_cast<long double>(modes.size()));
    return static_cast<double>(std::abs(dot(modes_out, modes) - dot(alm, alm_out)) / scale);
  }

  std::shared_ptr<const RingGrid> grid;
  FieldSet fields;
  AlmLayout layout;
  ModeLimits limits;
  ModeLayout rows;
  std::unique_ptr<LegendreStage> stage;
  std::vector<Complex> alm, modes, alm_out, modes_out;
};

enum class Direction { synthesis, adjoint };

/// Measurements of peak and stage alternate, so that other load slows both alike.
void measure(benchmark::State& state, Direction direction, RingGrid grid, int lmax,
             std::int64_t n_fields, int spin) {
  omp_set_num_threads(1);
  Problem problem(std::move(grid), lmax, std::vector<int>(to_size(n_fields), spin));
  if (!(problem.adjoint_gap() < 1e-12))
    return state.SkipWithError("the adjoint is not the transpose");

  double peak = 0;
  double seconds = 0;
  for (auto _ : state) {
    state.PauseTiming();
    peak = std::max(peak, measure_fma_peak(0.02));
    state.ResumeTiming();
    const double start = thread_seconds();
    direction == Direction::synthesis ? problem.synthesize() : problem.adjoint();
    seconds += thread_seconds() - start;
  }
  const double flop = flop_of_term(spin) * static_cast<double>(n_fields) *
                      significant_terms(*problem.grid, problem.limits) *
                      static_cast<double>(state.iterations());
  state.counters["gflop_per_s"] = 1e-9 * flop / seconds;
  state.counters["peak_gflop_per_s"] = 1e-9 * peak;
  state.counters["of_peak"] = flop / seconds / peak;
  state.SetLabel(simd_target_chosen());
}

void healpix(benchmark::State& state, Direction direction) {
  measure(state, direction, RingGrid::healpix(state.range(0)), static_cast<int>(state.range(1)),
          state.range(2), static_cast<int>(state.range(3)));
}

/// lmax + 1 rings, but enough to resample from.
void gauss_legendre(benchmark::State& state, Direction direction) {
  const auto lmax = static_cast<int>(state.range(0));
  measure(state, direction, RingGrid::gauss_legendre(lmax + 1), lmax, 1, 0);
}

void healpix_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nside", "lmax", "fields", "spin"})->Unit(benchmark::kMillisecond);
  for (const int nside : {512, 1024, 2048, 4096}) bench->Args({nside, 2 * nside, 1, 0});
  for (const int maps : {2, 3, 4}) bench->Args({512, 1024, maps, 0});
  bench->Args({512, 1024, 1, 2});
}
void gauss_legendre_shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgName("lmax")->Unit(benchmark::kMillisecond);
  for (const int lmax : {1023, 2047, 4095, 8191}) bench->Arg(lmax);
}
BENCHMARK_CAPTURE(healpix, Synthesis, Direction::synthesis)->Apply(healpix_shapes);
BENCHMARK_CAPTURE(healpix, Adjoint, Direction::adjoint)->Apply(healpix_shapes);
BENCHMARK_CAPTURE(gauss_legendre, Synthesis, Direction::synthesis)->Apply(gauss_legendre_shapes);
BENCHMARK_CAPTURE(gauss_legendre, Adjoint, Direction::adjoint)->Apply(gauss_legendre_shapes);

/// Allows no better instruction set than this one from now on; returns false where the processor
/// lacks it.
bool run_only(std::string_view instructions) {
  for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) {
    const std::int64_t target = left & -left;
    if (hwy::TargetName(target) != instructions) continue;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    return true;
  }
  return false;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  constexpr std::string_view option = "--instructions=";
  benchmark::Initialize(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with(option) && ringweave::detail::run_only(argument.substr(option.size())))
      continue;
    fmt::print(stderr,
               "{}: expected --instructions=SET or an option of Google Benchmark; of {} this "
               "processor runs {}\n",
               argument, ringweave::detail::simd_targets_compiled(),
               ringweave::detail::simd_target_chosen());
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
