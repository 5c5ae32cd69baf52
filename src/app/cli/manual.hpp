// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <string_view>

namespace ringweave::detail::inline app {

/// Text of a command's --help besides its options.
struct ManualPage {
  std::string_view command;
  std::string_view brief;        ///< a few words
  std::string_view usage;        ///< after "ringweave COMMAND", one form per line
  std::string_view description;  ///< paragraphs, separated by empty lines
  std::string_view examples;     ///< one per line
  bool reads_healpix_data;       ///< reads the environment variable HEALPIX
};

extern const std::array<ManualPage, 15> manual_pages;

/// Returns the page of one command. Error  InternalError when there is none.
const ManualPage& manual_page(std::string_view command);

}  // namespace ringweave::detail::inline app
