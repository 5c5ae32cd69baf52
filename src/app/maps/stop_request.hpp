// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// From now on SIGUSR1, which batch systems send before a time limit, does not end the program but
/// asks it to stop where it can be resumed. For main(), before anything else.
void listen_to_sigusr1();

/// From now on the first SIGTERM asks the same; the second ends the program as usual.
void listen_to_sigterm();

/// Returns whether any rank was asked to stop. Collective.
bool is_asked_to_stop(const Communicator& comm);

}  // namespace ringweave::detail::inline app
