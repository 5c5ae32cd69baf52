// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ringweave::detail::inline app {

/// Returns the versions of the program and of all linked libraries, SIMD targets, compiler and
/// flags.
nlohmann::ordered_json version_information();
/// Returns the same as text for --version.
std::string version_text();

/// "0.2.0+1234abc": the version and the commit it was built from, if known.
std::string full_version();

}  // namespace ringweave::detail::inline app
