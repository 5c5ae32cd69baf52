// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace ringweave {

/// Versions of the program and of everything linked, SIMD targets, compiler and flags.
nlohmann::ordered_json version_information();
/// The same as lines of text, for --version.
std::string version_text();

}  // namespace ringweave
