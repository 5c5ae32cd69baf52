// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_route.hpp"

namespace ringweave::detail::inline distribute {

bool mpi_says_it_takes_device_memory() { return false; }

}  // namespace ringweave::detail::inline distribute
