// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/read_apart.hpp"

namespace ringweave::detail::inline io {

std::string read_text_apart(const std::string& /*path*/, const std::function<std::string()>& read) {
  return read();
}

}  // namespace ringweave::detail::inline io
