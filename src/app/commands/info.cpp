// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

const char* name_of(Precision precision) {
  return precision == Precision::single_ ? "single" : "double";
}

void describe_column(Run& run, MapReader& reader, int column, View<const double> f) {
  std::int64_t seen = 0;
  std::int64_t holes = 0;
  std::int64_t broken = 0;
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  double square_sum = 0;
  for (std::int64_t i = 0; i < f.size(); ++i) {
    if (!std::isfinite(f[i])) {
      ++broken;
    } else if (is_unseen(f[i])) {
      ++holes;
    } else {
      ++seen;
      low = std::min(low, f[i]);
      high = std::max(high, f[i]);
      sum += f[i];
      square_sum += f[i] * f[i];
    }
  }
  const Communicator& comm = run.comm;
  const auto n = static_cast<double>(std::max<std::int64_t>(1, comm.sum(seen)));
  const double mean = comm.sum(sum) / n;
  const double sigma = std::sqrt(std::max(0.0, comm.sum(square_sum) / n - mean * mean));
  const MapColumn& named = reader.header().columns[to_size(column)];
  run.say(
      fmt::format("  {:<18} {:<8} min {:.6g}  max {:.6g}  mean {:.6g}  sigma {:.6g}  unseen {}{}",
                  named.name, named.unit.empty() ? "-" : named.unit, comm.min(low), comm.max(high),
                  mean, sigma, comm.sum(holes),
                  comm.sum(broken) > 0 ? fmt::format("  NaN or infinite {}", comm.sum(broken))
                                       : std::string()));
}

void describe_map(Run& run, const std::string& path, MapReader& reader) {
  const MapHeader& header = reader.header();
  run.say(fmt::format("{}: map, {}, {}, {}, {} precision, {} column(s), coordinates {}", path,
                      header.grid->name(), header.ordering == Ordering::ring ? "RING" : "NESTED",
                      header.coverage == SkyCoverage::full
                          ? "full sky"
                          : fmt::format("partial sky of {} pixels", header.listed_pixels),
                      name_of(header.precision), header.columns.size(),
                      header.coordsys.empty() ? "not given" : header.coordsys));
  if (!header.processing.empty()) run.say("  made with " + header.processing);
  if (header.polarisation_was_iau)
    run.say("  POLCCONV IAU: the sign of U is changed to COSMO on reading");
  for (const std::string& warning : header.warnings) run.say("  odd: " + warning);
  const LocalRings rings = bands_of_pixels(run.comm, header.grid);
  auto map = agreed(run.comm, [&] { return MapBuffer<double>(1, rings.n_pixels()); });
  for (int column = 0; column < static_cast<int>(header.columns.size()); ++column) {
    reader.read({&column, 1}, rings, map.view());
    describe_column(run, reader, column, MapView<const double>(map.view()).component(0));
  }
}

void describe_alm(Run& run, const std::string& path, const AlmHeader& header) {
  run.say(fmt::format("{}: a_lm, lmax {}, mmax {}, components {}, {} precision, unit {}", path,
                      header.lmax, header.mmax, fmt::join(header.components, ", "),
                      name_of(header.precision), header.unit.empty() ? "-" : header.unit));
  for (const std::string& warning : header.warnings) run.say("  odd: " + warning);
}

void describe_spectra(Run& run, const std::string& path, const Spectra& spectra) {
  std::string names;
  for (int s = 0; s < Spectra::n_names; ++s) {
    if (spectra.has(static_cast<Spectra::Name>(s)))
      names += fmt::format(" {}", Spectra::names[to_size(s)]);
  }
  run.say(fmt::format("{}: spectra{}, lmax {}", path, names, spectra.lmax()));
}

}  // namespace

int info(Run& run, const InfoOptions& options) {
  for (const std::string& path : options.files) {
    const Content content = open_content(run.comm, path);
    if (content.map != nullptr) describe_map(run, path, *content.map);
    if (content.alm != nullptr) describe_alm(run, path, content.alm->header());
    if (content.spectra) describe_spectra(run, path, *content.spectra);
  }
  return 0;
}

}  // namespace ringweave::detail::inline app
