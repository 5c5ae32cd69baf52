// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave::detail::inline distribute {

// Rows and columns of many points at once, vectorized over points; the angles of a point are
// `stride` doubles after those of the one before. Bit by bit those of sphere/fine_position.hpp.

/// Computes row_position(theta, n_rows).index of each point.
void find_rows(const double* theta, std::int64_t stride, std::int64_t n_points, std::int64_t n_rows,
               std::int32_t* rows) noexcept;
/// Computes first_tap(column_position(phi, n_columns), n_taps) of each point, modulo n_columns.
void find_first_columns(const double* phi, std::int64_t stride, std::int64_t n_points,
                        std::int64_t n_columns, int n_taps, std::int32_t* columns) noexcept;
/// Computes first_tap(row_position(theta, n_rows), n_taps) of each point.
void find_first_taps(const double* theta, std::int64_t n_points, std::int64_t n_rows, int n_taps,
                     std::int32_t* first_taps) noexcept;

}  // namespace ringweave::detail::inline distribute
