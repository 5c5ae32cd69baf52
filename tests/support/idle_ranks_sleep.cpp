// SPDX-License-Identifier: GPL-3.0-or-later
// Preloaded into tests with MPICH, whose waiting ranks never leave the processor: with more ranks
// than cores every message would take a time slice of the scheduler.
#include <dlfcn.h>

#include <chrono>
#include <thread>

/// UCX's step of communication, which MPICH repeats while it waits; returns 0 if nothing happened.
extern "C" unsigned ucp_worker_progress(void* worker);

extern "C" unsigned ucp_worker_progress(void* worker) {
  static auto* const progress =
      reinterpret_cast<unsigned (*)(void*)>(dlsym(RTLD_NEXT, "ucp_worker_progress"));
  constexpr int idle_steps = 20;  // as many as a message between running ranks needs
  thread_local int n_idle = 0;
  const unsigned n_done = progress(worker);
  n_idle = n_done > 0 ? 0 : n_idle + 1;
  if (n_idle > idle_steps) std::this_thread::sleep_for(std::chrono::microseconds(1));
  return n_done;
}
