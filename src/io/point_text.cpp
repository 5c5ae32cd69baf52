// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/point_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/output_part.hpp"
#include "io/spectra_comments.hpp"
#include "io/text_table.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

// Begins of the comments of values.
constexpr std::string_view values_mark = " values at ";
constexpr std::string_view unit_mark = " unit: ";
constexpr std::string_view columns_mark = " columns: ";

/// Width of a number with 17 digits, its sign and an exponent of three digits, and of the
/// separator.
constexpr std::int64_t bytes_per_number = 25;
constexpr std::int64_t numbers_per_block = std::int64_t{1} << 16;

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  for_each_word(text, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

/// Returns the text after a mark in the last comment that begins with it, else nothing.
std::string marked_text(const std::vector<std::string>& comments, std::string_view mark) {
  std::string text;
  for (const std::string& comment : comments) {
    if (comment.starts_with(mark)) text = comment.substr(mark.size());
  }
  while (!text.empty() && text_separators.find(text.back()) != std::string_view::npos)
    text.pop_back();
  return text;
}

bool names_angles(const std::string& comment) {
  const std::vector<std::string> words = words_of(comment);
  return words.size() >= 2 && words[0] == "theta" && words[1] == "phi";
}

std::string head_of(const ValuesHeader& header, const Provenance& provenance,
                    std::int64_t n_points) {
  std::string text = fmt::format("#{}{} points, {} {}\n", values_mark, n_points, provenance.creator,
                                 provenance.version);
  for (const std::string& comment : comments_of(provenance)) text += fmt::format("#{}\n", comment);
  if (!header.unit.empty()) text += fmt::format("#{}\n", marked(unit_mark, header.unit));
  const std::string names = fmt::format("{}", fmt::join(header.components, " "));
  return text + fmt::format("#{}\n", marked(columns_mark, names));
}

/// Returns the lines of points [begin, end).
template <class T>
std::string lines_of(ComponentView<const T> values, std::int64_t begin, std::int64_t end) {
  std::string text;
  const std::int64_t n_components = values.n_components();
  text.reserve(to_size((end - begin) * n_components * bytes_per_number));
  for (std::int64_t i = begin; i < end; ++i) {
    for (std::int64_t c = 0; c < n_components; ++c) {
      fmt::format_to(std::back_inserter(text), "{:24.16e}{}",
                     static_cast<double>(values.component(c)[i]),
                     c + 1 < n_components ? ' ' : '\n');
    }
  }
  return text;
}

}  // namespace

PointContent find_in_text(const std::string& path) {
  const TextBegin begin = read_text_begin(path);
  PointContent found;
  found.values = !marked_text(begin.comments, values_mark).empty();
  const std::vector<double>& row = begin.first_row;
  const bool has_angles = row.size() == 2 || row.size() == 3;
  const bool is_named = std::any_of(begin.comments.begin(), begin.comments.end(), names_angles);
  found.points = !found.values &&
                 (has_angles ? is_named || row[0] != std::floor(row[0]) : is_named && row.empty());
  return found;
}

PointFile read_text_points(const Communicator& comm, const std::string& path,
                           const TextLimits& limits) {
  const auto check = [&](const TextExtent& extent) {
    if (extent.n_rows > 0 && extent.n_columns != 2 && extent.n_columns != 3) {
      throw DataError(path, fmt::format("line {}: has {} columns; expected theta and phi, in "
                                        "radians, or theta, phi and psi",
                                        extent.first_line, extent.n_columns));
    }
    require_memory_of_parts(comm, "points of " + path, extent.n_columns, extent.n_rows);
  };
  TextShare share = read_text_share(comm, path, check, limits);
  PointFile points;
  points.angles =
      share.extent.n_rows > 0 ? std::move(share.columns) : ComponentBuffer<double>(2, 0);
  points.first = share.first;
  points.total = share.extent.n_rows;
  points.origin = origin_in(share.comments);
  return points;
}

ValuesFile read_text_values(const Communicator& comm, const std::string& path,
                            std::optional<std::int64_t> n_points, const TextLimits& limits) {
  const auto check = [&](const TextExtent& extent) {
    require_n_points(path, extent.n_rows, n_points);
    require_n_components(path, extent.n_columns);
    require_memory_of_parts(comm, "values of " + path, extent.n_columns, extent.n_rows);
  };
  TextShare share = read_text_share(comm, path, check, limits);
  ValuesFile file;
  file.header.components = words_of(marked_text(share.comments, columns_mark));
  file.header.unit = marked_text(share.comments, unit_mark);
  file.values = share.extent.n_rows > 0
                    ? std::move(share.columns)
                    : ComponentBuffer<double>(ssize64(file.header.components), 0);
  file.first = share.first;
  file.total = share.extent.n_rows;
  file.origin = origin_in(share.comments);
  return file;
}

template <class T>
void write_text_values(const Communicator& comm, const std::string& path,
                       const ValuesHeader& header, const Provenance& provenance,
                       ComponentView<const T> values) {
  const ValuesShare share = share_of_values(comm, values.size());
  const std::int64_t n_components = values.n_components();
  const std::int64_t line_bytes =
      checked_product(n_components, bytes_per_number, "bytes of a line");
  std::int64_t head_bytes = 0;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    const std::string head = head_of(header, provenance, share.total);
    head_bytes = ssize64(head);
    checked_product(share.total, line_bytes, "bytes of the values");
    write_whole_file(path, head);
  });
  comm.broadcast(&head_bytes, sizeof head_bytes, 0);
  agree(comm, [&] {
    if (values.size() == 0) return;
    OutputPart part = OutputPart::of_shared_file(path, head_bytes + share.first * line_bytes);
    const std::int64_t block = std::max<std::int64_t>(1, numbers_per_block / n_components);
    for (std::int64_t begin = 0; begin < values.size(); begin += block)
      part.write(lines_of(values, begin, std::min(values.size(), begin + block)));
    part.close();
    part.verify();
  });
  agree(comm, [&] {
    if (comm.is_root()) require_length(path, head_bytes + share.total * line_bytes);
  });
}

template void write_text_values(const Communicator&, const std::string&, const ValuesHeader&,
                                const Provenance&, ComponentView<const double>);
template void write_text_values(const Communicator&, const std::string&, const ValuesHeader&,
                                const Provenance&, ComponentView<const float>);

}  // namespace ringweave::detail::inline io
