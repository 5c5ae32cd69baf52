// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/gauss_legendre.hpp"

namespace ringweave::detail::inline sphere {

/// Computes nodes theta = pi k / (n - 1), n >= 2, exact up to degree n - 1. O(n), OpenMP.
std::vector<QuadratureNode> clenshaw_curtis_nodes(std::int64_t n);

/// Computes nodes theta = pi (k + 1/2) / n, exact up to degree n - 1. O(n), OpenMP.
std::vector<QuadratureNode> fejer_nodes(std::int64_t n);

}  // namespace ringweave::detail::inline sphere
