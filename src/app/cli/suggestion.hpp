// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// Returns "; did you mean X?" for the candidate that is nearest to the word, or nothing if none is
/// near: a letter more, less or another, or two neighbours exchanged, once in about three letters.
std::string did_you_mean(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace ringweave::detail::inline app
