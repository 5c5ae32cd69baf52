// SPDX-License-Identifier: GPL-3.0-or-later
// Times T, Q, U lensed on HEALPix, from a_lm and potential in memory to the map:
//   scripts/mpirun.sh RANKS lensing_bench --lmax 2047 --nside 1024 --epsilon 1e-6
// Prints one JSON line: wall and processor seconds of deflection, plan, and lensed map, of every
// repetition, and the seconds of the adjoint and of the deflection of all pixels.
#include <omp.h>

#include <chrono>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/command_line.hpp"
#include "bench/processor_time.hpp"
#include "bench/run_bench.hpp"
#include "bench/test_alm.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

struct Options {
  int lmax = 2047;
  std::int64_t nside = 1024;
  double epsilon = 1e-6;
  int repeats = 5;
};

/// The seconds of stages, one number for each repetition.
class Clock {
 public:
  explicit Clock(const Communicator& comm) : comm_(comm) {}

  /// Executes work and adds its seconds to those of `stage`. Collective.
  template <class Work>
  auto time(const std::string& stage, const Work& work) {
    comm_.barrier();
    const double processor = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    auto result = work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    stages_[stage]["seconds"].push_back(comm_.max(elapsed.count()));
    stages_[stage]["processor_seconds"].push_back(comm_.sum(processor_seconds() - processor));
    return result;
  }
  const json& stages() const { return stages_; }

 private:
  Communicator comm_;
  json stages_;
};

/// Makes a potential whose deflection has an rms of 2 arcmin and most of it at low degrees, as that
/// of the CMB.
AlmBuffer<double> make_potential(const AlmLayout& layout) {
  AlmBuffer<double> phi(1, layout.size());
  fill<double>(layout, 1, phi.view());
  constexpr double rms = 2 * 2.9e-4;
  double variance = 0;
  const auto size_of = [](int l) { return l < 2 ? 0 : 1 / (std::pow(l, 1.5) * (l + 40.0)); };
  for (int l = 0; l <= layout.lmax(); ++l)
    variance += (2 * l + 1) / 12.566 * l * (l + 1.0) * size_of(l) * size_of(l);
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    for (int l = layout.order(row); l <= layout.lmax(); ++l)
      phi.view().component(0)[layout.index(row, l)] *= rms / std::sqrt(variance) * size_of(l);
  }
  return phi;
}

json measure(const Communicator& comm, const Options& options) {
  PointSpec spec;
  spec.lmax = options.lmax;
  spec.fields = FieldSet({0, 2});
  spec.epsilon = options.epsilon;
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(options.nside));
  // An order on one rank: those of the transform to the pixels.
  const AlmLayout layout = PointTransform(comm, spec, PointSet(comm, spec, {}, {})).alm_layout();
  const AlmBuffer<double> phi = make_potential(layout);
  Clock clock(comm);
  json answer;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    const Deflection deflection = clock.time("deflection", [&] {
      return Deflection(comm, grid, {layout, phi.view(), {}});
    });
    Lensing lensing = clock.time("plan", [&] { return Lensing(comm, deflection, spec); });
    AlmBuffer<double> alm = lensing.make_alm<double>();
    fill<double>(lensing.alm_layout(), 2, alm.view());
    MapBuffer<double> map = lensing.make_map<double>();
    clock.time("lens", [&] {
      lensing.lens(alm, map);
      return 0;
    });
    // The first call touched new memory.
    clock.time("lens_again", [&] {
      lensing.lens(alm, map);
      return 0;
    });
    clock.time("adjoint", [&] {
      lensing.adjoint(map, alm);
      return 0;
    });
    MapBuffer<double> angles(4, deflection.rings().n_pixels());
    const MapView<double> to = angles.view();
    clock.time("positions_and_rotation", [&] {
      deflection.positions(to.component(0), to.component(1));
      deflection.rotation(to.component(2), to.component(3));
      return 0;
    });
    const PointReport& report = lensing.transform().points().report();
    answer = {{"points", report.points},
              {"theta_taps", report.theta_taps},
              {"phi_taps", report.phi_taps},
              {"rms_deflection", deflection.rms()}};
  }
  answer["stages"] = clock.stages();
  answer["ranks"] = comm.size();
  answer["threads"] = omp_get_max_threads();
  return answer;
}

int run(const Communicator& comm, int argc, char** argv) {
  Options options;
  CommandLine command("Times lensed maps, for compare_lensing.py.");
  command.add("--lmax", &options.lmax, "highest degree");
  command.add("--nside", &options.nside, "of the lensed map");
  command.add("--epsilon", &options.epsilon, "of the interpolation");
  command.add("--repeats", &options.repeats, "measurements of every stage");
  if (const auto code = command.parse(comm, argc, argv)) return *code;
  const json answer = measure(comm, options);
  if (comm.is_root()) std::cout << answer.dump() << std::endl;
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("lensing_bench", argc, argv, ringweave::detail::run);
}
