// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "distribute/points/piece_exchange.hpp"
#include "nonuniform/host/deflected_pixels.hpp"
#include "nonuniform/planned_points.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::inline nonuniform {

/// The deflected pixels of a grid. They are summed in the order of PixelPieces, in which the grid
/// has them nearly, so nothing is sorted and no position is stored: positions and turns of the
/// frame are computed from the deflection when they are needed; a device gets them once. Values are
/// those of the map that is seen, with turned frames.
class DeflectedPoints final : public PlannedPoints {
 public:
  /// Collective.
  DeflectedPoints(const Communicator& comm, const Deflection& deflection, const PointSpec& asked,
                  FrameRotation rotation);

  const PointPlan& plan() const override { return *plan_; }
  std::int64_t n_listed() const override { return deflection_.rings().n_pixels(); }
  std::span<const PointTile> tiles() const override { return tiles_; }
  std::int64_t bytes() const override;
  void prepare(std::int64_t n_threads) override;
  void interpolate(std::int64_t thread, std::int64_t tile, const RowsInMemory<const double>& rows,
                   AnyMapView<> values) noexcept override;
  void gather(AnyMapView<> values) override;
  void scatter(AnyConstMapView<> values) override;
  void spread(std::int64_t thread, std::int64_t tile, RingRange range,
              const RowsInMemory<double>& rows, AnyConstMapView<> values) noexcept override;
  SummedPoints summed() const override;
  ComponentView<double> sums() override { return sums_.view(); }
  void put_sums(AnyMapView<> values) noexcept override;
  void load_values(AnyConstMapView<> values) noexcept override;

 private:
  static constexpr std::int64_t at_once = DeflectedPixels::most;
  enum class Turn { forward, back };

  /// Some points in work by a thread.
  struct Batch {
    std::int64_t size = 0;
    double theta[at_once];
    double phi[at_once];
    double cos_gamma[at_once];
    double sin_gamma[at_once];
    HostBuffer<double> values;  ///< [component][point], at_once points a component
  };

  std::vector<MovedPiece> list_pieces(const PixelPieces& cut) const;
  std::vector<std::int64_t> find_rows(const FineRows& rows, std::vector<MovedPiece>& pieces) const;
  void make_tiles(const PixelPieces& cut);
  void prepare_for_device();
  DeflectedPixels pixels_of(const MovedPiece& piece) const;
  /// Calls use(batch, its pieces) for the points of a tile, some at a time.
  template <class Use>
  void for_each_batch(std::int64_t thread, std::int64_t tile, const Use& use) noexcept;
  /// Multiplies the fields of spin s of a batch by exp(i s gamma), or by exp(-i s gamma).
  void turn(Batch& batch, Turn how) const noexcept;
  template <class T>
  void put(const MovedPiece& piece, ComponentView<const double> from,
           ComponentView<T> values) noexcept;
  template <class T>
  void load(const MovedPiece& piece, ComponentView<const T> values,
            ComponentView<double> to) noexcept;
  /// Returns the sums of a piece.
  ComponentView<double> sums_of(std::int64_t piece) {
    return {sums_.view().data() + first_sum_[to_size(piece)], sums_.n_components(),
            exchange_->summed()[to_size(piece)].pixels.count, sums_.view().stride()};
  }

  Deflection deflection_;
  bool turns_;
  std::optional<PointPlan> plan_;
  std::optional<PieceExchange> exchange_;
  std::vector<PointTile> tiles_;
  std::vector<std::int64_t> first_piece_;  ///< [tile] of exchange_->summed(), and the end
  std::vector<Batch> batches_;             ///< [thread]
  // For a device.
  std::vector<std::int64_t> first_sum_;  ///< [piece] of exchange_->summed(), and the end
  ComponentBuffer<double> sums_;
};

}  // namespace ringweave::detail::inline nonuniform
