// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline app {

/// Makes SIGTERM, SIGINT and SIGHUP remove temporary files before they end the program. For main(),
/// before anything else.
void clean_up_at_signals();

/// Makes SIGUSR1, which batch systems send before a time limit, ask the program to stop where it
/// can be resumed, instead of ending it. For main(), before anything else.
void listen_to_sigusr1();

/// Makes the first SIGTERM ask the same; the second ends the program as usual.
void listen_to_sigterm();

/// Returns whether any rank was asked to stop. Collective.
bool is_asked_to_stop(const Communicator& comm);

}  // namespace ringweave::detail::inline app
