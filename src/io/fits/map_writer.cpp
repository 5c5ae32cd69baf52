// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/column_names.hpp"
#include "io/file_origin.hpp"
#include "io/fits/car_image.hpp"
#include "io/fits/fields.hpp"
#include "io/fits/file.hpp"
#include "io/fits/gzip.hpp"
#include "io/fits/header.hpp"
#include "io/pixel_blocks.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t row_vector = 1024;
constexpr std::int64_t block_values = std::int64_t{1} << 20;
constexpr std::int64_t last_short_pixel = 0x7fffffff;

/// Returns the numbers per row of a full-sky map, as chosen by HEALPix.
std::int64_t repeat_of(const MapHeader& header) {
  const std::int64_t n_pixels = header.grid->n_pixels();
  if (header.coverage == SkyCoverage::partial || n_pixels < row_vector) return 1;
  return n_pixels % row_vector == 0 ? row_vector : header.grid->nside();
}

std::string standard_name(std::size_t column, std::size_t n_columns) {
  constexpr std::array<std::string_view, 6> covariance{"II", "IQ", "IU", "QQ", "QU", "UU"};
  if (n_columns == 6) return std::string(covariance[column]);
  return standard_column_names(static_cast<std::int64_t>(n_columns))[column];
}

void check_header(const MapHeader& header, const LocalRings& rings, std::int64_t n_components,
                  std::int64_t n_pixels) {
  if (header.grid == nullptr) throw UsageError("a map without a grid; set MapHeader::grid");
  require_fits_grid(*header.grid);
  if (rings.grid().n_source_pixels() != header.grid->n_pixels()) {
    throw UsageError(fmt::format("a map on {} cannot be written as one on {}", rings.grid().name(),
                                 header.grid->name()));
  }
  if (ssize64(header.columns) != n_components || rings.n_pixels() != n_pixels ||
      n_components == 0) {
    throw UsageError(
        fmt::format("a map of {} components of {} pixels does not fit {} columns of {} pixels",
                    n_components, n_pixels, header.columns.size(), rings.n_pixels()));
  }
}

void put_map_header(const FitsFile& file, const MapHeader& header, const Provenance& provenance) {
  const std::int64_t n_pixels = header.grid->n_pixels();
  const bool partial = header.coverage == SkyCoverage::partial;
  const auto has = [&](char stokes) {
    for (std::size_t c = 0; c < header.columns.size(); ++c) {
      const std::string& name = header.columns[c].name;
      if (is_stokes(name.empty() ? standard_name(c, header.columns.size()) : name, stokes))
        return true;
    }
    return false;
  };
  const bool polarised = has('Q') && has('U');
  put_text(file, "PIXTYPE", "HEALPIX", "HEALPix pixelisation");
  put_text(file, "ORDERING", header.ordering == Ordering::ring ? "RING" : "NESTED",
           "order of the pixels");
  put_integer(file, "NSIDE", header.grid->nside(), "resolution");
  if (!partial) {
    put_integer(file, "FIRSTPIX", 0, "first pixel, from 0");
    put_integer(file, "LASTPIX", n_pixels - 1, "last pixel, from 0");
  }
  put_text(file, "INDXSCHM", partial ? "EXPLICIT" : "IMPLICIT", "are pixel numbers listed");
  put_text(file, "OBJECT", partial ? "PARTIAL" : "FULLSKY", "sky coverage");
  if (!header.coordsys.empty()) put_text(file, "COORDSYS", header.coordsys, "G, E or C");
  put_real(file, "BAD_DATA", unseen, "value of pixels that were not observed");
  put_logical(file, "POLAR", polarised, "polarisation included");
  put_text(file, "POLCCONV", "COSMO", "sign of U");
  put_provenance(file, provenance);
}

std::vector<FitsColumnSpec> column_specs(const MapHeader& header) {
  std::vector<FitsColumnSpec> specs;
  if (header.coverage == SkyCoverage::partial) {
    specs.push_back({"PIXEL", header.grid->n_pixels() - 1 > last_short_pixel ? "1K" : "1J", ""});
  }
  const char* letter = header.precision == Precision::single_ ? "E" : "D";
  for (std::size_t c = 0; c < header.columns.size(); ++c) {
    const MapColumn& column = header.columns[c];
    specs.push_back({column.name.empty() ? standard_name(c, header.columns.size()) : column.name,
                     fmt::format("{}{}", repeat_of(header), letter), column.unit});
  }
  return specs;
}

/// Writes on rank 0 the blocks of the whole map, passed in order, either in full or reduced to the
/// observed pixels.
class BlockWriter {
 public:
  /// `grid` is the ranks' grid: the full one or a subset of it; `rings` of the full one become rows
  /// of an image.
  BlockWriter(const std::string& path, const MapHeader& header, const Provenance& provenance,
              const std::shared_ptr<const RingGrid>& grid, std::int64_t n_listed, RingRange rings)
      : file_(FitsFile::create(path)),
        is_partial_(header.coverage == SkyCoverage::partial),
        precision_(header.precision),
        repeat_(repeat_of(header)) {
    if (grid->is_subset()) observed_.emplace(LocalRings(grid), header.ordering);
    if (is_car_grid(*header.grid)) {
      image_.emplace(file_, header, provenance, rings);
      return;
    }
    const std::string extension = extension_of(provenance);
    append_table(file_, extension.empty() ? "MAP" : extension,
                 (is_partial_ ? n_listed : header.grid->n_pixels()) / repeat_,
                 column_specs(header));
    put_map_header(file_, header, provenance);
  }

  /// values  [component][row], rows first_row... of the full grid; overwritten
  void write(std::int64_t first_row, std::int64_t n_rows, std::span<double> values) {
    if (precision_ == Precision::single_) file_.require_single(values);
    if (observed_) mark_unobserved(first_row, n_rows, values);
    if (image_) return image_->write(first_row, n_rows, values);
    if (is_partial_) {
      write_observed(first_row, n_rows, values);
      return;
    }
    for (std::int64_t c = 0; c < ssize64(values) / n_rows; ++c) {
      const std::span<const double> column = values.subspan(to_size(c * n_rows), to_size(n_rows));
      file_.write(static_cast<int>(c) + 1, repeat_, first_row, column);
    }
  }
  void close() { file_.close(); }

 private:
  void mark_unobserved(std::int64_t first_row, std::int64_t n_rows, std::span<double> values) {
    observed_->select(first_row, n_rows);
    for (std::int64_t i = 0; i < ssize64(values); i += n_rows) {
      observed_->mask_unowned(values.subspan(to_size(i), to_size(n_rows)));
    }
  }

  void write_observed(std::int64_t first_row, std::int64_t n_rows, std::span<double> values) {
    pixels_.clear();
    for (std::int64_t row = 0; row < n_rows; ++row) {
      std::int64_t i = row;
      while (i < ssize64(values) && is_unseen(values[to_size(i)])) i += n_rows;
      if (i < ssize64(values)) pixels_.push_back(first_row + row);
    }
    file_.write(1, 1, n_listed_, std::span<const std::int64_t>(pixels_));
    for (std::int64_t c = 0; c < ssize64(values) / n_rows; ++c) {
      const std::span<double> column = values.subspan(to_size(c * n_rows), to_size(n_rows));
      for (std::size_t i = 0; i < pixels_.size(); ++i)
        column[i] = column[to_size(pixels_[i] - first_row)];
      file_.write(static_cast<int>(c) + 2, 1, n_listed_,
                  std::span<const double>(column.first(pixels_.size())));
    }
    n_listed_ += ssize64(pixels_);
  }

  FitsFile file_;
  bool is_partial_;
  Precision precision_;
  std::int64_t repeat_;
  std::optional<CarWriter> image_;       ///< instead of a table
  std::optional<PixelBlocks> observed_;  ///< the rings with data, when not all
  std::vector<std::int64_t> pixels_;
  std::int64_t n_listed_ = 0;  ///< written so far
};

/// Returns the rings of the full grid that become rows of an image: from the first to the last with
/// a pixel that is not UNSEEN; all of a full-sky map. Collective. Error  UsageError without any.
template <class T>
RingRange rings_to_write(const Communicator& comm, const MapHeader& header, const LocalRings& rings,
                         MapView<const T> map) {
  const std::int64_t n_rings = header.grid->n_rings();
  if (header.coverage == SkyCoverage::full) return {0, n_rings};
  RingRange seen{n_rings, 0};
  for (LocalRing ring{0}; index(ring) < rings.n_rings(); ring = LocalRing{index(ring) + 1}) {
    const std::int64_t n_phi = rings.ring(ring).n_phi;
    const T* first = map.component(0).data() + rings.first_pixel(ring);
    const MapView<const T> pixels(first, map.n_components(), n_phi, map.stride());
    if (count_observed(pixels, n_phi) == 0) continue;
    const std::int64_t number = rings.ring(ring).source_pixel / n_phi;
    seen = {std::min(seen.begin, number), std::max(seen.end, number + 1)};
  }
  seen = {comm.min(seen.begin), comm.max(seen.end)};
  if (seen.empty()) throw UsageError("no pixel is observed, so a partial map would be empty");
  return seen;
}

/// Returns the rows of the file that may hold data: those between the first and the last ring, or
/// all.
PixelSlab rows_to_write(const MapHeader& header, const RingGrid& grid) {
  if (header.coverage == SkyCoverage::full || header.ordering == Ordering::nested) {
    return {0, 0, header.grid->n_pixels()};
  }
  const Ring& last = grid.rings().back();
  const std::int64_t first = grid.rings().front().source_pixel;
  return {first, 0, last.source_pixel + last.n_phi - first};
}

}  // namespace

void require_fits_grid(const RingGrid& grid) {
  if ((grid.kind() == GridKind::healpix || is_car_grid(grid)) && !grid.is_subset()) return;
  throw UsageError(
      fmt::format("FITS maps are on HEALPix, Clenshaw-Curtis or Fejer grids, this one is {}; write "
                  "HDF5 (.h5)",
                  grid.name()));
}

template <class T>
void write_fits_map(const Communicator& comm, const std::string& path, const MapHeader& header,
                    const Provenance& provenance, const LocalRings& rings, MapView<const T> map) {
  const std::int64_t n_components = map.n_components();
  std::int64_t block_rows =
      std::max(row_vector, block_values / std::max<std::int64_t>(n_components, 1));
  std::optional<PixelBlocks> blocks;
  std::vector<double> values;
  agree(comm, [&] {
    check_header(header, rings, n_components, map.size());
    blocks.emplace(rings, header.ordering);
    if (is_car_grid(*header.grid)) {
      // Whole rings.
      const std::int64_t n_phi = header.grid->longest_ring();
      block_rows = std::max<std::int64_t>(1, block_rows / n_phi) * n_phi;
    }
    values.resize(to_size(block_rows * n_components));
  });
  const std::int64_t n_listed =
      header.coverage == SkyCoverage::partial ? comm.sum(count_observed(map, map.size())) : 0;
  PixelSlab rows = rows_to_write(header, rings.grid());
  RingRange image_rings;
  if (is_car_grid(*header.grid)) {
    const std::int64_t n_phi = header.grid->longest_ring();
    image_rings = rings_to_write(comm, header, rings, map);
    rows = {image_rings.begin * n_phi, 0, image_rings.size() * n_phi};
  }
  std::optional<BlockWriter> writer;
  agree(comm, [&] {
    if (comm.is_root())
      writer.emplace(path, header, provenance, rings.shared_grid(), n_listed, image_rings);
  });
  for (std::int64_t done = 0; done < rows.count; done += block_rows) {
    const std::int64_t first = rows.first_global + done;
    const std::int64_t n_rows = std::min(block_rows, rows.count - done);
    const std::span<double> block = std::span(values).first(to_size(n_rows * n_components));
    agree(comm, [&] {
      std::fill(block.begin(), block.end(), 0.0);
      blocks->select(first, n_rows);
      for (std::int64_t c = 0; c < n_components; ++c) {
        blocks->give(block.subspan(to_size(c * n_rows), to_size(n_rows)), map.component(c).data());
      }
    });
    comm.sum_to_root(block.data(), ssize64(block));
    agree(comm, [&] {
      if (writer) writer->write(first, n_rows, block);
    });
  }
  agree(comm, [&] {
    if (!writer) return;
    writer->close();
    if (path.ends_with(".gz")) gzip_file(path);
  });
}

template void write_fits_map(const Communicator&, const std::string&, const MapHeader&,
                             const Provenance&, const LocalRings&, MapView<const double>);
template void write_fits_map(const Communicator&, const std::string&, const MapHeader&,
                             const Provenance&, const LocalRings&, MapView<const float>);

}  // namespace ringweave::detail::inline io
