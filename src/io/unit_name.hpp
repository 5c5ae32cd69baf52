// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline io {

/// Returns a map's unit as astropy parses it: K_CMB -> K, uK_RJ -> uK, microK -> uK, (K_CMB)^2 ->
/// (K)^2. Empty when the unit is empty or has a word astropy may not know, because TOAST refuses a
/// file whose UNITS it cannot parse.
std::string astropy_unit(const std::string& unit);

/// Returns the temperature scale given by a unit's suffix: "CMB thermodynamic", "Rayleigh-Jeans",
/// or nothing.
std::string temperature_scale(const std::string& unit);

}  // namespace ringweave::detail::inline io
