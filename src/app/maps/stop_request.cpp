// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/stop_request.hpp"

#include <csignal>
#include <cstdint>
#include <ctime>

#include "app/launcher_check.hpp"
#include "base/temporary_files.hpp"

namespace ringweave::detail::inline app {
namespace {

volatile std::sig_atomic_t was_asked = 0;
volatile std::sig_atomic_t is_one_of_many = 0;

/// Open MPI kills the other ranks as soon as the first has ended.
constexpr timespec time_of_others{0, 300'000'000};

void listen(int signal, void (*handler)(int), int flags) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  // Interrupted system calls, such as reading a file, continue.
  action.sa_flags = SA_RESTART | flags;
  sigaction(signal, &action, nullptr);
}

/// Ends the process as if the signal had no handler.
void end(int signal) {
  remove_temporary_files();
  if (is_one_of_many != 0) nanosleep(&time_of_others, nullptr);
  raise(signal);
}

void listen_to_end(int signal) { listen(signal, end, static_cast<int>(SA_RESETHAND | SA_NODEFER)); }

void note(int) { was_asked = 1; }

void note_once(int signal) {
  note(signal);
  listen_to_end(signal);
}

}  // namespace

void clean_up_at_signals() {
  is_one_of_many = is_launched() ? 1 : 0;
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    struct sigaction present {};
    const bool is_ignored =
        sigaction(signal, nullptr, &present) == 0 && present.sa_handler == SIG_IGN;
    if (!is_ignored) listen_to_end(signal);
  }
}

void listen_to_sigusr1() { listen(SIGUSR1, note, 0); }

void listen_to_sigterm() { listen(SIGTERM, note_once, 0); }

bool is_asked_to_stop(const Communicator& comm) {
  return comm.max(std::int64_t{was_asked != 0 ? 1 : 0}) != 0;
}

}  // namespace ringweave::detail::inline app
