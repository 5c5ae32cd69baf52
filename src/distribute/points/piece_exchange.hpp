// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "distribute/points/pixel_pieces.hpp"
#include "distribute/points/point_exchange.hpp"
#include "distribute/points/point_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

class PointMessages;

/// A piece of a ring whose pixels are moved, and the rows that they touch.
struct MovedPiece {
  PixelPiece pixels;
  std::int32_t block;   ///< of PixelPieces
  std::int32_t sector;  ///< of the block
  // Least and greatest number of a first tap (FineRows) of its points.
  std::int32_t first_tap;
  std::int32_t last_tap;
  /// Number of its first pixel among those of this rank's rings, or among the points that arrive.
  std::int64_t place;
  /// Number of its first sum among those that the exchange keeps; -1: no other rank sums the piece,
  /// and its sums are values.
  std::int64_t sums = -1;
  bool is_own;  ///< its ring is this rank's
};

/// Pieces of the rings of all ranks, and the ranks that sum the rows their pixels are moved to. A
/// piece goes as a whole to every rank that owns a row it touches, with the vectors by which its
/// pixels are moved. Pieces that only their own rank sums, and these are most, stay where they are.
class PieceExchange {
 public:
  /// pieces   those of this rank's rings, in the order of PixelPieces
  /// vectors  [to the south, to the east][pixel] of this rank's rings
  /// Collective. Error  ResourceError on all ranks when memory fails one.
  PieceExchange(Communicator comm, const PixelPieces& cut, const PointPlan& plan,
                std::vector<MovedPiece>&& pieces, ComponentView<const double> vectors,
                const PointOptions& options);
  ~PieceExchange();

  /// The pieces whose rows this rank sums, in the order of PixelPieces.
  std::span<const MovedPiece> summed() const { return summed_; }
  /// [to the south, to the east][point that arrives]
  ComponentView<const double> vectors() const { return vectors_.view(); }
  /// The sums of a point, [component]. After scatter(): the values of a point that arrives.
  double* sums(std::int64_t point, std::int64_t n_components) {
    return summed_buffer_.data() + point * n_components;
  }

  /// Adds up the sums of all ranks at the pixels that this rank lists and others sum, in double.
  /// values  [component][pixel of this rank's rings]; the other pixels stay as they are
  /// T is float or double. No allocation. Collective.
  template <class T>
  void gather(ComponentView<T> values);
  /// Sends values to the other ranks that sum them, the transpose of gather().
  template <class T>
  void scatter(ComponentView<const T> values);

  std::int64_t bytes() const;
  /// Predicts the bytes, where pieces are nearly as long as they may be.
  static std::int64_t bytes_of(const PointCounts& points, std::int64_t n_components);

 private:
  /// A piece of this rank that others sum.
  struct SharedPiece {
    std::int64_t pixel;  ///< its first one among this rank's
    std::int64_t count;
    std::int64_t sums;  ///< as in MovedPiece; -1: this rank does not sum it
    std::int64_t end;   ///< of its places_, which begin at the end of those before
  };
  struct Moving;

  void list(const PointPlan& plan, std::span<const MovedPiece> pieces, Moving& moving);
  std::int64_t place_sums(std::int64_t first);
  void receive(const PixelPieces& cut, const Moving& moving);
  std::span<const std::int64_t> places_of(std::int64_t shared) const;

  Communicator comm_;
  std::vector<MovedPiece> summed_;
  std::vector<SharedPiece> shared_;
  /// [piece][rank, ascending] its first point among those sent to the other ranks that sum it.
  std::vector<std::int64_t> places_;
  std::unique_ptr<PointMessages> messages_;  ///< null: this rank is the only one
  ComponentBuffer<double> vectors_;
  HostBuffer<double> listed_buffer_;  ///< [point sent to others][component]
  /// [point that arrives, then point that this rank and others sum][component]
  HostBuffer<double> summed_buffer_;
};

}  // namespace ringweave::detail::inline distribute
