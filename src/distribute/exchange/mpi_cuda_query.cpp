// SPDX-License-Identifier: GPL-3.0-or-later
#include <mpi.h>
// Needs mpi.h before it.
#include <mpi-ext.h>

#include "distribute/exchange/device_route.hpp"

namespace ringweave::detail::inline distribute {

bool mpi_says_it_takes_device_memory() { return MPIX_Query_cuda_support() == 1; }

}  // namespace ringweave::detail::inline distribute
