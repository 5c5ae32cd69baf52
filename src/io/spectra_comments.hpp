// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ringweave::detail::inline io {

/// Marks the comment with the command line, whose file names must not be mistaken for column names,
/// a normalisation or a unit.
inline constexpr const char* command_mark = " command:";

/// Whether the comments of a table say that it holds D_l = l(l+1)C_l/2pi (true) or C_l (false);
/// empty where they say nothing of it.
std::optional<bool> stated_d_l(const std::vector<std::string>& comments);

/// Returns the unit of temperature squared that a comment names, such as uK^2 for "C_l in muK^2";
/// empty where none does.
std::string stated_unit(const std::vector<std::string>& comments);

}  // namespace ringweave::detail::inline io
