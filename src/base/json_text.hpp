// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline base {

/// Returns the text of a JSON value, in which bytes that are not UTF-8 become U+FFFD: names of
/// files may have some.
///
/// Json    nlohmann::json or ordered_json
/// indent  -1: all on one line
template <class Json>
std::string json_text(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace ringweave::detail::inline base
