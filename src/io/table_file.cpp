// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/beam_table.hpp"
#include "io/file_kind.hpp"
#include "io/fits/table.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "io/spectra_table.hpp"
#include "io/text_table.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave {

using namespace detail;

namespace {

std::vector<double> broadcast(const Communicator& comm, std::vector<double> values) {
  std::int64_t count = ssize64(values);
  comm.broadcast(&count, sizeof count, 0);
  agree(comm, [&] { values.resize(to_size(count)); });
  comm.broadcast(values.data(), count * static_cast<std::int64_t>(sizeof(double)), 0);
  return values;
}

/// Reads tables of numbers on rank 0 and broadcasts them. Collective.
template <class Read>
std::vector<std::vector<double>> read_on_root(const Communicator& comm, Read&& read) {
  std::vector<std::vector<double>> tables;
  agree(comm, [&] {
    if (comm.is_root()) tables = read();
  });
  std::int64_t count = ssize64(tables);
  comm.broadcast(&count, sizeof count, 0);
  tables.resize(to_size(count));
  for (std::vector<double>& table : tables) table = broadcast(comm, std::move(table));
  return tables;
}

/// Returns present spectra as tables of values, absent ones as empty tables.
std::vector<std::vector<double>> tables_of(const Spectra& spectra) {
  std::vector<std::vector<double>> tables;
  for (int n = 0; n < Spectra::n_names; ++n) {
    const std::span<const double> values = spectra.values(static_cast<Spectra::Name>(n));
    tables.emplace_back(values.begin(), values.end());
  }
  return tables;
}

Spectra spectra_of(const std::vector<std::vector<double>>& tables) {
  std::size_t length = 1;
  for (const std::vector<double>& table : tables) length = std::max(length, table.size());
  Spectra spectra(static_cast<int>(length) - 1);
  for (std::size_t n = 0; n < tables.size(); ++n) {
    if (tables[n].empty()) continue;
    std::copy(tables[n].begin(), tables[n].end(),
              spectra.values(static_cast<Spectra::Name>(n)).begin());
  }
  return spectra;
}

SpectraFile read_spectra_apart(const std::string& path, SpectrumKind kind) {
  auto [file, tables] = read_apart(path, [&] {
    SpectraFile read = read_hdf5_spectra(path, kind);
    return std::pair(read, tables_of(read.spectra));
  });
  file.spectra = spectra_of(tables);
  return file;
}

SpectraFile read_any_spectra(const std::string& path, SpectrumKind kind) {
  switch (file_kind(path)) {
    case FileKind::text: return read_text_spectra(path, kind);
    case FileKind::fits: return read_fits_spectra(path, kind);
    case FileKind::hdf5: return read_spectra_apart(path, kind);
    default: break;
  }
  throw UsageError(fmt::format("{}: spectra are read from text, FITS or HDF5", path));
}

BeamTable read_any_beam(const std::string& path) {
  switch (file_kind(path)) {
    case FileKind::text: return read_text_beam(path);
    case FileKind::fits: return read_fits_beam(path);
    default: break;
  }
  throw UsageError(fmt::format("{}: tables by l are read from text (.txt) or FITS (.fits)", path));
}

/// Throws a DataError where the names of a table say that it is of another kind.
void require_kind(const FitsTable& table, const std::string& path, TableKind expected) {
  if (table.kind == TableKind::unknown || table.kind == expected) return;
  throw DataError(path,
                  fmt::format("holds {}; expected {}", words_of(table.kind), words_of(expected)));
}

/// Returns the first column of a table of weights, which must have `expected` rows.
std::vector<double> read_weights(const Communicator& comm, const std::string& path,
                                 std::int64_t expected, std::int64_t nside, TableKind kind) {
  const auto read = [&]() -> std::vector<std::vector<double>> {
    if (file_kind(path) != FileKind::fits)
      throw UsageError(fmt::format("{}: weights are read from FITS (.fits)", path));
    FitsTable table = multipoles_of(read_fits_table(path), path);
    require_kind(table, path, kind);
    if (ssize64(table.columns.front()) != expected) {
      throw DataError(path,
                      fmt::format("holds {} numbers; {} for nside = {} are {}",
                                  table.columns.front().size(), words_of(kind), nside, expected));
    }
    return {std::move(table.columns.front())};
  };
  return read_on_root(comm, read).front();
}

/// Returns the number of the table to read a pixel window from: the first pixel window of `nside`,
/// else the first, else the first without a name that is as long, else the first table.
std::size_t window_table(const std::vector<TableHead>& heads, std::int64_t nside) {
  const auto first = [&](auto&& is_it) {
    return std::find_if(heads.begin(), heads.end(), is_it) - heads.begin();
  };
  const auto is_window = [](const TableHead& head) { return head.kind == TableKind::pixel_window; };
  const auto is_long = [&](const TableHead& head) { return head.rows == 4 * nside + 1; };
  auto found = first([&](const TableHead& head) { return is_window(head) && is_long(head); });
  if (found == ssize64(heads)) found = first(is_window);
  if (found == ssize64(heads)) {
    found = first(
        [&](const TableHead& head) { return head.kind == TableKind::unknown && is_long(head); });
  }
  return found == ssize64(heads) ? 0 : static_cast<std::size_t>(found);
}

}  // namespace

SpectraFile read_spectra(const Communicator& comm, const std::string& path, SpectrumKind kind) {
  SpectraFile file;
  const auto read = [&] {
    file = read_any_spectra(path, kind);
    return tables_of(file.spectra);
  };
  const std::vector<std::vector<double>> tables = read_on_root(comm, read);
  file = share_from_root(comm, [&] { return file; });
  file.spectra = spectra_of(tables);
  return file;
}

void detail::write_spectra(const AtomicOutput& output, const Provenance& provenance,
                           const Spectra& spectra, const std::string& unit) {
  const FileKind kind = file_kind(output.path());
  if (kind != FileKind::text && kind != FileKind::fits && kind != FileKind::hdf5)
    throw UsageError(fmt::format("{}: spectra are written as text, FITS or HDF5", output.path()));
  const auto write = [&] {
    if (!output.comm().is_root()) return;
    // Whatever was read, C_l are written.
    Provenance of_c_l = provenance;
    of_c_l.spectrum_kind.reset();
    std::erase_if(of_c_l.origin.keywords,
                  [](const Keyword& keyword) { return keyword.name == "CL_KIND"; });
    if (kind == FileKind::text) write_text_spectra(output.temporary_path(), spectra, of_c_l, unit);
    if (kind == FileKind::fits) write_fits_spectra(output.temporary_path(), spectra, of_c_l, unit);
    if (kind == FileKind::hdf5) write_hdf5_spectra(output.temporary_path(), spectra, of_c_l, unit);
  };
  output.write([&] { agree(output.comm(), write); });
}

void write_spectra(const Communicator& comm, const std::string& path, IfExists if_exists,
                   const Provenance& provenance, const Spectra& spectra, const std::string& unit) {
  AtomicOutput output(comm, path, if_exists);
  detail::write_spectra(output, provenance, spectra, unit);
  output.commit();
}

BeamFile read_beam(const Communicator& comm, const std::string& path) {
  BeamTable table;
  const auto read = [&] {
    table = read_any_beam(path);
    return std::vector<std::vector<double>>(table.columns.begin(), table.columns.end());
  };
  std::vector<std::vector<double>> columns = read_on_root(comm, read);
  for (std::size_t c = 1; c < columns.size(); ++c) {
    if (columns[c].empty()) columns[c] = columns[c - 1];
  }
  return {{columns[0], columns[1], columns[2]},
          share_from_root(comm, [&] { return table.warnings; })};
}

Beam read_pixel_window(const Communicator& comm, const std::string& path, std::int64_t nside) {
  const auto read = [&]() -> std::vector<std::vector<double>> {
    if (file_kind(path) != FileKind::fits)
      throw UsageError(fmt::format("{}: pixel windows are read from FITS (.fits)", path));
    FitsTable found = read_fits_table(path, window_table(fits_table_heads(path), nside));
    if (found.kind == TableKind::pixel_window) {
      const TableHead head = found;
      keep_columns(found, [&](const auto& name) { return is_of_pixel_window(head, name); });
    }
    const FitsMultipoles table = multipoles_of(std::move(found), path);
    const std::int64_t rows = ssize64(table.columns.front());
    require_kind(table, path, TableKind::pixel_window);
    if (table.first != 0 || rows != 4 * nside + 1 || (table.nside != 0 && table.nside != nside)) {
      throw DataError(
          path,
          fmt::format("holds {} numbers{}; the pixel window for nside = {} has l = 0 to {}", rows,
                      table.nside == 0 ? "" : fmt::format(", for nside = {}", table.nside), nside,
                      4 * nside));
    }
    return {table.columns.front(),
            table.columns[std::min<std::size_t>(1, table.columns.size() - 1)]};
  };
  const std::vector<std::vector<double>> columns = read_on_root(comm, read);
  return {columns.front(), columns.back(), columns.back()};
}

std::vector<double> read_ring_weights(const Communicator& comm, const std::string& path,
                                      std::int64_t nside) {
  std::vector<double> weights = read_weights(comm, path, 2 * nside, nside, TableKind::ring_weights);
  for (double& weight : weights) weight += 1;
  return weights;
}

std::vector<double> read_pixel_weights(const Communicator& comm, const std::string& path,
                                       std::int64_t nside) {
  return read_weights(comm, path, (nside + 1) * (3 * nside + 1) / 4, nside,
                      TableKind::pixel_weights);
}

KernelProfile read_kernel_profile(const Communicator& comm, const std::string& path) {
  const auto read = [&]() -> std::vector<std::vector<double>> {
    if (file_kind(path) != FileKind::text)
      throw UsageError(fmt::format("{}: kernels are read from text (.txt)", path));
    const TextTable table = read_text_table(path);
    if (table.n_columns() != 2 || table.rows.size() < 2) {
      throw DataError(
          path,
          fmt::format(
              "has {} columns and {} rows; expected theta [rad] and K(theta), two rows or more",
              table.n_columns(), table.rows.size()));
    }
    std::vector<std::vector<double>> columns(2);
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const double theta = table.rows[row][0];
      const bool ascends = row == 0 ? theta == 0 : theta > table.rows[row - 1][0];
      if (!ascends || theta > std::numbers::pi) {
        throw DataError(
            path, fmt::format("line {}: theta = {}; it must ascend from 0 to at most pi (radians)",
                              table.line_numbers[row], theta));
      }
      columns[0].push_back(theta);
      columns[1].push_back(table.rows[row][1]);
    }
    return columns;
  };
  std::vector<std::vector<double>> columns = read_on_root(comm, read);
  return {std::move(columns[0]), std::move(columns[1])};
}

}  // namespace ringweave
