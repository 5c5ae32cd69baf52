// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "legendre/host/theta_fft.hpp"

namespace ringweave::columns {

/// Where the lanes of a block, each an order of one component, have their modes of consecutive
/// rings, which are `step` numbers apart; null: a lane without.
template <class Complex>
struct OrderRows {
  std::array<Complex*, static_cast<std::size_t>(width)> first;
  std::int64_t step;
};

/// Rows -> [ring][real, imaginary][lane]; lanes without modes become zeros.
void pack_orders(const OrderRows<const std::complex<double>>& rows, std::int64_t n_rings,
                 double* block) noexcept;
/// The inverse; lanes without modes are left out.
void unpack_orders(const double* block, std::int64_t n_rings,
                   const OrderRows<std::complex<double>>& rows) noexcept;

}  // namespace ringweave::columns
