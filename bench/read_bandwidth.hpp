// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"

namespace ringweave::detail {

/// Measures the bytes per second that all threads of all ranks at once read from arrays too large
/// for any cache: the best of a few times. Collective.
double measure_read_bandwidth(const Communicator& comm);

}  // namespace ringweave::detail
