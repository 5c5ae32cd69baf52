// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <span>
#include <vector>

#include "nonuniform/host/row_sums.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// Turns of the frame at points, see GeodesicEnd: the value of a field of spin s is exp(i s gamma)
/// times its sum.
struct FrameTurns {
  std::span<const double> cos_gamma{};  ///< [point]
  std::span<const double> sin_gamma{};
  std::vector<FieldSet::Field> fields{};  ///< those that turn; none: no angles are needed
};

/// The points whose rows a rank sums, in the order of the sums, as a device takes them.
struct SummedPoints {
  PointSpan points;
  FrameTurns turns{};
  std::vector<HostBuffer<double>> held{};  ///< angles that are nowhere else
};

}  // namespace ringweave::detail::inline nonuniform
