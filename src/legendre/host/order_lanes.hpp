// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>

#include "legendre/host/theta_fft.hpp"

namespace ringweave::detail::inline legendre::columns {

/// Modes of a block on consecutive rings: each lane is one order of one component; rings are `step`
/// numbers apart. Null: no modes in this lane.
template <class Complex>
struct OrderRows {
  std::array<Complex*, static_cast<std::size_t>(width)> first;
  std::int64_t step;
};

/// Packs rows into [ring][real, imaginary][lane]; lanes without modes become zeros.
void pack_orders(const OrderRows<const std::complex<double>>& rows, std::int64_t n_rings,
                 double* block) noexcept;
/// Applies the inverse; lanes without modes are skipped.
void unpack_orders(const double* block, std::int64_t n_rings,
                   const OrderRows<std::complex<double>>& rows) noexcept;

}  // namespace ringweave::detail::inline legendre::columns
