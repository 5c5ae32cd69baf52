// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "gyro/gyro_plan.hpp"
#include "gyro/loop_plan.hpp"
#include "gyro/scheme.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// Memory that a rank holds for averages, in addition to fields and results.
struct GyroBytes {
  std::int64_t tables = 0;   ///< at once
  std::int64_t scratch = 0;  ///< in addition to tables
  std::int64_t making = 0;   ///< in addition to tables while they are made, before there is scratch
  std::int64_t device = 0;   ///< tables and scratch in the memory of a device
};

/// Plan, scheme and loops of a rank, before there are tables.
struct GyroSetup {
  GyroPlan plan;
  Communicator radius_group;         ///< the ranks with the same fields and rows
  std::unique_ptr<Scheme> scheme{};  ///< none on an idle rank
  LoopPlan loops{};                  ///< of an idle rank only whether calls may fail

  GyroBytes bytes() const;
};

/// Returns the least memory of a rank. Of method chebyshev, whose operators can be made again one
/// radius at a time, from sizes alone: nothing is allocated. Collective. Errors as those of
/// Gyroaverage.
GyroBytes least_bytes(const Communicator& comm, const GyroSpec& spec);

/// Plans ranks, filters or blocks, and loops within the bytes that the specification allows.
/// Collective. Errors as those of Gyroaverage.
GyroSetup set_up(const Communicator& comm, const GyroSpec& spec);

}  // namespace ringweave::detail::inline gyro
