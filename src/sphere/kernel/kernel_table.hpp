// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "sphere/kernel/kernel_lookup.hpp"

namespace ringweave::detail::inline sphere {

/// A radial kernel as polynomial pieces in the chord c = 2 sin(theta / 2). It is looked up by c^2,
/// which can be computed for distances on the sphere without loss of digits (c^2 = |n - n'|^2, 0 to
/// 4). Plain data with a fixed layout, for code that gathers from it.
///
/// x = scale c up to 90 degrees (c^2 <= 2), x = scale sqrt(4 - c^2) beyond, where the kernel is
/// smooth in the chord to the antipode. The cell is floor(x), beyond 90 degrees floor(x) +
/// far_offset. A smooth kernel has one piece per cell, centred on it. A tabulated profile has
/// pieces that end exactly at its points; a cell stores the first piece that overlaps it, and later
/// pieces are found by piece_end.
///
/// Error  less than 1e-14 of the kernel's bound (RadialKernel::bound()). Within 1 / degree of the
/// antipode the rounding of c^2 dominates: 1e-16 degree^2 of the kernel's value there.
struct KernelTable {
  static constexpr int degree = KernelLookup::degree;
  /// One cache line: K = sum_k coefficient[k] t^k, t = x - centre of the piece; |t| <= 1/2 if every
  /// cell is a piece.
  struct alignas(64) Piece {
    std::array<double, degree + 1> coefficient{};
  };

  /// A distance is inside the kernel if chord_squared <= chord_squared_cut, that of the support
  /// plus 5e-14 / cos(theta_cut / 2) rad, so that rounding cannot lose a pixel on the edge.
  double chord_squared_cut = 0;
  double scale = 0;  ///< cells per unit of chord
  /// Added to the cell where c^2 > 2. Less than the number of near cells if the support ends before
  /// the antipode: cells near the antipode are left out.
  std::int64_t far_offset = 0;
  std::vector<Piece> pieces;
  /// The next four are empty (most_steps 0) if every cell is a piece.
  std::vector<std::int32_t> first_piece;  ///< [cell]
  std::vector<double> piece_end;          ///< [piece], in x; infinite for the last of each half
  std::vector<double> piece_centre;       ///< [piece], in x
  std::int64_t most_steps = 0;            ///< steps from a cell's first piece to its last, at most

  bool is_uniform() const { return first_piece.empty(); }
  /// Returns the coefficients of all pieces, degree + 1 doubles each, aligned to 64 bytes.
  const double* coefficients() const { return pieces.front().coefficient.data(); }

  /// Returns the bytes of the pieces and of the tables that find them.
  std::int64_t bytes() const { return held_bytes(pieces, first_piece, piece_end, piece_centre); }

  KernelLookup lookup() const {
    return {chord_squared_cut,
            scale,
            far_offset,
            coefficients(),
            is_uniform() ? nullptr : first_piece.data(),
            piece_end.data(),
            piece_centre.data()};
  }
  /// Returns K at a distance of this chord, 0 beyond the support.
  double evaluate(double chord_squared) const { return lookup().evaluate(chord_squared); }
};

}  // namespace ringweave::detail::inline sphere
