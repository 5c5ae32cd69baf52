// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Returns a text of which control characters, such as breaks of lines, became blanks: texts of
/// headers must not begin lines of their own.
std::string in_one_line(std::string text);

/// Returns a mark and a text as one line of a comment.
std::string marked(std::string_view mark, std::string text);

/// Returns the comments, without '#', that state the origin of a table which is written: HISTORY,
/// KEYWORD NAME = VALUE (in JSON) and COMMENT.
std::vector<std::string> comments_of(const Provenance& provenance);

/// Returns the origin that such comments of a table state.
FileOrigin origin_in(const std::vector<std::string>& comments);

// Comments of the origin, whose file names must not be mistaken for a normalisation or a unit, do
// not count.

/// Returns true if the comments of a table say that it holds D_l = l(l+1)C_l/2pi, false if C_l;
/// nothing where they do not say.
std::optional<bool> stated_d_l(const std::vector<std::string>& comments);

/// Returns the unit of temperature squared that a comment names, such as uK^2 for "C_l in muK^2";
/// empty where none does.
std::string stated_unit(const std::vector<std::string>& comments);

}  // namespace ringweave::detail::inline io
