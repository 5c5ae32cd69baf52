// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "fft/plane_filter.hpp"
#include "gyro/stencil_plan.hpp"
#include "gyro/stencil_tables.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Tables of a bilinear or bicubic average over one radius. Empty where a rank has no rows, or no
/// circle meets the plane.
struct RadiusTables {
  StencilTables sides;            ///< less the interior's taps
  HostBuffer<double> multiplier;  ///< of the radius's filter, if it has one
};

/// Makes the tables of a radius of the plan, with a multiplier of this form. OpenMP.
RadiusTables make_radius_tables(const StencilPlan& plan, std::int64_t radius, MultiplierForm form);

/// Bounds the bytes that making them takes for a while, in addition to the tables.
std::int64_t radius_making_bytes(const StencilPlan& plan, std::int64_t radius);

/// Bounds the bytes of the side tables, see stencil_table_bytes().
StencilTableBytes side_table_bytes(const StencilPlan& plan, std::int64_t radius);

}  // namespace ringweave::detail::inline gyro
