// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {

/// Sets values[i] to K at chord_squared[i], as KernelTable::evaluate, vectorised. The two arrays
/// may be the same.
void evaluate(const KernelTable& kernel, const double* chord_squared, std::int64_t count,
              double* values) noexcept;

}  // namespace ringweave::detail::inline convolve
