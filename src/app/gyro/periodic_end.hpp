// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "app/gyro/gyro_job.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// A plane seen along one of its axes: value i of line j is at data[i * step + j * line_step].
struct PlaneLines {
  const double* data = nullptr;
  std::int64_t size = 0;  ///< of the axis
  std::int64_t step = 1;
  std::int64_t n_lines = 0;
  std::int64_t line_step = 1;

  double at(std::int64_t i, std::int64_t line) const { return data[i * step + line * line_step]; }
};

/// The end of an axis, judged by the values of a field.
enum class AxisEnd {
  open,     ///< it does not repeat the beginning
  repeats,  ///< the last node is the first one again
  unclear   ///< the field does not change next to the ends
};

/// Compares the last node of an axis with the first one. A field that is even about the middle, or
/// zero at both ends, has equal values there in any case: then the smoother continuation decides.
/// rounding  relative to the largest value
AxisEnd end_of_axis(const PlaneLines& plane, double rounding);

/// Throws a DataError on all ranks where the fields have a periodic axis whose end repeats its
/// beginning. Looks at some of the first fields. Collective.
void refuse_repeated_ends(Run& run, const GyroJob& job, const PlaneFileReader& reader);

}  // namespace ringweave::detail::inline app
