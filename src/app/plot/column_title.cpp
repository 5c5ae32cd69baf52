// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/column_title.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace ringweave::detail::inline app {

std::string column_title(const std::string& column) {
  constexpr std::array<std::string_view, 5> ends{"", "STOKES", "POLARISATION", "POLARIZATION",
                                                 "POL"};
  std::string name = column;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  if (name == "TEMPERATURE") return "Temperature";
  if (name == "INTENSITY") return "Intensity";
  const std::size_t cut = std::min(name.find_first_of("_- "), name.size());
  const std::string end = cut < name.size() ? name.substr(cut + 1) : "";
  const bool is_stokes = cut == 1 && std::string_view("TIQUV").find(name[0]) != std::string::npos;
  if (is_stokes && std::find(ends.begin(), ends.end(), end) != ends.end()) return name.substr(0, 1);
  return column;
}

}  // namespace ringweave::detail::inline app
