// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/fits/fields.hpp"
#include "io/fits/file.hpp"
#include "io/fits/map_layout.hpp"
#include "io/header_json.hpp"
#include "io/pixel_blocks.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t block_rows = std::int64_t{1} << 20;

class FitsMapReader final : public MapReader {
 public:
  FitsMapReader(const Communicator& comm, const std::string& path) : comm_(comm), path_(path) {
    std::tie(header_, list_lengths_, list_of_column_) =
        share_from_root(comm_, [this] { return inspect(); });
  }

  std::vector<RingId> observed_rings() override {
    std::vector<char> observed(to_size(header_.grid->n_rings()),
                               header_.coverage == SkyCoverage::full ? 1 : 0);
    if (header_.coverage == SkyCoverage::partial) {
      agree(comm_, [&] {
        if (!comm_.is_root()) return;
        if (!layout_.image) return mark_listed_rings(observed);
        const RingRange rings = layout_.image->order.rings();
        std::fill(observed.begin() + rings.begin, observed.begin() + rings.end, 1);
      });
      comm_.broadcast(observed.data(), ssize64(observed), 0);
    }
    std::vector<RingId> result;
    for (std::int64_t ring = 0; ring < ssize64(observed); ++ring) {
      if (observed[to_size(ring)] != 0) result.push_back(RingId{ring});
    }
    return result;
  }

  void read(std::span<const int> columns, const LocalRings& rings, AnyMapView<> map) override {
    std::visit([&](auto view) { read_columns(columns, rings, view); }, map);
  }

 private:
  using Shared = std::tuple<MapHeader, std::vector<std::int64_t>, std::vector<std::size_t>>;

  Shared inspect() {
    file_.emplace(FitsFile::open(path_));
    layout_ = inspect_fits_map(*file_);
    Shared shared{layout_.header, {}, {}};
    for (const auto& list : layout_.pixel_lists) std::get<1>(shared).push_back(list.length);
    for (const auto& column : layout_.columns) std::get<2>(shared).push_back(column.pixel_list);
    return shared;
  }

  template <class T>
  void read_columns(std::span<const int> columns, const LocalRings& rings, MapView<T> map) {
    std::vector<double> values;
    std::optional<PixelBlocks> blocks;
    agree(comm_, [&] {
      check_request(columns, rings, map.n_components(), map.size());
      blocks.emplace(rings, header_.ordering);
      values.resize(to_size(std::min(block_rows, longest())));
    });
    if (list_lengths_.empty()) {
      read_full(columns, *blocks, values, map);
    } else {
      read_partial(columns, *blocks, values, map);
    }
    agree(comm_, [&] {
      if (comm_.is_root()) file_->require_same();
    });
  }

  template <class T>
  void read_full(std::span<const int> columns, PixelBlocks& blocks, std::span<double> values,
                 MapView<T> map) {
    for (std::int64_t first = 0; first < blocks.n_rows(); first += block_rows) {
      const std::span<double> block =
          values.first(to_size(std::min(block_rows, blocks.n_rows() - first)));
      agree(comm_, [&] { blocks.select(first, ssize64(block)); });
      for (std::size_t c = 0; c < columns.size(); ++c) {
        share_values(columns[c], first, block);
        blocks.take(std::span<const double>(block),
                    map.component(static_cast<std::int64_t>(c)).data());
      }
    }
  }

  template <class T>
  void read_partial(std::span<const int> columns, const PixelBlocks& blocks,
                    std::span<double> values, MapView<T> map) {
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      std::fill_n(map.component(c).data(), map.size(), static_cast<T>(unseen));
    }
    for (std::size_t list = 0; list < list_lengths_.size(); ++list) {
      read_listed(list, columns, blocks, values, map);
    }
  }

  /// Reads the columns that belong to one list of pixels.
  template <class T>
  void read_listed(std::size_t list, std::span<const int> columns, const PixelBlocks& blocks,
                   std::span<double> values, MapView<T> map) {
    std::vector<bool> seen;
    std::vector<std::int64_t> pixels;
    agree(comm_, [&] {
      seen.resize(to_size(map.size()));
      pixels.resize(values.size());
    });
    std::optional<std::int64_t> twice;
    for (std::int64_t first = 0; first < list_lengths_[list]; first += block_rows) {
      const std::size_t count = to_size(std::min(block_rows, list_lengths_[list] - first));
      const std::span<std::int64_t> block_pixels(pixels.data(), count);
      share_pixels(list, first, block_pixels);
      find_local(block_pixels, blocks, seen, twice);
      for (std::size_t c = 0; c < columns.size(); ++c) {
        if (list_of_column_[static_cast<std::size_t>(columns[c])] != list) continue;
        const std::span<double> block = values.first(count);
        share_values(columns[c], first, block);
        T* component = map.component(static_cast<std::int64_t>(c)).data();
        for (std::size_t i = 0; i < count; ++i) {
          if (block_pixels[i] >= 0) component[block_pixels[i]] = static_cast<T>(block[i]);
        }
      }
    }
    agree(comm_, [&] {
      if (twice) throw DataError(path_, fmt::format("lists pixel {} more than once", *twice));
    });
  }

  /// Converts pixel numbers of the file to numbers of this rank (-1: not here); notes the first
  /// duplicate.
  static void find_local(std::span<std::int64_t> pixels, const PixelBlocks& blocks,
                         std::vector<bool>& seen, std::optional<std::int64_t>& twice) {
    for (std::int64_t& pixel : pixels) {
      const std::int64_t local = blocks.local_pixel(blocks.order().to_ring(pixel));
      if (local >= 0) {
        if (seen[to_size(local)] && !twice) twice = pixel;
        seen[to_size(local)] = true;
      }
      pixel = local;
    }
  }

  void check_request(std::span<const int> columns, const LocalRings& rings,
                     std::int64_t n_components, std::int64_t n_pixels) const {
    if (rings.grid().kind() != header_.grid->kind() ||
        rings.grid().n_source_pixels() != header_.grid->n_source_pixels()) {
      throw UsageError(fmt::format("{} is a map on {}, the job asks for {}; use the file's grid",
                                   path_, header_.grid->name(), rings.grid().name()));
    }
    if (n_components != ssize64(columns) || n_pixels != rings.n_pixels()) {
      throw UsageError(
          fmt::format("{}: {} columns of {} pixels do not fit a map of {} components of {} pixels",
                      path_, columns.size(), rings.n_pixels(), n_components, n_pixels));
    }
    for (const int column : columns) {
      if (column >= 0 && column < static_cast<int>(header_.columns.size())) continue;
      throw UsageError(fmt::format("{} has {} columns, there is no number {} (they count from 0)",
                                   path_, header_.columns.size(), column));
    }
  }

  std::int64_t longest() const {
    return list_lengths_.empty() ? header_.grid->n_pixels() : header_.listed_pixels;
  }

  /// Broadcasts a block of values; all ranks return or all throw. Collective.
  void share_values(int column, std::int64_t first, std::span<double> block) {
    agree(comm_, [&] {
      if (!comm_.is_root()) return;
      if (layout_.image) return read_car_image(*file_, *layout_.image, column, first, block);
      load_values(layout_.columns[static_cast<std::size_t>(column)], first, block);
    });
    comm_.broadcast(block.data(), ssize64(block) * std::int64_t{sizeof(double)}, 0);
  }

  void share_pixels(std::size_t list, std::int64_t first, std::span<std::int64_t> block) {
    agree(comm_, [&] {
      if (comm_.is_root()) load_pixels(layout_.pixel_lists[list], first, block);
    });
    comm_.broadcast(block.data(), ssize64(block) * std::int64_t{sizeof(std::int64_t)}, 0);
  }

  void load_values(const FitsMapLayout::Column& source, std::int64_t first,
                   std::span<double> block) {
    file_->go_to(source.hdu);
    file_->read(source.column, first, block);
    const double bad = layout_.bad_data.value_or(unseen);
    const double tolerance = 1e-5 * std::abs(bad);
    for (double& value : block) {
      value = is_unseen(value) || std::abs(value - bad) <= tolerance ? unseen : source.sign * value;
    }
  }

  void load_pixels(const FitsMapLayout::PixelList& list, std::int64_t first,
                   std::span<std::int64_t> block) {
    file_->go_to(list.hdu);
    file_->read(list.column, first, block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (block[i] >= 0 && block[i] < header_.grid->n_pixels()) continue;
      file_->fail(fmt::format("row {} lists pixel {}, NSIDE = {} has pixels 0..{}",
                              first + static_cast<std::int64_t>(i) + 1, block[i],
                              header_.grid->nside(), header_.grid->n_pixels() - 1));
    }
  }

  void mark_listed_rings(std::vector<char>& observed) {
    const PixelOrder order(*header_.grid, header_.ordering);
    std::vector<std::int64_t> pixels;
    for (const FitsMapLayout::PixelList& list : layout_.pixel_lists) {
      for (std::int64_t first = 0; first < list.length; first += block_rows) {
        pixels.resize(to_size(std::min(block_rows, list.length - first)));
        load_pixels(list, first, pixels);
        for (const std::int64_t pixel : pixels) {
          observed[to_size(index(header_.grid->ring_of_pixel(order.to_ring(pixel))))] = 1;
        }
      }
    }
  }

  Communicator comm_;
  std::string path_;
  std::optional<FitsFile> file_;  ///< on rank 0
  FitsMapLayout layout_;          ///< on rank 0
  std::vector<std::int64_t> list_lengths_;
  std::vector<std::size_t> list_of_column_;
};

}  // namespace

std::unique_ptr<MapReader> open_fits_map(const Communicator& comm, const std::string& path) {
  return std::make_unique<FitsMapReader>(comm, path);
}

}  // namespace ringweave::detail::inline io
