// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "app/analysis_checks.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/plane_fields.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "io/file_origin.hpp"
#include "io/point_files.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

const char* name_of(Precision precision) {
  return precision == Precision::single_ ? "single" : "double";
}

/// Returns the area of every own pixel in units of the mean of the full grid: its quadrature
/// weights. Empty where all are 1: on HEALPix, and on grids without weights.
std::vector<double> pixel_areas(const RingGrid& full, const LocalRings& rings) {
  if (full.nside() > 0 || !has_weights(full)) return {};
  std::vector<double> areas(to_size(rings.n_pixels()), 1.0);
  const double mean = 4 * std::numbers::pi / static_cast<double>(full.n_pixels());
  for (LocalRing ring{0}; index(ring) < rings.n_rings(); ring = LocalRing{index(ring) + 1}) {
    const Ring& of = rings.ring(ring);
    if (of.weight <= 0) continue;
    std::fill_n(areas.begin() + rings.first_pixel(ring), of.n_phi, of.weight / mean);
  }
  return areas;
}

/// Sums over the pixels of a column, and its range.
struct ColumnSums {
  static constexpr std::size_t n_sums = 5;
  std::array<double, n_sums>
      sums{};  ///< of the areas seen, values, their squares, holes, broken ones
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
};

ColumnSums sum_up(View<const double> f, const std::vector<double>& areas) {
  ColumnSums column;
  auto& [seen, sum, square_sum, holes, broken] = column.sums;
  for (std::int64_t i = 0; i < f.size(); ++i) {
    if (!std::isfinite(f[i])) {
      ++broken;
    } else if (is_unseen(f[i])) {
      ++holes;
    } else {
      const double area = areas.empty() ? 1.0 : areas[to_size(i)];
      seen += area;
      column.low = std::min(column.low, f[i]);
      column.high = std::max(column.high, f[i]);
      sum += area * f[i];
      square_sum += area * f[i] * f[i];
    }
  }
  return column;
}

/// Sums up over all ranks, in one reduction. Collective.
void sum_over_ranks(const Communicator& comm, std::vector<ColumnSums>& columns) {
  constexpr std::size_t n_sums = ColumnSums::n_sums;
  const std::size_t ranges = n_sums * columns.size();  // each rank's in a place of its own
  const std::size_t own = ranges + 2 * columns.size() * to_size(comm.rank());
  std::vector<double> numbers(ranges + 2 * columns.size() * to_size(comm.size()));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::copy(columns[c].sums.begin(), columns[c].sums.end(), numbers.data() + n_sums * c);
    numbers[own + 2 * c] = columns[c].low;
    numbers[own + 2 * c + 1] = columns[c].high;
  }
  comm.sum(numbers.data(), ssize64(numbers));
  for (std::size_t c = 0; c < columns.size(); ++c) {
    std::copy_n(numbers.data() + n_sums * c, n_sums, columns[c].sums.begin());
    for (std::size_t at = ranges + 2 * c; at < numbers.size(); at += 2 * columns.size()) {
      columns[c].low = std::min(columns[c].low, numbers[at]);
      columns[c].high = std::max(columns[c].high, numbers[at + 1]);
    }
  }
}

std::string describe_column(const MapColumn& named, const ColumnSums& column) {
  const auto& [seen, sum, square_sum, holes, broken] = column.sums;
  const double area = seen > 0 ? seen : 1;
  const double mean = sum / area;
  const double sigma = std::sqrt(std::max(0.0, square_sum / area - mean * mean));
  return fmt::format(
      "  {:<18} {:<8} min {:.6g}  max {:.6g}  mean {:.6g}  sigma {:.6g}  unseen {:.0f}{}",
      named.name, named.unit.empty() ? "-" : named.unit, column.low, column.high, mean, sigma,
      holes, broken > 0 ? fmt::format("  NaN or infinite {:.0f}", broken) : std::string());
}

/// Reads the columns, several at a time, and describes each. Collective.
void describe_columns(Run& run, const std::string& path, MapReader& reader) {
  const RingGrid& full = *reader.header().grid;
  const std::vector<MapColumn>& columns = reader.header().columns;
  // Of a partial map only the rings with pixels: a file of ten kilobytes may state any NSIDE.
  const LocalRings rings = bands_of_pixels(run.comm, grid_to_visit(reader, false));
  const std::int64_t n_pixels = rings.grid().n_pixels();
  constexpr std::int64_t numbers = std::int64_t{1} << 21;
  constexpr std::int64_t most_columns = 256;
  const std::int64_t width =
      std::min(std::clamp(numbers * run.comm.size() / n_pixels, std::int64_t{1}, most_columns),
               ssize64(columns));
  const std::int64_t each = (width + 1) * std::int64_t{sizeof(double)};
  distribute::require_memory_for(run.comm, each * rings.n_pixels(), "pixels of " + path,
                                 [&](int n_ranks) { return each * n_pixels / n_ranks; });
  auto map = agreed(run.comm, [&] { return MapBuffer<double>(width, rings.n_pixels()); });
  const auto areas = agreed(run.comm, [&] { return pixel_areas(full, rings); });
  std::vector<int> numbers_of_columns(columns.size());
  std::iota(numbers_of_columns.begin(), numbers_of_columns.end(), 0);
  for (std::size_t first = 0; first < columns.size(); first += to_size(width)) {
    const auto part = std::span<const int>(numbers_of_columns)
                          .subspan(first, std::min(to_size(width), columns.size() - first));
    const auto of_part = map.view().components(0, ssize64(part));
    reader.read(part, rings, of_part);
    std::vector<ColumnSums> sums;
    for (std::int64_t c = 0; c < ssize64(part); ++c)
      sums.push_back(sum_up(MapView<const double>(of_part).component(c), areas));
    sum_over_ranks(run.comm, sums);
    for (std::size_t c = 0; c < part.size(); ++c) {
      sums[c].sums[3] += static_cast<double>(full.n_pixels() - n_pixels);  // holes left out
      run.print_line(describe_column(columns[to_size(part[c])], sums[c]));
    }
  }
}

/// The processing in one line; with --provenance the whole history and all keywords.
void describe_origin(Run& run, const FileOrigin& origin, const InfoOptions& options) {
  if (const std::string text = processing_text(origin); !text.empty())
    run.print_line("  made with " + text);
  if (!options.provenance) return;
  if (origin.history.empty())
    run.print_line("  history: none; the file does not say how it was made");
  for (const std::string& line : origin.history) run.print_line("  history: " + line);
  for (const std::string& line : origin.comments) run.print_line("  comment: " + line);
  for (const Keyword& keyword : origin.keywords)
    run.print_line(fmt::format("  keyword: {} = {}", keyword.name, text_of_value(keyword)));
}

void describe_map(Run& run, const std::string& path, const InfoOptions& options,
                  MapReader& reader) {
  const MapHeader& header = reader.header();
  run.print_line(fmt::format("{}: map, {}, {}, {}, {} precision, {} column(s), coordinates {}",
                             path, header.grid->name(),
                             header.ordering == Ordering::ring ? "RING" : "NESTED",
                             header.coverage == SkyCoverage::full
                                 ? "full sky"
                                 : fmt::format("partial sky of {} pixels", header.listed_pixels),
                             name_of(header.precision), header.columns.size(),
                             header.coordsys.empty() ? "not given" : header.coordsys));
  describe_origin(run, header.origin, options);
  if (header.polarisation_was_iau)
    run.print_line("  POLCCONV IAU: the sign of U is changed to COSMO on reading");
  for (const std::string& warning : header.warnings) run.print_line("  odd: " + warning);
  if (header.grid->nside() == 0 && !has_weights(*header.grid))
    run.print_line("  mean and sigma are over pixels, not over area: the grid has no weights");
  describe_columns(run, path, reader);
}

void describe_alm(Run& run, const std::string& path, const InfoOptions& options,
                  const AlmHeader& header) {
  run.print_line(fmt::format(
      "{}: a_lm, lmax {}, mmax {}, components {}, {} precision, unit {}, coordinates {}", path,
      header.lmax, header.mmax, fmt::join(header.components, ", "), name_of(header.precision),
      header.unit.empty() ? "-" : header.unit,
      header.coordsys.empty() ? "not given" : header.coordsys));
  describe_origin(run, header.origin, options);
  for (const std::string& warning : header.warnings) run.print_line("  odd: " + warning);
}

/// Tells whether TT may be b_T: C_l of the sky have little or nothing at l = 0 and 1.
bool begins_as_a_beam(const Spectra& spectra) {
  if (!spectra.has(Spectra::TT) || spectra.lmax() < 2) return false;
  const std::span<const double> tt = spectra.values(Spectra::TT);
  constexpr double tolerance = 0.01;
  return std::abs(tt[0] - 1) <= tolerance && tt[0] > tt[1] && tt[1] > tt[2] && tt[2] > 0;
}

void describe_spectra(Run& run, const std::string& path, const InfoOptions& options,
                      const SpectraFile& file) {
  const Spectra& spectra = file.spectra;
  std::string names;
  for (int s = 0; s < Spectra::n_names; ++s) {
    if (spectra.has(static_cast<Spectra::Name>(s)))
      names += fmt::format(" {}", Spectra::names[to_size(s)]);
  }
  run.print_line(fmt::format("{}: spectra{}, lmax {}, {} {}, unit {}", path, names, spectra.lmax(),
                             name_of_kind(file),
                             file.is_stated ? "as its header says" : "(its header does not say)",
                             file.unit.empty() ? "-" : file.unit));
  describe_origin(run, file.origin, options);
  for (const std::string& warning : file.warnings) run.print_line("  odd: " + warning);
  if (begins_as_a_beam(spectra)) run.print_line("  odd: TT falls from 1 at l = 0, as a beam does");
  if (!file.ignored_columns.empty())
    run.print_line(fmt::format("  columns left out: {}", fmt::join(file.ignored_columns, ", ")));
}

/// Describes a beam, a pixel window or weights.
void describe_table(Run& run, const std::string& path, const InfoOptions& options,
                    const TableHead& head) {
  const bool is_by_degrees = head.kind == TableKind::beam || head.kind == TableKind::pixel_window;
  run.print_line(fmt::format("{}: {}{}{}, columns {}", path, words_of(head.kind),
                             head.nside > 0 ? fmt::format(", nside {}", head.nside) : "",
                             is_by_degrees ? fmt::format(", lmax {}", head.rows - 1)
                                           : fmt::format(", {} numbers", head.rows),
                             fmt::join(head.column_names, ", ")));
  describe_origin(run, head.origin, options);
}

void describe_points(Run& run, const std::string& path, const InfoOptions& options) {
  const PointFile file = read_points(run.comm, path);
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  const View<const double> theta = file.theta();
  for (std::int64_t i = 0; i < theta.size(); ++i) {
    low = std::min(low, theta[i]);
    high = std::max(high, theta[i]);
  }
  low = run.comm.min(low);
  high = run.comm.max(high);
  run.print_line(fmt::format(
      "{}: points: {}, psi {}{}", path, file.total, file.has_psi() ? "yes" : "no",
      file.total > 0 ? fmt::format(", theta {:.6g} to {:.6g} rad", low, high) : std::string()));
  describe_origin(run, file.origin, options);
  for (const std::string& warning : file.warnings) run.print_line("  odd: " + warning);
}

void describe_values(Run& run, const std::string& path, const InfoOptions& options) {
  const ValuesFile file = read_values(run.comm, path);
  const ValuesHeader& header = file.header;
  run.print_line(fmt::format("{}: values at {} point(s), components {}, {} precision, unit {}",
                             path, file.total, fmt::join(header.components, " "),
                             name_of(header.precision), header.unit.empty() ? "-" : header.unit));
  describe_origin(run, file.origin, options);
  for (const std::string& warning : file.warnings) run.print_line("  odd: " + warning);
  const auto count = static_cast<double>(file.total);
  for (std::int64_t c = 0; c < file.values.n_components() && file.total > 0; ++c) {
    const View<const double> f = file.values.view().component(c);
    double sum = 0;
    for (std::int64_t i = 0; i < f.size(); ++i) sum += f[i];
    const double mean = run.comm.sum(sum) / count;
    double square_sum = 0;
    for (std::int64_t i = 0; i < f.size(); ++i) square_sum += (f[i] - mean) * (f[i] - mean);
    run.print_line(fmt::format("  {:<18} mean {:.6g}  sigma {:.6g}", header.components[to_size(c)],
                               mean, std::sqrt(run.comm.sum(square_sum) / count)));
  }
}

/// Returns false for a file without points or values at points.
bool describe_point_content(Run& run, const std::string& path, const InfoOptions& options) {
  const PointContent found = find_point_content(run.comm, path);
  if (found.points) describe_points(run, path, options);
  if (found.values) describe_values(run, path, options);
  return found.points || found.values;
}

}  // namespace

int info(Run& run, const InfoOptions& options) {
  for (const std::string& path : options.files) run.outputs.keep(path);
  run.outputs.require_writable();
  for (const std::string& path : options.files) {
    if (describe_point_content(run, path, options)) continue;
    const Content content =
        open_content(run.comm, path, unstated_kind(options.cl_kind), options.variable);
    if (content.map != nullptr) describe_map(run, path, options, *content.map);
    if (content.alm != nullptr) describe_alm(run, path, options, content.alm->header());
    for (const TableHead& head : content.tables) describe_table(run, path, options, head);
    if (content.spectra) describe_spectra(run, path, options, *content.spectra);
    if (!content.planes.empty() && !options.variable.empty())
      describe_plane(run, path, options.variable, options.provenance);
    for (std::size_t i = 0; i < content.planes.size() && options.variable.empty(); ++i)
      describe_plane(run, path, content.planes[i], options.provenance);
  }
  return 0;
}

}  // namespace ringweave::detail::inline app
