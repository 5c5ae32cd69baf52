// SPDX-License-Identifier: GPL-3.0-or-later
// One transform after the other, timed whole and by stage; one JSON line each:
//   scripts/mpirun.sh RANKS transform_bench NSIDE LMAX [SPIN [MAPS [REPEATS]]]
// REPEATS 0: one pair (synthesis, adjoint) for every line on stdin, so that a driver can alternate
// with another program (bench/compare_peers.py).
#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <string>

#include "distribute/mpi_session.hpp"
#include "transform/analysis.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Deterministic a_lm of unit size; the imaginary part of m = 0 and degrees below the spin are
/// zero.
void fill(const AlmLayout& layout, int spin, AlmView<double> alm) {
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    const auto a = alm.component(c);
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const double phase = 1e-3 * l * l + 0.7 * m + static_cast<double>(c);
        const bool exists = l >= spin;
        a[layout.index(row, l)] = {exists ? std::cos(phase) : 0.0,
                                   exists && m > 0 ? std::sin(phase) : 0.0};
      }
    }
  }
}

struct Bench {
  Communicator comm;
  SphericalHarmonicTransform transform;
  AlmBuffer<double> alm;
  AlmBuffer<double> back;
  MapBuffer<double> map;

  Bench(const Communicator& ranks, const TransformSpec& spec)
      : comm(ranks),
        transform(ranks, spec),
        alm(transform.make_alm<double>()),
        back(transform.make_alm<double>()),
        map(transform.make_map<double>()) {
    fill(transform.alm_layout(), spec.fields.max_spin(), alm.view());
  }

  void report(const std::string& direction, const std::function<void()>& work) {
    transform.times().clear();
    comm.barrier();
    const auto start = Clock::now();
    work();
    const double seconds = comm.max(seconds_since(start));
    const auto stage = [&](const char* name) { return comm.max(transform.times().seconds(name)); };
    const double legendre = stage("legendre");
    const double flops = comm.sum(transform.plan().legendre_flops());
    const double exchange = stage("exchange");
    const double ring_fft = stage("ring_fft");
    if (!comm.is_root()) return;
    fmt::print(
        "{{\"direction\": \"{}\", \"seconds\": {:.6f}, \"legendre\": {:.6f}, \"exchange\": {:.6f}, "
        "\"ring_fft\": {:.6f}, \"legendre_gflop_per_s\": {:.2f}}}\n",
        direction, seconds, legendre, exchange, ring_fft, flops / legendre * 1e-9);
    std::fflush(stdout);
  }

  void pair() {
    report("synthesis",
           [&] { transform.synthesize<double>(AlmView<const double>(alm.view()), map.view()); });
    report("adjoint",
           [&] { transform.adjoint<double>(MapView<const double>(map.view()), {}, back.view()); });
    // <S a, S a> = <a, S^T S a>: the answers belong together.
    const double left = squared_norm<double>(comm, map.view());
    const double right =
        inner_product<double>(comm, transform.alm_layout(), alm.view(), back.view());
    if (std::abs(left - right) > 1e-11 * left)
      throw InternalError("the adjoint is not the adjoint");
  }
};

int run(const Communicator& comm, int argc, char** argv) {
  if (argc < 3) {
    if (comm.is_root())
      fmt::print(stderr, "usage: transform_bench NSIDE LMAX [SPIN [MAPS [REPEATS]]]\n");
    return 2;
  }
  const auto argument = [&](int i, int otherwise) {
    return argc > i ? std::stoi(argv[i]) : otherwise;
  };
  TransformSpec spec;
  spec.grid = std::make_shared<RingGrid>(RingGrid::healpix(argument(1, 0)));
  spec.lmax = spec.mmax = argument(2, 0);
  spec.fields = FieldSet::batch(argument(3, 0), argument(4, 1));
  const auto start = Clock::now();
  Bench bench(comm, spec);
  const double plan_seconds = comm.max(seconds_since(start));
  if (comm.is_root()) {
    fmt::print(
        "{{\"nside\": {}, \"lmax\": {}, \"spin\": {}, \"maps\": {}, \"ranks\": {}, \"threads\": "
        "{}, "
        "\"plan_seconds\": {:.4f}}}\n",
        argv[1], argv[2], argument(3, 0), argument(4, 1), comm.size(), omp_get_max_threads(),
        plan_seconds);
    std::fflush(stdout);
  }
  const int repeats = argument(5, 5);
  for (int i = 0; i < repeats; ++i) bench.pair();
  std::string line;
  while (repeats == 0) {
    std::int64_t more = 0;
    if (comm.is_root()) more = std::getline(std::cin, line) ? 1 : 0;
    if (comm.max(more) == 0) break;
    bench.pair();
  }
  return 0;
}

}  // namespace
}  // namespace ringweave

int main(int argc, char** argv) {
  const ringweave::MpiSession mpi(&argc, &argv);
  return ringweave::run(ringweave::Communicator::world(), argc, argv);
}
