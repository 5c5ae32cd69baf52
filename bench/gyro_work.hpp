// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json.hpp>

#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail {

/// Counts operations and bytes of gyroaverages of a specification on one rank:
///   flops   of one call of `each` and of `pairs`, by name: of an FFT of n real numbers 2.5 n
///           log2(n), for the filters of bilinear, bicubic and dct; twice the products with the
///           blocks of the operator for chebyshev
///   table_bytes  of all radii
///   filters lengths of the padded planes, [x, y], of every radius
nlohmann::json gyro_work(const GyroSpec& spec);

}  // namespace ringweave::detail
