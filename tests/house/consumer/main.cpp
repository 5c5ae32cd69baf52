// SPDX-License-Identifier: GPL-3.0-or-later
// Synthesis and its adjoint with an installed Ringweave: <S a, f> must equal <a, S^T f>; and a map
// through both kinds of file.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "distribute/mpi/mpi_session.hpp"
#include "io/map_file.hpp"
#include "sphere/random_alm.hpp"
#include "transform/analysis.hpp"

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
  transform.synthesize<double>(a.view(), image.view());
  transform.synthesize<double>(b.view(), f.view());
  transform.adjoint<double>(std::as_const(f).view(), {}, back.view());
  const double in_pixels = dot(image, f);
  const double in_modes = inner_product<double>(transform.comm(), transform.alm_layout(), a.view(),
                                                std::as_const(back).view());
  // Two random vectors are nearly orthogonal: the product of the norms alone would hide an error.
  const auto n = static_cast<double>(f.n_components() * f.size());
  return std::abs(in_pixels - in_modes) / std::sqrt(dot(image, image) * dot(f, f) / n);
}

bool comes_back(const SphericalHarmonicTransform& transform, const std::string& path) {
  MapBuffer<double> map = transform.make_map<double>();
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    for (std::int64_t i = 0; i < map.size(); ++i)
      map.view().component(c)[i] = static_cast<double>(c + i);
  }
  MapHeader header;
  header.grid = transform.spec().grid;
  header.columns = {{"TEMPERATURE", "K"}, {"Q_POLARISATION", "K"}, {"U_POLARISATION", "K"}};
  write_map(transform.comm(), path, IfExists::overwrite, header, {}, transform.rings(),
            std::as_const(map).view());

  MapBuffer<double> read = transform.make_map<double>();
  const std::vector<int> columns{0, 1, 2};
  open_map(transform.comm(), path)->read(columns, transform.rings(), read.view());
  return dot(map, map) == dot(map, read) && dot(map, map) == dot(read, read);
}

int check() {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.lmax = lmax;
  spec.mmax = lmax;
  spec.fields = FieldSet({0, 2});
  SphericalHarmonicTransform transform(Communicator::world(), spec);
  const double gap = adjoint_gap(transform);
  const bool files = comes_back(transform, "consumer.h5") && comes_back(transform, "consumer.fits");
  std::printf("adjoint gap %.1e, files %s\n", gap, files ? "came back" : "CHANGED");
  return gap < 1e-13 && files ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const MpiSession mpi(&argc, &argv);
    return check();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 70;
  }
}
