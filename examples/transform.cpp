// SPDX-License-Identifier: GPL-3.0-or-later
// The C++ interface on one page: plan a transform, draw a_lm, synthesize a map, analyse it, on any
// number of ranks.
//   mpirun -n 4 transform [NSIDE]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <ringweave/ringweave.hpp>

namespace {

using namespace ringweave;

/// Every rank has the same spectra and grid; a_lm and map are spread over the ranks.
void run(const Communicator& comm, int nside) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.lmax = 2 * nside;
  spec.fields = FieldSet({0, 2});  // T, and Q and U together: three components
  SphericalHarmonicTransform transform(comm, spec);

  Spectra spectra(spec.lmax);
  for (int l = 2; l <= spec.lmax; ++l) {
    spectra.values(Spectra::TT)[static_cast<std::size_t>(l)] = 1.0 / (l * (l + 1.0));
    spectra.values(Spectra::EE)[static_cast<std::size_t>(l)] = 0.01 / (l * (l + 1.0));
  }
  AlmBuffer<double> alm = transform.make_alm<double>();  // the orders m of this rank
  draw_alm(spectra, 2026, transform.alm_layout(), alm.view());

  MapBuffer<double> map = transform.make_map<double>();  // the rings of this rank
  transform.synthesize(alm, map);

  // HEALPix has no exact quadrature: three corrections recover most of the error of one pass.
  Analysis analysis(transform, {ring_weights(transform.rings()), {}});
  AlmBuffer<double> found = transform.make_alm<double>();
  const AnalysisReport report = analysis.jacobi(map, 3, found);

  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    const auto from = alm.view().component(c);
    const auto to = found.view().component(c);
    for (std::int64_t i = 0; i < from.size(); ++i) to[i] -= from[i];
  }
  const auto norm = [&](const AlmBuffer<double>& x) {
    return std::sqrt(inner_product<double>(comm, transform.alm_layout(), x.view(), x.view()));
  };
  const double error = norm(found) / norm(alm);
  if (comm.is_root()) {
    std::printf(
        "nside %d, lmax %d, %d rank(s): residual before the last correction %.1e, error of the "
        "a_lm %.1e\n",
        nside, spec.lmax, comm.size(), report.residuals.back(), error);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  // One message and one exit code, whichever rank fails.
  return run_program(comm, "transform", [&] {
    run(comm, argc > 1 ? std::atoi(argv[1]) : 64);
    return 0;
  });
}
