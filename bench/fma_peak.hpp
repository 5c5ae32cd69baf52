// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave::detail {

/// Measures the floating-point operations per second of one core on fused multiply-adds in
/// registers, with the instruction set the library would choose, for about `seconds` of the
/// thread's own processor time.
double measure_fma_peak(double seconds);

/// Returns the processor seconds this thread has used.
double thread_seconds();

}  // namespace ringweave::detail
