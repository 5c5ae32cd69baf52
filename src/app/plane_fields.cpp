// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plane_fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "app/plane_nodes.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/equal_parts.hpp"
#include "io/file_origin.hpp"
#include "io/hdf5/plane.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns in words the positions of the nodes of an axis.
std::string words_of_nodes(const PlaneFileAxis& axis) {
  try {
    const PlaneAxis nodes = nodes_in_file(axis, PlaneBoundary::zero, "nodes of " + axis.name);
    if (nodes.nodes == PlaneNodes::chebyshev) return "Chebyshev nodes";
    return fmt::format("equispaced by {:.6g}", nodes.spacing());
  } catch (const DataError& error) {
    return fmt::format("neither equispaced nor Chebyshev nodes ({})", error.what());
  }
}

void describe_axis(Run& run, const PlaneFileAxis& axis, bool is_of_plane) {
  std::string words = fmt::format("  axis {}: {}", axis.name, axis.size);
  if (axis.coordinates.empty()) {
    words += ", no coordinates";
  } else {
    words += fmt::format(", {:.6g} to {:.6g}{}{}", axis.coordinates.front(),
                         axis.coordinates.back(), axis.unit.empty() ? "" : " ", axis.unit);
    if (is_of_plane) words += ", " + words_of_nodes(axis);
  }
  if (!axis.long_name.empty()) words += fmt::format(" ({})", axis.long_name);
  run.print_line(words);
}

/// The range of values, the largest |value| at an edge, and that of a field over its largest one.
struct PlaneRange {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  double at_edge = 0;
  double edge = 0;
};

/// Adds a field of which this rank has some rows. Collective.
void add_field(const Communicator& comm, const PlaneHeader& header, const PlaneFilePart& part,
               View<const double> rows, PlaneRange& range) {
  const std::int64_t n_x = header.x.size;
  double largest = 0, at_edge = 0;
  for (std::int64_t i = 0; i < rows.size(); ++i) {
    const std::int64_t y = part.row_begin + i / n_x, x = i % n_x;
    range.low = std::min(range.low, rows[i]);
    range.high = std::max(range.high, rows[i]);
    largest = std::max(largest, std::abs(rows[i]));
    if (y == 0 || y == header.y.size - 1 || x == 0 || x == n_x - 1)
      at_edge = std::max(at_edge, std::abs(rows[i]));
  }
  largest = comm.max(largest);
  at_edge = comm.max(at_edge);
  range.at_edge = std::max(range.at_edge, at_edge);
  if (largest > 0) range.edge = std::max(range.edge, at_edge / largest);
}

PlaneRange range_of(const Communicator& comm, const PlaneFileReader& reader) {
  const PlaneHeader& header = reader.header();
  PlaneRange range;
  for (const PlaneFilePart& part : parts_of_fields(comm, header)) {
    auto fields = agreed(comm, [&] {
      return MapBuffer<double>(ssize64(part.fields),
                               (part.row_end - part.row_begin) * header.x.size);
    });
    reader.read(part, fields.view());
    for (std::int64_t c = 0; c < ssize64(part.fields); ++c)
      add_field(comm, header, part, fields.view().component(c), range);
  }
  range.low = comm.min(range.low);
  range.high = comm.max(range.high);
  return range;
}

}  // namespace

std::vector<PlaneFilePart> parts_of_fields(const Communicator& comm, const PlaneHeader& header) {
  constexpr std::int64_t most_numbers = std::int64_t{1} << 22;
  const std::int64_t most_rows = header.y.size / comm.size() + 1;
  const std::int64_t together =
      std::max<std::int64_t>(1, most_numbers / (most_rows * header.x.size));
  std::vector<PlaneFilePart> parts;
  for (std::int64_t first = 0; first < header.n_fields(); first += together) {
    PlaneFilePart part{{},
                       part_begin(header.y.size, comm.rank(), comm.size()),
                       part_begin(header.y.size, comm.rank() + std::int64_t{1}, comm.size())};
    part.fields.resize(to_size(std::min(together, header.n_fields() - first)));
    std::iota(part.fields.begin(), part.fields.end(), first);
    parts.push_back(std::move(part));
  }
  return parts;
}

std::string name_of_field(const PlaneHeader& header, std::int64_t field) {
  const std::string words = words_of_field(header, field);
  return words.empty() ? header.name : words.substr(0, words.size() - 2);
}

void describe_plane(Run& run, const std::string& path, const std::string& field,
                    bool with_provenance) {
  const PlaneFileReader reader(run.comm, path, field);
  const PlaneHeader& header = reader.header();
  run.print_line(
      fmt::format("{}: {} in the plane, {}, {} precision, unit {}{}", path,
                  header.n_fields() == 1 ? "field" : fmt::format("{} fields", header.n_fields()),
                  header.name, header.precision == Precision::single_ ? "single" : "double",
                  header.unit.empty() ? "-" : header.unit,
                  header.long_name.empty() ? "" : fmt::format(" ({})", header.long_name)));
  for (std::int64_t i = 0; i < ssize64(header.axes) + 2; ++i)
    describe_axis(run, plane_axis_at(header, i), i >= ssize64(header.axes));
  for (const std::string& warning : reader.warnings()) run.print_line("  odd: " + warning);
  if (with_provenance) {
    for (const std::string& line : reader.origin().history) run.print_line("  history: " + line);
    for (const std::string& line : reader.origin().comments) run.print_line("  comment: " + line);
    for (const Keyword& keyword : header.attributes)
      run.print_line(fmt::format("  keyword: {} = {}", keyword.name, text_of_value(keyword)));
  }
  const PlaneRange range = range_of(run.comm, reader);
  run.print_line(fmt::format(
      "  values {:.6g} to {:.6g}, at the edge up to {:.6g}, largest at the edge / largest {:.3g}",
      range.low, range.high, range.at_edge, range.edge));
}

}  // namespace ringweave::detail::inline app
