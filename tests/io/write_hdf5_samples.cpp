// SPDX-License-Identifier: GPL-3.0-or-later
#include <complex>
#include <cstdio>

#include "base/checked_cast.hpp"
#include "io_support.hpp"
#include "ringweave/files.hpp"

// Writes one file of each HDF5 layout, and values as text, into a folder, for check_hdf5_readers.py
// to read with other programs.
namespace ringweave::detail {
namespace {

struct Sample {
  const char* name;
  Ordering ordering = Ordering::ring;
  SkyCoverage coverage = SkyCoverage::full;
  Precision precision = Precision::double_;
};

void write_sample(const std::string& folder, const Sample& sample,
                  std::shared_ptr<const RingGrid> grid) {
  MapHeader header;
  header.grid = grid;
  header.ordering = sample.ordering;
  header.coverage = sample.coverage;
  header.precision = sample.precision;
  header.columns = {
      {"TEMPERATURE", "K_CMB"}, {"Q_POLARISATION", "K_CMB"}, {"U_POLARISATION", "K_CMB"}};
  header.coordsys.assign(1, 'G');
  if (sample.coverage == SkyCoverage::partial) {
    grid = std::make_shared<const RingGrid>(
        grid->subset(std::vector<RingId>{RingId{3}, RingId{20}, RingId{40}}));
  }
  const LocalRings rings(grid);
  const std::vector<double> map = test::pixel_values<double>(rings, 3);
  write_map(Communicator::self(), folder + "/" + sample.name, IfExists::overwrite, header,
            test::sample_provenance(), rings,
            MapView<const double>(map.data(), 3, rings.n_pixels()));
}

/// Two fields of 3 x 4, in a group where the name says so.
void write_plane(const std::string& path, const std::string& name) {
  PlaneHeader header;
  header.name = name;
  header.unit = "V";
  header.long_name = "average of the potential";
  header.axes = {{"rho", 2, {0.25, 0.5}, "m", "radius"}};
  header.y = {"y", 3, {-1, 0, 1}, "m", ""};
  header.x = {"x", 4};
  std::vector<double> values;
  for (int i = 0; i < 24; ++i) values.push_back(i + 0.5);
  PlaneFileWriter writer(Communicator::self(), path, IfExists::overwrite, header,
                         test::sample_provenance());
  writer.write({{0, 1}, 0, 3}, MapView<const double>(values.data(), 2, 12));
  writer.add({"method", std::string("bicubic"), ""});
  writer.commit();
}

void write_samples(const std::string& folder) {
  const auto healpix = std::make_shared<const RingGrid>(RingGrid::healpix(16));
  write_sample(folder, {"ring.h5"}, healpix);
  write_sample(folder, {"nested.h5", Ordering::nested, SkyCoverage::full, Precision::single_},
               healpix);
  write_sample(folder, {"partial.h5", Ordering::nested, SkyCoverage::partial}, healpix);
  write_sample(folder, {"gauss.h5"},
               std::make_shared<const RingGrid>(RingGrid::gauss_legendre(24)));

  const AlmLayout layout(10, 8);
  std::vector<std::complex<double>> alm(to_size(3 * layout.size()));
  for (int c = 0; c < 3; ++c) {
    for (int m = 0; m <= 8; ++m) {
      for (int l = m; l <= 10; ++l)
        alm[to_size(c * layout.size() + layout.index(m, l))] = {100.0 * c + l, 1.0 * m};
    }
  }
  const AlmHeader header{10, 8, {"T", "E", "B"}, Precision::double_, "K_CMB", {}};
  write_alm(Communicator::self(), folder + "/alm.h5", IfExists::overwrite, header,
            test::sample_provenance(), layout, AlmView<const double>(alm.data(), 3, layout.size()));

  Spectra cl(20);
  for (int l = 0; l <= 20; ++l) {
    cl.values(Spectra::TT)[to_size(l)] = l;
    cl.values(Spectra::EE)[to_size(l)] = 100 + l;
  }
  write_spectra(Communicator::self(), folder + "/cl.h5", IfExists::overwrite,
                test::sample_provenance(), cl, "K_CMB^2");

  const std::vector<double> values{0, 1.0 / 3, 2.0 / 3, -1, -4.0 / 3, -5.0 / 3};
  for (const char* name : {"/values.h5", "/values.txt"}) {
    write_values(Communicator::self(), folder + name, IfExists::overwrite,
                 {{"T", "Q"}, "K_CMB", Precision::double_}, test::sample_provenance(),
                 MapView<const double>(values.data(), 2, 3));
  }
  write_plane(folder + "/plane.h5", "potential");
  write_plane(folder + "/plane.nc", "run/potential");
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw ringweave::UsageError("expected one argument, the folder to write to");
    ringweave::detail::write_samples(argv[1]);
  } catch (const ringweave::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return ringweave::exit_code(error.kind());
  }
  return 0;
}
