// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave {

/// Floating-point operations per second of one core on fused multiply-adds that never leave the
/// registers, with the instruction set the library would choose; measured for about `seconds` of
/// the thread's own processor time.
double measure_fma_peak(double seconds);

/// Processor seconds this thread has used.
double thread_seconds();

}  // namespace ringweave
