// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline app {

/// Returns the usual name of the contents of a column: "Temperature" of TEMPERATURE, "Q" of
/// Q_POLARISATION or q_stokes. Names that are not known stay as they are.
std::string column_title(const std::string& column);

}  // namespace ringweave::detail::inline app
