// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Returns true if a keyword or attribute describes its file alone, or is understood by readers,
/// and so is not carried over.
bool describes_its_file(const std::string& name);

/// Returns the keywords of a file that is written: the input's, replaced and followed by those of
/// this step, without the name of the table. FWHM is the root of the sum of squares of both.
std::vector<Keyword> keywords_of(const Provenance& provenance);

/// The keyword of the name of the table of a map: in the origin of maps alone, and kept by writers
/// of maps alone.
constexpr const char* extension_keyword = "EXTNAME";

/// Returns the name of the table of the map that was read; empty where there is none.
std::string extension_of(const Provenance& provenance);

/// Returns the history of a file that is written: the input's, then this step.
std::vector<std::string> history_of(const Provenance& provenance);

/// Returns the value of a keyword as text.
std::string text_of_value(const Keyword& keyword);

/// Returns the keywords of the processing as one line: "FWHM 0.5, SMETHOD ring".
std::string processing_text(const FileOrigin& origin);

}  // namespace ringweave::detail::inline io
