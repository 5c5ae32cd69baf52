// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>

#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline io {

/// Returns a map's unit as astropy parses it: K_CMB -> K, uK_RJ -> uK, microK -> uK, (K_CMB)^2 ->
/// (K)^2. Empty when the unit is empty or has a word astropy may not know, because TOAST refuses a
/// file whose UNITS it cannot parse.
std::string astropy_unit(const std::string& unit);

/// Returns the temperature scale given by a unit's suffix: "CMB thermodynamic", "Rayleigh-Jeans",
/// or nothing.
std::string temperature_scale(const std::string& unit);

/// Returns the unit, or nothing for words that stand for none: unknown, none, -.
std::string known_unit(const std::string& unit);

/// Returns the unit whose square the unit of a spectrum is: uK for uK^2 or (uK)^2, K_CMB for
/// (K_CMB)^2; empty for others.
std::string unit_of_root(const std::string& squared);

/// Returns the unit of one of a file's spectra, where `unit` is that of TT: the lensing potential P
/// has none.
std::string unit_of_spectrum(Spectra::Name name, const std::string& unit);

/// Returns the factor between two units of one temperature, K, mK, uK, nK or pK in any spelling of
/// astropy_unit(); empty for other units, and where the scales (_CMB, _RJ) are not the same.
std::optional<double> temperature_factor(const std::string& from, const std::string& to);

}  // namespace ringweave::detail::inline io
