// SPDX-License-Identifier: GPL-3.0-or-later
// Separates the loss of working together from the slowdown of a machine with all cores busy. One
// launch runs in turn: rank 0 alone with the whole problem; every rank with a whole problem of its
// own at the same time; all ranks together with one problem.
//   scripts/mpirun.sh 2 rank_efficiency harmonics NSIDE [TURNS]
//   scripts/mpirun.sh 2 rank_efficiency rings NSIDE FWHM_ARCMIN [TURNS]
// Prints one line of JSON for each operation: medians and minima of the three times, and the
// efficiencies, i.e. seconds alone, or separately, over ranks times the seconds together, as the
// median over the turns and from the minima.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "bench/median.hpp"
#include "bench/run_bench.hpp"
#include "bench/transform_trial.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/mpi.hpp"
#include "ringweave/transform.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail {
namespace {

double least(const std::vector<double>& values) {
  return *std::min_element(values.begin(), values.end());
}

/// Waits for all ranks without polling, which would slow the rank that computes.
void meet(const Communicator& comm) {
  MPI_Request request;
  MPI_Ibarrier(mpi_handle(comm), &request);
  for (int done = 0; done == 0;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// `whole` runs this rank's own whole problem, `shared` its part of the common one.
nlohmann::json compare(const Communicator& comm, const std::function<void()>& whole,
                       const std::function<void()>& shared, int turns) {
  std::vector<double> alone;
  std::vector<double> apart;
  std::vector<double> together;
  std::vector<double> of_alone;
  std::vector<double> of_apart;
  for (int turn = 0; turn <= turns; ++turn) {
    meet(comm);
    const double one = comm.is_root() ? seconds_of(whole) : 0;
    meet(comm);
    comm.barrier();
    const double own = seconds_of(whole);
    meet(comm);
    comm.barrier();
    const double part = seconds_of(shared);
    if (turn == 0) continue;  // touches the memory
    alone.push_back(comm.max(one));
    apart.push_back(comm.max(own));
    together.push_back(comm.max(part));
    of_alone.push_back(alone.back() / (comm.size() * together.back()));
    of_apart.push_back(apart.back() / (comm.size() * together.back()));
  }
  return {
      {"ranks", comm.size()},
      {"turns", turns},
      {"alone", {{"median", median(alone)}, {"least", least(alone)}}},
      {"apart", {{"median", median(apart)}, {"least", least(apart)}}},
      {"together", {{"median", median(together)}, {"least", least(together)}}},
      {"efficiency",
       {{"median", median(of_alone)}, {"least", least(alone) / (comm.size() * least(together))}}},
      {"efficiency_of_apart",
       {{"median", median(of_apart)}, {"least", least(apart) / (comm.size() * least(together))}}}};
}

void say(const Communicator& comm, nlohmann::json about, const nlohmann::json& result) {
  about.update(result);
  if (comm.is_root()) std::cout << about.dump() << std::endl;
}

void compare_harmonics(const Communicator& comm, std::int64_t nside, int turns) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.lmax = spec.mmax = static_cast<int>(2 * nside);
  spec.fields = FieldSet({0});
  const auto whole = TransformTrial::make<double>(Communicator::self(), spec, 0);
  const auto shared = TransformTrial::make<double>(comm, spec, 0);
  for (const Direction direction : {Direction::synthesis, Direction::adjoint}) {
    say(comm, {{"operation", name_of(direction)}, {"nside", nside}, {"lmax", spec.lmax}},
        compare(
            comm, [&] { whole->measure(direction, 1); }, [&] { shared->measure(direction, 1); },
            turns));
  }
}

struct Smoothing {
  Smoothing(const Communicator& comm, const RingConvolutionSpec& spec)
      : convolution(comm, spec),
        in(1, convolution.rings().n_pixels()),
        out(1, convolution.rings().n_pixels()) {
    std::fill_n(in.view().data(), in.size(), 1.0);
    std::fill_n(out.view().data(), out.size(), 0.0);
  }
  void run() { convolution.convolve<double>(std::as_const(in).view(), out.view()); }

  RingConvolution convolution;
  MapBuffer<double> in;
  MapBuffer<double> out;
};

void compare_rings(const Communicator& comm, std::int64_t nside, double fwhm_arcmin, int turns) {
  RingConvolutionSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.error = 1e-5;
  spec.kernels = {RadialKernel::gaussian(fwhm_arcmin * std::numbers::pi / (180 * 60),
                                         KernelSupport::automatic(spec.error))};
  Smoothing whole(Communicator::self(), spec);
  Smoothing shared(comm, spec);
  say(comm,
      {{"operation", "rings"},
       {"nside", nside},
       {"fwhm_arcmin", fwhm_arcmin},
       {"support_degrees", shared.convolution.plan().support() * 180 / std::numbers::pi}},
      compare(
          comm, [&] { whole.run(); }, [&] { shared.run(); }, turns));
}

int run(const Communicator& comm, int argc, char** argv) {
  const std::string operation = argc > 2 ? argv[1] : "";
  const auto number = [&](int i, double otherwise) {
    return argc > i ? std::atof(argv[i]) : otherwise;
  };
  const auto nside = static_cast<std::int64_t>(number(2, 0));
  if (operation == "harmonics") {
    compare_harmonics(comm, nside, static_cast<int>(number(3, 7)));
  } else if (operation == "rings" && argc > 3) {
    compare_rings(comm, nside, number(3, 0), static_cast<int>(number(4, 15)));
  } else {
    throw UsageError("expected harmonics NSIDE [TURNS] or rings NSIDE FWHM_ARCMIN [TURNS]");
  }
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("rank_efficiency", argc, argv, ringweave::detail::run);
}
