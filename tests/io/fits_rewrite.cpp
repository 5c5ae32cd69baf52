// SPDX-License-Identifier: GPL-3.0-or-later
// Reads FITS files and writes them again, for check_fits_with_healpy.py to compare both by healpy.
// Under mpirun:
//   fits_rewrite JOBS      a file of lines
//     map IN OUT ring|nested single|double full|partial
//     alm IN OUT single|double
//     spectra IN OUT
//     table IN OUT         the columns as text
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/order_distribution.hpp"
#include "distribute/ring_distribution.hpp"
#include "io/fits/fields.hpp"
#include "io/fits/table.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace {

using namespace ringweave;

using namespace ringweave::detail;

Provenance some_provenance() {
  Provenance provenance;
  provenance.command_line = "fits_rewrite";
  return provenance;
}

std::vector<int> all(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

/// Reads a partial map to the rings it has pixels on, as the program does.
template <class T>
void rewrite_map(const Communicator& comm, std::istream& job) {
  std::string in, out, ordering, precision, coverage;
  job >> in >> out >> ordering >> precision >> coverage;
  const auto reader = open_fits_map(comm, in);
  MapHeader header = reader->header();
  const std::vector<RingId> observed = reader->observed_rings();
  const bool whole = ssize64(observed) == header.grid->n_rings();
  const auto grid =
      whole ? header.grid : std::make_shared<const RingGrid>(header.grid->subset(observed));
  const LocalRings rings =
      RingDistribution(grid, ModeLimits(*grid, 2, 2, 0), comm.size()).rings(comm.rank());
  const auto n_columns = ssize64(header.columns);
  std::vector<T> map(to_size(n_columns * rings.n_pixels()));
  reader->read(all(header.columns.size()), rings,
               MapView<T>(map.data(), n_columns, rings.n_pixels()));
  header.ordering = ordering == "ring" ? Ordering::ring : Ordering::nested;
  header.precision = precision == "single" ? Precision::single_ : Precision::double_;
  header.coverage = coverage == "full" ? SkyCoverage::full : SkyCoverage::partial;
  write_fits_map<T>(comm, out, header, some_provenance(), rings,
                    MapView<const T>(map.data(), n_columns, rings.n_pixels()));
}

void rewrite_alm(const Communicator& comm, std::istream& job) {
  std::string in, out, precision;
  job >> in >> out >> precision;
  const auto reader = open_fits_alm(comm, in);
  AlmHeader header = reader->header();
  const ModeLimits limits(RingGrid::healpix(2), header.lmax, header.mmax, 0);
  const OrderDistribution distribution(limits, FoldRule{}, comm.size());
  const auto orders = distribution.orders(comm.rank());
  const AlmLayout layout(header.lmax, header.mmax, {orders.begin(), orders.end()});
  const auto n_components = ssize64(header.components);
  std::vector<std::complex<double>> alm(to_size(n_components * layout.size()));
  reader->read(all(header.components.size()), layout,
               AlmView<double>(alm.data(), n_components, layout.size()));
  header.precision = precision == "single" ? Precision::single_ : Precision::double_;
  write_fits_alm<double>(comm, out, header, some_provenance(), layout,
                         AlmView<const double>(alm.data(), n_components, layout.size()));
}

void rewrite_spectra(std::istream& job) {
  std::string in, out;
  job >> in >> out;
  const FitsTable table = read_fits_table(in);
  Spectra spectra(static_cast<int>(table.columns[0].size()) - 1);
  constexpr Spectra::Name healpix_order[] = {Spectra::TT, Spectra::EE, Spectra::BB,
                                             Spectra::TE, Spectra::TB, Spectra::EB};
  for (std::size_t c = 0; c < std::min(table.columns.size(), std::size(healpix_order)); ++c) {
    std::copy(table.columns[c].begin(), table.columns[c].end(),
              spectra.values(healpix_order[c]).begin());
  }
  write_fits_spectra(out, spectra, some_provenance(), "uK^2");
}

void write_as_text(std::istream& job) {
  std::string in, out;
  job >> in >> out;
  std::ofstream text(out);
  for (const std::vector<double>& column : read_fits_table(in).columns) {
    for (const double value : column) text << fmt::format("{:.17g} ", value);
    text << '\n';
  }
}

void run(const Communicator& comm, const std::string& line) {
  std::istringstream job(line);
  std::string kind;
  job >> kind;
  if (kind == "map" && line.find(" single ") != std::string::npos)
    return rewrite_map<float>(comm, job);
  if (kind == "map") return rewrite_map<double>(comm, job);
  if (kind == "alm") return rewrite_alm(comm, job);
  if (!comm.is_root()) return;
  if (kind == "spectra") return rewrite_spectra(job);
  write_as_text(job);
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession session(&argc, &argv);
  const Communicator comm = Communicator::world();
  std::ifstream jobs(argv[1]);
  int failures = 0;
  for (std::string line; std::getline(jobs, line);) {
    try {
      run(comm, line);
    } catch (const std::exception& error) {
      ++failures;
      if (comm.is_root()) std::fprintf(stderr, "%s\n  %s\n", line.c_str(), error.what());
    }
  }
  return failures == 0 ? 0 : 1;
}
