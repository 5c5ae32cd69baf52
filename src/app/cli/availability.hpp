// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// Returns the values of `option`, e.g. "--backend", that the program knows but this build does not
/// have.
std::vector<std::string> missing_values(const std::string& option);

/// Throws a UsageError that says what to use instead when this build lacks `value` of `option`.
void require_available(const std::string& option, const std::string& value);

}  // namespace ringweave::detail::inline app
