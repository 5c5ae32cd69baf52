// SPDX-License-Identifier: GPL-3.0-or-later
// A ring convolution of HEALPix maps with a Gaussian on any number of ranks: one line of JSON with
// the median seconds of the slowest rank, each stage's seconds on the ranks that spend least and
// most on it, the halo's bytes, and the shares the plan predicts.
//   scripts/mpirun.sh 2 ring_convolution_ranks NSIDE FWHM_ARCMIN [REPEATS [MAPS [single]]]
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "bench/median.hpp"
#include "bench/run_bench.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail {
namespace {

template <class T>
void measure(const Communicator& comm, std::int64_t nside, double fwhm_arcmin, int repeats,
             std::int64_t n_maps) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.error = 1e-5;
  spec.n_maps = n_maps;
  spec.bytes_per_pixel = sizeof(T);
  spec.kernels = {RadialKernel::gaussian(fwhm_arcmin * std::numbers::pi / (180 * 60),
                                         KernelSupport::automatic(spec.error))};
  RingConvolution convolution(comm, spec);
  const RingConvolutionPlan& plan = convolution.plan();
  MapBuffer<T> in(n_maps, convolution.rings().n_pixels());
  MapBuffer<T> out(n_maps, convolution.rings().n_pixels());
  std::fill_n(in.view().data(), n_maps * in.size(), T{1});
  std::fill_n(out.view().data(), n_maps * out.size(), T{0});

  const std::vector<std::string> stages = {"halo", "ring_fft", "modes", "stencil", "sectors"};
  std::vector<double> seconds;
  std::vector<std::vector<double>> of_stage(stages.size());
  for (int i = 0; i <= repeats; ++i) {
    convolution.times().clear();
    comm.barrier();
    const auto start = std::chrono::steady_clock::now();
    convolution.convolve<T>(std::as_const(in).view(), out.view());
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    const double slowest = comm.max(elapsed.count());
    if (i == 0) continue;  // touches the memory
    seconds.push_back(slowest);
    for (std::size_t s = 0; s < stages.size(); ++s)
      of_stage[s].push_back(convolution.times().seconds(stages[s]));
  }
  nlohmann::json row = {{"nside", nside},
                        {"fwhm_arcmin", fwhm_arcmin},
                        {"support_degrees", plan.support() * 180 / std::numbers::pi},
                        {"maps", n_maps},
                        {"bytes_per_pixel", sizeof(T)},
                        {"ranks", comm.size()},
                        {"seconds", median(seconds)},
                        {"least", *std::min_element(seconds.begin(), seconds.end())},
                        {"predicted_one_rank",
                         {{"ring_fft", plan.predicted().ring_fft},
                          {"modes", plan.predicted().modes},
                          {"stencil", plan.predicted().stencil},
                          {"sectors", plan.predicted().sectors}}}};
  for (std::size_t s = 0; s < stages.size(); ++s) {
    const double mine = median(of_stage[s]);
    row[stages[s]] = {comm.min(mine), comm.max(mine)};
  }
  for (int rank = 0; rank < comm.size(); ++rank)
    row["shares"].push_back(plan.predicted(rank).total() / plan.predicted().total());
  row["halo_bytes_sent"] = comm.sum(convolution.halo_bytes_sent());
  row["halo_bytes_planned"] = comm.sum(plan.pixel_halo().sent_bytes(n_maps, sizeof(T)) +
                                       plan.mode_halo().sent_bytes(n_maps, 16));
  if (comm.is_root()) std::cout << row.dump() << std::endl;
}

int run(const Communicator& comm, int argc, char** argv) {
  if (argc < 3) throw UsageError("expected NSIDE FWHM_ARCMIN [REPEATS [MAPS [single]]]");
  const auto measure_pixels = argc > 5 ? measure<float> : measure<double>;
  measure_pixels(comm, std::atoll(argv[1]), std::atof(argv[2]), argc > 3 ? std::atoi(argv[3]) : 5,
                 argc > 4 ? std::atoll(argv[4]) : 1);
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("ring_convolution_ranks", argc, argv, ringweave::detail::run);
}
