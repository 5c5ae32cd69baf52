// SPDX-License-Identifier: GPL-3.0-or-later
// Checks a transform in a program with an MPI_Comm of its own: <S a, f> must equal <a, S^T f>. Then
// smoothing on rings and with a split kernel against smoothing in harmonic space, and gyroaverages
// against their transpose.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <memory>

#include <ringweave/mpi.hpp>
#include <ringweave/ringweave.hpp>

namespace {

using namespace ringweave;

constexpr int nside = 16;
constexpr int lmax = 2 * nside;

AlmBuffer<double> random_alm(const SphericalHarmonicTransform& transform, std::uint64_t seed) {
  Spectra flat(lmax);
  for (const auto name : {Spectra::TT, Spectra::EE, Spectra::BB}) {
    for (double& c_l : flat.values(name)) c_l = 1;
  }
  AlmBuffer<double> alm = transform.make_alm<double>();
  draw_alm(flat, seed, transform.alm_layout(), alm.view());
  return alm;
}

double dot(const MapBuffer<double>& f, const MapBuffer<double>& g) {
  double sum = 0;
  for (std::int64_t c = 0; c < f.n_components(); ++c) {
    for (std::int64_t i = 0; i < f.size(); ++i)
      sum += f.view().component(c)[i] * g.view().component(c)[i];
  }
  return sum;
}

double adjoint_gap(SphericalHarmonicTransform& transform) {
  const AlmBuffer<double> a = random_alm(transform, 1);
  const AlmBuffer<double> b = random_alm(transform, 2);
  MapBuffer<double> image = transform.make_map<double>();
  MapBuffer<double> f = transform.make_map<double>();
  AlmBuffer<double> back = transform.make_alm<double>();
  transform.synthesize(a, image);
  transform.synthesize(b, f);
  transform.adjoint(f, {}, back);
  const Communicator& comm = transform.comm();
  const double in_pixels = comm.sum(dot(image, f));
  const double in_modes =
      inner_product<double>(comm, transform.alm_layout(), a.view(), back.view());
  // Two random vectors are nearly orthogonal: the product of the norms alone would hide an error.
  const auto n = static_cast<double>(f.n_components() * comm.sum(f.size()));
  const double norms = comm.sum(dot(image, image)) * comm.sum(dot(f, f));
  return std::abs(in_pixels - in_modes) / std::sqrt(norms / n);
}

/// Smoothing on rings must agree with smoothing in harmonic space.
double smoothing_gap(const Communicator& comm, const std::shared_ptr<const RingGrid>& grid) {
  const double fwhm = 0.3;
  RingConvolutionSpec rings;
  rings.grid = grid;
  rings.kernels = {RadialKernel::gaussian(fwhm, KernelSupport::automatic(1e-6))};
  RingConvolution convolution(comm, rings);

  TransformSpec spec;
  spec.grid = grid;
  spec.lmax = lmax;
  spec.ring_bands = convolution.ring_bands();
  SphericalHarmonicTransform transform(comm, spec);
  const AlmBuffer<double> alm = random_alm(transform, 3);
  MapBuffer<double> map = transform.make_map<double>();
  MapBuffer<double> smooth = transform.make_map<double>();
  transform.synthesize(alm, map);
  convolution.convolve(map, smooth);

  SmoothingOptions options;
  options.beam = gaussian_beam(fwhm, lmax);
  options.weights =
      std::make_shared<const AnalysisWeights>(AnalysisWeights{ring_weights(transform.rings()), {}});
  options.n_iter = 0;
  smooth_harmonic<double>(transform, options, map.view());
  double difference = 0;
  for (std::int64_t i = 0; i < map.size(); ++i)
    difference = std::max(difference, std::abs(map.view().data()[i] - smooth.view().data()[i]));
  return comm.max(difference);
}

/// The maps of a split kernel must be those of the whole kernel within the predicted error. Returns
/// the achieved error over the predicted one.
double splitting_gap(const Communicator& comm, const std::shared_ptr<const RingGrid>& grid) {
  KernelSplitSpec spec;
  for (int l = 0; l <= lmax; ++l) {
    const double square = l * (l + 1.0) / (lmax * lmax);
    spec.k_l.push_back(std::pow(1 + 10 * square, -0.75) * std::exp(-6 * square));
  }
  spec.nside = nside;
  spec.error = 1e-4;
  spec.theta_cuts = {0.75};
  spec.n_ranks = comm.size();
  const KernelSplit split(spec);
  if (!split.has_parts()) return 1e9;
  SplitConvolution convolution(comm, split, {grid});

  TransformSpec of_maps;
  of_maps.grid = grid;
  of_maps.lmax = lmax;
  of_maps.ring_bands = convolution.ring_bands();
  SphericalHarmonicTransform transform(comm, of_maps);
  MapBuffer<double> map = transform.make_map<double>();
  MapBuffer<double> smooth = transform.make_map<double>();
  transform.synthesize(random_alm(transform, 4), map);
  AlmBuffer<double> alm = transform.make_alm<double>();
  transform.adjoint(map, ring_weights(transform.rings()), alm);
  Beam kernel;
  kernel.t = spec.k_l;
  multiply(kernel, transform.alm_layout(), transform.fields(), alm.view());
  convolution.convolve(map, smooth);
  transform.synthesize(alm, map);

  const double whole = comm.sum(dot(map, map));
  for (std::int64_t i = 0; i < map.size(); ++i) map.view().data()[i] -= smooth.view().data()[i];
  return std::sqrt(comm.sum(dot(map, map)) / whole) / split.error().total;
}

/// A gyroaverage of rows against its transpose, <G f, g> = <f, G^T g>.
double gyroaverage_gap(const Communicator& comm) {
  GyroSpec spec;
  spec.grid.x = {.size = 40, .first = -1, .last = 1};
  spec.grid.y = {.size = 40, .first = 0, .last = 1, .boundary = PlaneBoundary::periodic};
  spec.radii = {0.1, 0.3};
  Gyroaverage gyro(comm, spec);
  const GyroPart& part = gyro.part();
  MapBuffer<double> f(part.n_fields(), part.n_field_rows() * 40);
  MapBuffer<double> g(part.n_fields() * part.n_radii(), part.n_rows() * 40);
  for (std::int64_t i = 0; i < f.n_components() * f.size(); ++i)
    f.view().data()[i] = std::cos(0.1 * static_cast<double>(i));
  for (std::int64_t i = 0; i < g.n_components() * g.size(); ++i)
    g.view().data()[i] = std::sin(0.3 * static_cast<double>(i));
  MapBuffer<double> averages(g.n_components(), g.size());
  MapBuffer<double> back(f.n_components(), f.size());
  gyro.each<double>(f.view(), averages.view());
  gyro.each_adjoint<double>(g.view(), back.view());
  // Ranks that share radii have the same fields: those of the first radius count.
  const double of_fields = part.radius_begin == 0 ? dot(f, back) : 0;
  return std::abs(comm.sum(dot(averages, g)) - comm.sum(of_fields)) /
         std::sqrt(comm.sum(dot(averages, averages)) * comm.sum(dot(g, g)));
}

int check(const Communicator& comm) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.lmax = lmax;
  spec.fields = FieldSet({0, 2});
  SphericalHarmonicTransform transform(comm, spec);
  const double adjoint = adjoint_gap(transform);
  const double smoothing = smoothing_gap(comm, spec.grid);
  const double splitting = splitting_gap(comm, spec.grid);
  const double gyroaverage = gyroaverage_gap(comm);
  if (comm.is_root()) {
    std::printf(
        "Ringweave %s: adjoint gap %.1e, smoothing gap %.1e, splitting gap %.2f, gyroaverage gap "
        "%.1e\n",
        RINGWEAVE_VERSION, adjoint, smoothing, splitting, gyroaverage);
  }
  const bool is_good = adjoint < 1e-13 && smoothing < 1e-3 && splitting <= 1 && gyroaverage < 1e-13;
  return is_good ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  {
    const Communicator comm = Communicator::duplicate_of(MPI_Comm{MPI_COMM_WORLD});
    code = run_program(comm, "consumer", [&] { return check(comm); });
  }
  MPI_Finalize();
  return code;
}
