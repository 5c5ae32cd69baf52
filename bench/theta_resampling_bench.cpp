// SPDX-License-Identifier: GPL-3.0-or-later
// Times theta resampling on one core: all orders of a transform of degree lmax = 2 nside, from
// equidistant rings to HEALPix and back.
//   theta_resampling_bench --benchmark_filter=Resample/1024
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "legendre/host/theta_resampling.hpp"

namespace ringweave::detail {
namespace {

/// Returns the first ring of a grid that is kept for order m.
std::int64_t first_kept(const RingGrid& grid, std::int64_t m, std::int64_t lmax) {
  const double reach = std::max(100.0, 0.01 * static_cast<double>(lmax));
  const double least = (static_cast<double>(m) - reach) / static_cast<double>(lmax);
  std::int64_t ring = 0;
  while (grid.ring(RingId{ring}).sin_theta < least) ++ring;
  return ring;
}

template <class Work>
void run_all_orders(benchmark::State& state, const Work& work) {
  const std::int64_t nside = state.range(0);
  const std::int64_t lmax = 2 * nside;
  const RingGrid grid = RingGrid::healpix(nside);
  const ThetaResampling resampling(grid, lmax);
  ThetaResampling::Block block(resampling);
  for (int slot = 0; slot < ThetaResampling::width; ++slot)
    block.set_parity(slot, slot % 2 == 0 ? Parity::even : Parity::odd);
  std::int64_t n_blocks = 0;
  for (auto _ : state) {
    n_blocks = 0;
    for (std::int64_t m = 0; m <= lmax; m += ThetaResampling::width, ++n_blocks) {
      // The call before has overwritten the block's memory; ones stay small.
      std::fill_n(block.equidistant_row(0),
                  resampling.equidistant().n_rings() * 2 * ThetaResampling::width, 1.0);
      const std::int64_t first = first_kept(grid, m, lmax);
      work(resampling, block, RingRange{first, grid.n_rings() - first});
    }
  }
  state.counters["rings"] = static_cast<double>(resampling.equidistant().n_rings());
  state.counters["per_block"] = benchmark::Counter(
      static_cast<double>(n_blocks),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// Times filling and reading a block entry by entry.
void Access(benchmark::State& state) {
  run_all_orders(state,
                 [](const ThetaResampling& plan, ThetaResampling::Block& block, RingRange kept) {
                   ThetaResampling::Complex sum = 0;
                   for (int slot = 0; slot < ThetaResampling::width; ++slot) {
                     for (std::int64_t ring = kept.begin; ring < kept.end; ++ring)
                       sum += block.target(slot, ring);
                     for (std::int64_t ring = 0; ring < plan.equidistant().n_rings(); ++ring) {
                       block.set_equidistant(slot, ring, sum);
                     }
                   }
                 });
}

void Resample(benchmark::State& state) {
  run_all_orders(state, [](const ThetaResampling& plan, ThetaResampling::Block& block,
                           RingRange kept) { plan.resample(block, kept); });
}
void Adjoint(benchmark::State& state) {
  run_all_orders(
      state, [](const ThetaResampling& plan, ThetaResampling::Block& block, RingRange kept) {
        std::fill_n(block.target_row(kept.begin), kept.size() * 2 * ThetaResampling::width, 1.0);
        plan.adjoint(block, kept);
      });
}
BENCHMARK(Resample)->Arg(256)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond);
BENCHMARK(Adjoint)->Arg(256)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond);
BENCHMARK(Access)->Arg(256)->Arg(1024)->Arg(2048)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace ringweave::detail

BENCHMARK_MAIN();
