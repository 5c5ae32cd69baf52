// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/stop_request.hpp"

#include <csignal>
#include <cstdint>

namespace ringweave::detail::inline app {
namespace {

volatile std::sig_atomic_t was_asked = 0;

void note(int) { was_asked = 1; }

void listen(int signal, int flags) {
  struct sigaction action {};
  action.sa_handler = note;
  sigemptyset(&action.sa_mask);
  // Interrupted system calls, such as reading a file, continue.
  action.sa_flags = SA_RESTART | flags;
  sigaction(signal, &action, nullptr);
}

}  // namespace

void listen_to_sigusr1() { listen(SIGUSR1, 0); }

void listen_to_sigterm() { listen(SIGTERM, static_cast<int>(SA_RESETHAND)); }

bool is_asked_to_stop(const Communicator& comm) {
  return comm.max(std::int64_t{was_asked != 0 ? 1 : 0}) != 0;
}

}  // namespace ringweave::detail::inline app
