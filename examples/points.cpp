// SPDX-License-Identifier: GPL-3.0-or-later
// Transforms to arbitrary points on one page: draw a_lm, compute what a turning detector sees of
// them, and apply the transpose, on any number of ranks.
//   mpirun -n 4 points [LMAX]
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <vector>

#include <ringweave/ringweave.hpp>

namespace {

using namespace ringweave;

/// Directions and orientations of a detector: a spiral over the sphere.
struct Scan {
  std::vector<double> theta, phi, psi;
};

/// Every rank lists its own samples, in any number: here each n-th.
Scan samples_of_rank(const Communicator& comm, int n_samples) {
  Scan scan;
  for (int i = comm.rank(); i < n_samples; i += comm.size()) {
    scan.theta.push_back(std::acos(1 - (2 * i + 1.0) / n_samples));
    scan.phi.push_back(std::fmod(2.4 * i, 2 * std::numbers::pi));
    scan.psi.push_back(0.01 * i);
  }
  return scan;
}

void run(const Communicator& comm, int lmax) {
  PointSpec spec;
  spec.lmax = lmax;
  spec.fields = FieldSet({0, 2});  // T, and Q and U together
  spec.epsilon = 1e-10;            // rms error of the values over the rms of the field
  const Scan scan = samples_of_rank(comm, 4 * lmax * lmax);
  // With psi a value is T + Q cos(2 psi) + U sin(2 psi); without, values are T, Q and U.
  const PointSet points(comm, spec, scan.theta, scan.phi, scan.psi);
  PointTransform transform(comm, spec, points);

  Spectra spectra(lmax);
  for (int l = 2; l <= lmax; ++l) {
    spectra.values(Spectra::TT)[static_cast<std::size_t>(l)] = 1.0 / (l * (l + 1.0));
    spectra.values(Spectra::EE)[static_cast<std::size_t>(l)] = 0.01 / (l * (l + 1.0));
  }
  AlmBuffer<double> alm = transform.make_alm<double>();  // the orders m of this rank
  draw_alm(spectra, 2026, transform.alm_layout(), alm.view());

  ComponentBuffer<double> stream = transform.make_values<double>();  // as this rank lists them
  transform.evaluate(alm, stream);

  // The sum over the samples of value times Y_lm^*: there are no weights.
  AlmBuffer<double> back = transform.make_alm<double>();
  transform.adjoint(stream, back);

  double power = 0;
  const auto values = stream.view().component(0);
  for (std::int64_t i = 0; i < values.size(); ++i) power += values[i] * values[i];
  power = comm.sum(power);
  const double product =
      inner_product<double>(comm, transform.alm_layout(), alm.view(), back.view());
  const PointReport& report = points.report();
  if (comm.is_root()) {
    std::printf(
        "%lld samples, lmax %d, %d rank(s), %d x %d taps, error at most %.1e: <Y a, Y a> and "
        "<a, Y^T Y a> differ by %.1e\n",
        static_cast<long long>(report.points), lmax, comm.size(), report.theta_taps,
        report.phi_taps, report.predicted_error, std::abs(product / power - 1));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  return run_program(comm, "points", [&] {
    run(comm, argc > 1 ? std::atoi(argv[1]) : 128);
    return 0;
  });
}
