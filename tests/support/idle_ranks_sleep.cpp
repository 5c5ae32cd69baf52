// SPDX-License-Identifier: GPL-3.0-or-later
// Preloaded into tests of several ranks. Waiting ranks of MPICH never leave the processor, those of
// Open MPI leave it for a moment only: with more ranks than cores every message would take a time
// slice of the scheduler. A rank that has waited for a while sleeps instead.
#include <dlfcn.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace {

using std::chrono::microseconds;
using std::chrono::steady_clock;

constexpr int idle_steps = 20;  // as many as a message between running ranks needs

/// Sleeps longer the longer a rank waits.
void sleep_a_moment(int n_idle) {
  std::this_thread::sleep_for(microseconds(std::clamp(n_idle - idle_steps, 1, 500)));
}

}  // namespace

/// Open MPI's waiting ranks call it in turn with looking for messages. A rank that computes between
/// two calls does not wait.
extern "C" int sched_yield() noexcept {
  constexpr microseconds look(30);
  thread_local steady_clock::time_point last;
  thread_local int n_idle = 0;
  n_idle = steady_clock::now() - last < look ? n_idle + 1 : 0;
  if (n_idle > idle_steps) {
    sleep_a_moment(n_idle);
  } else {
    syscall(SYS_sched_yield);
  }
  last = steady_clock::now();
  return 0;
}

/// UCX's step of communication, which MPICH repeats while it waits; returns 0 if nothing happened.
extern "C" unsigned ucp_worker_progress(void* worker);

extern "C" unsigned ucp_worker_progress(void* worker) {
  static auto* const progress =
      reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  thread_local int n_idle = 0;
  const unsigned n_done = progress(worker);
  n_idle = n_done > 0 ? 0 : n_idle + 1;
  if (n_idle > idle_steps) sleep_a_moment(n_idle);
  return n_done;
}
