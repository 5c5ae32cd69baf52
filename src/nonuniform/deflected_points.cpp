// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/deflected_points.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/points/point_checks.hpp"

namespace ringweave::detail::inline nonuniform {

DeflectedPoints::DeflectedPoints(const Communicator& comm, const Deflection& deflection,
                                 const PointSpec& asked, FrameRotation rotation)
    : PlannedPoints(comm, asked, false),
      deflection_(deflection),
      turns_(rotation == FrameRotation::carried && spec_.fields.max_spin() > 0) {
  const RingGrid& grid = deflection.rings().grid();
  std::optional<PixelPieces> cut;
  std::optional<FineRows> rows;
  std::vector<MovedPiece> pieces;
  std::vector<std::int64_t> own;
  agree(comm, [&] {
    taps_ = std::make_shared<const FineTaps>(spec_, grid.n_pixels());
    rows = taps_->rows(UntouchedRows::left_out);
    cut.emplace(grid, rows->n_rows());
    pieces = list_pieces(*cut);
    own = find_rows(*rows, pieces);
  });
  const std::vector<std::int64_t> points = sum_over_ranks(comm, own);
  agree(comm, [&] { plan_.emplace(*rows, points, RowCosts::typical(*rows), comm.size()); });
  exchange_.emplace(comm, *cut, *plan_, std::move(pieces), deflection.vectors(),
                    PointOptions{.most_components = spec_.fields.n_components(),
                                 .mpi_count_limit = spec_.exchange.mpi_count_limit});
  agree(comm, [&] {
    report_ = report_of(spec_, taps_->choice, *plan_);
    make_tiles(*cut);
    if (spec_.backend == Backend::cuda) prepare_for_device();
  });
}

/// Lists the pieces of this rank's rings.
std::vector<MovedPiece> DeflectedPoints::list_pieces(const PixelPieces& cut) const {
  const LocalRings& rings = deflection_.rings();
  std::vector<MovedPiece> pieces;
  pieces.reserve(to_size(rings.n_pixels() / (PixelPieces::most_pixels / 2) + rings.n_rings()));
  for (std::int64_t b = 0; b < ssize64(cut.blocks()); ++b) {
    const PixelPieces::Block& block = cut.blocks()[to_size(b)];
    std::vector<std::int64_t> own;
    for (std::int64_t ring = block.rings.begin; ring < block.rings.end; ++ring)
      if (rings.owns(RingId{ring})) own.push_back(ring);
    if (own.empty()) continue;
    for (std::int64_t sector = 0; sector < block.n_sectors; ++sector) {
      for (const std::int64_t ring : own) {
        const PixelPiece pixels = cut.piece(block, sector, ring);
        if (pixels.count == 0) continue;
        pieces.push_back({pixels, static_cast<std::int32_t>(b), static_cast<std::int32_t>(sector),
                          0, 0, rings.first_pixel(rings.local(RingId{ring})) + pixels.first, -1,
                          true});
      }
    }
  }
  return pieces;
}

/// Computes the first taps of pieces. Returns [first tap] the number of their points.
std::vector<std::int64_t> DeflectedPoints::find_rows(const FineRows& rows,
                                                     std::vector<MovedPiece>& pieces) const {
  const auto n_threads = to_size(omp_get_max_threads());
  std::vector<std::vector<std::int64_t>> counts(
      n_threads, std::vector<std::int64_t>(to_size(rows.n_first_taps()), 0));
#pragma omp parallel
  {
    std::vector<std::int64_t>& count = counts[to_size(omp_get_thread_num())];
    std::array<double, to_size(PixelPieces::most_pixels)> theta;
    std::array<std::int32_t, to_size(PixelPieces::most_pixels)> taps;
#pragma omp for schedule(static)
    for (std::int64_t k = 0; k < ssize64(pieces); ++k) {
      MovedPiece& piece = pieces[to_size(k)];
      const DeflectedPixels pixels = pixels_of(piece);
      find_positions(pixels, theta.data(), nullptr);
      rows.number_first_taps({theta.data(), to_size(pixels.count)}, taps.data());
      // Neighbours mostly have the same.
      piece.first_tap = piece.last_tap = taps[0];
      for (std::int64_t begin = 0, end = 0; begin < pixels.count; begin = end) {
        const std::int32_t tap = taps[to_size(begin)];
        while (end < pixels.count && taps[to_size(end)] == tap) ++end;
        count[to_size(tap)] += end - begin;
        piece.first_tap = std::min(piece.first_tap, tap);
        piece.last_tap = std::max(piece.last_tap, tap);
      }
    }
  }
  for (std::size_t thread = 1; thread < n_threads; ++thread) {
    for (std::size_t tap = 0; tap < counts[0].size(); ++tap) counts[0][tap] += counts[thread][tap];
  }
  return std::move(counts[0]);
}

/// Makes a tile of the pieces of each block.
void DeflectedPoints::make_tiles(const PixelPieces& cut) {
  const std::span<const MovedPiece> pieces = exchange_->summed();
  const FineRows& rows = plan_->rows();
  for (std::int64_t k = 0; k < ssize64(pieces); ++k) {
    const MovedPiece& piece = pieces[to_size(k)];
    const std::int64_t first_row = cut.blocks()[to_size(piece.block)].first_row;
    if (tiles_.empty() || tiles_.back().first_row != first_row) {
      tiles_.push_back({first_row, 0, {rows.n_rows(), 0}});
      first_piece_.push_back(k);
    }
    PointTile& tile = tiles_.back();
    const RingRange touched = rows.rows_between(piece.first_tap, piece.last_tap);
    tile.n_points += piece.pixels.count;
    tile.rows = {std::min(tile.rows.begin, touched.begin), std::max(tile.rows.end, touched.end)};
  }
  first_piece_.push_back(ssize64(pieces));
  for (std::size_t t = 1; t < tiles_.size(); ++t)
    tiles_[t].rows.end = std::max(tiles_[t].rows.end, tiles_[t - 1].rows.end);
  for (std::size_t t = tiles_.size(); t-- > 1;)
    tiles_[t - 1].rows.begin = std::min(tiles_[t - 1].rows.begin, tiles_[t].rows.begin);
}

/// Allocates the sums of all pieces.
void DeflectedPoints::prepare_for_device() {
  std::int64_t next = 0;
  for (const MovedPiece& piece : exchange_->summed())
    first_sum_.push_back(std::exchange(next, next + piece.pixels.count));
  first_sum_.push_back(next);
  sums_ = {spec_.fields.n_components(), next};
}

DeflectedPixels DeflectedPoints::pixels_of(const MovedPiece& piece) const {
  const MapView<const double> vectors = piece.is_own ? deflection_.vectors() : exchange_->vectors();
  return {&deflection_.rings().grid().ring(RingId{piece.pixels.ring}), piece.pixels.first,
          piece.pixels.count, vectors.component(0).data() + piece.place,
          vectors.component(1).data() + piece.place};
}

void DeflectedPoints::prepare(std::int64_t n_threads) {
  while (ssize64(batches_) < n_threads) {
    batches_.emplace_back().values.allocate(at_once * spec_.fields.n_components());
  }
}

template <class Use>
void DeflectedPoints::for_each_batch(std::int64_t thread, std::int64_t tile,
                                     const Use& use) noexcept {
  const std::int64_t first = first_piece_[to_size(tile)];
  const auto pieces =
      exchange_->summed().subspan(to_size(first), to_size(first_piece_[to_size(tile + 1)] - first));
  Batch& batch = batches_[to_size(thread)];
  for (std::size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
    batch.size = 0;
    while (end < pieces.size() && batch.size + pieces[end].pixels.count <= at_once) {
      const DeflectedPixels pixels = pixels_of(pieces[end++]);
      const std::int64_t at = batch.size;
      if (turns_) {
        find_ends(pixels,
                  {batch.theta + at, batch.phi + at, batch.cos_gamma + at, batch.sin_gamma + at});
      } else {
        find_positions(pixels, batch.theta + at, batch.phi + at);
      }
      batch.size += pixels.count;
    }
    use(batch, pieces.subspan(begin, end - begin));
  }
}

void DeflectedPoints::turn(Batch& batch, Turn how) const noexcept {
  const double sign = how == Turn::forward ? 1 : -1;
  for (const FieldSet::Field& field : spec_.fields.fields()) {
    double* const q = batch.values.data() + field.first_component * at_once;
    double* const u = q + at_once;
    for (int s = 0; s < field.spin; ++s) {
      for (std::int64_t i = 0; i < batch.size; ++i) {
        const double c = batch.cos_gamma[i];
        const double sine = sign * batch.sin_gamma[i];
        const double turned = c * q[i] - sine * u[i];
        u[i] = c * u[i] + sine * q[i];
        q[i] = turned;
      }
    }
  }
}

/// Stores the values of a piece.
template <class T>
void DeflectedPoints::put(const MovedPiece& piece, ComponentView<const double> all,
                          ComponentView<T> values) noexcept {
  const std::int64_t n_components = values.n_components();
  for (std::int64_t c = 0; c < n_components; ++c) {
    const double* const from = all.component(c).data();
    if (piece.sums < 0) {
      T* const to = values.component(c).data() + piece.place;
      for (std::int64_t i = 0; i < piece.pixels.count; ++i) to[i] = static_cast<T>(from[i]);
    } else {
      double* const to = exchange_->sums(piece.sums, n_components) + c;
      for (std::int64_t i = 0; i < piece.pixels.count; ++i) to[i * n_components] = from[i];
    }
  }
}

/// Loads them.
template <class T>
void DeflectedPoints::load(const MovedPiece& piece, ComponentView<const T> values,
                           ComponentView<double> all) noexcept {
  const std::int64_t n_components = values.n_components();
  for (std::int64_t c = 0; c < n_components; ++c) {
    double* const to = all.component(c).data();
    if (piece.is_own) {
      const T* const from = values.component(c).data() + piece.place;
      for (std::int64_t i = 0; i < piece.pixels.count; ++i) to[i] = static_cast<double>(from[i]);
    } else {
      const double* const from = exchange_->sums(piece.place, n_components) + c;
      for (std::int64_t i = 0; i < piece.pixels.count; ++i) to[i] = from[i * n_components];
    }
  }
}

void DeflectedPoints::interpolate(std::int64_t thread, std::int64_t tile,
                                  const RowsInMemory<const double>& rows,
                                  AnyMapView<> values) noexcept {
  for_each_batch(thread, tile, [&](Batch& batch, std::span<const MovedPiece> pieces) {
    interpolate_points(rows.taps, rows.values, rows.stride, {batch.theta, batch.phi, batch.size},
                       batch.values.data(), at_once);
    if (turns_) turn(batch, Turn::forward);
    std::visit(
        [&](auto of_type) {
          double* first = batch.values.data();
          for (const MovedPiece& piece : pieces) {
            put(piece, {first, of_type.n_components(), piece.pixels.count, at_once}, of_type);
            first += piece.pixels.count;
          }
        },
        values);
  });
}

void DeflectedPoints::spread(std::int64_t thread, std::int64_t tile, RingRange range,
                             const RowsInMemory<double>& rows, AnyConstMapView<> values) noexcept {
  for_each_batch(thread, tile, [&](Batch& batch, std::span<const MovedPiece> pieces) {
    std::visit(
        [&]<class T>(ComponentView<const T> of_type) {
          double* first = batch.values.data();
          for (const MovedPiece& piece : pieces) {
            load<T>(piece, of_type, {first, of_type.n_components(), piece.pixels.count, at_once});
            first += piece.pixels.count;
          }
        },
        values);
    if (turns_) turn(batch, Turn::back);
    spread_points(rows.taps, {batch.theta, batch.phi, batch.size}, batch.values.data(), at_once,
                  range, rows.values, rows.stride);
  });
}

SummedPoints DeflectedPoints::summed() const {
  const std::span<const MovedPiece> pieces = exchange_->summed();
  SummedPoints all{};
  for (int i = 0; i < (turns_ ? 4 : 2); ++i) all.held.emplace_back(first_sum_.back());
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < ssize64(pieces); ++k) {
    const DeflectedPixels pixels = pixels_of(pieces[to_size(k)]);
    const auto place = [&](std::size_t i) { return all.held[i].data() + first_sum_[to_size(k)]; };
    if (turns_) {
      find_ends(pixels, {place(0), place(1), place(2), place(3)});
    } else {
      find_positions(pixels, place(0), place(1));
    }
  }
  all.points = {all.held[0].data(), all.held[1].data(), first_sum_.back()};
  if (!turns_) return all;
  const auto span = [](const HostBuffer<double>& buffer) {
    return std::span(buffer.data(), to_size(buffer.size()));
  };
  all.turns = {span(all.held[2]), span(all.held[3]), {}};
  for (const FieldSet::Field& field : spec_.fields.fields())
    if (field.spin > 0) all.turns.fields.push_back(field);
  return all;
}

void DeflectedPoints::put_sums(AnyMapView<> values) noexcept {
  const std::span<const MovedPiece> pieces = exchange_->summed();
  std::visit(
      [&](auto of_type) {
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < ssize64(pieces); ++k)
          put(pieces[to_size(k)], sums_of(k), of_type);
      },
      values);
}

void DeflectedPoints::load_values(AnyConstMapView<> values) noexcept {
  const std::span<const MovedPiece> pieces = exchange_->summed();
  std::visit(
      [&]<class T>(ComponentView<const T> of_type) {
#pragma omp parallel for schedule(static)
        for (std::int64_t k = 0; k < ssize64(pieces); ++k)
          load<T>(pieces[to_size(k)], of_type, sums_of(k));
      },
      values);
}

void DeflectedPoints::gather(AnyMapView<> values) {
  std::visit([&]<class T>(ComponentView<T> of_type) { exchange_->gather<T>(of_type); }, values);
}

void DeflectedPoints::scatter(AnyConstMapView<> values) {
  std::visit(
      [&]<class T>(ComponentView<const T> of_type) {
        require_finite_values<T>(comm_, of_type);
        exchange_->scatter<T>(of_type);
      },
      values);
}

std::int64_t DeflectedPoints::bytes() const {
  std::int64_t bytes = exchange_->bytes() + plan_->bytes() +
                       held_bytes(tiles_, first_piece_, batches_, first_sum_) + sums_.bytes();
  for (const Batch& batch : batches_) bytes += held_bytes(batch.values);
  return bytes;
}

}  // namespace ringweave::detail::inline nonuniform
