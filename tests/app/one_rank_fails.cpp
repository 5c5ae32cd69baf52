// SPDX-License-Identifier: GPL-3.0-or-later
// Run by fault_test.py: one rank fails in the way named on the command line while the others wait;
// main() is the program's.
//   agreed          the error occurs inside agree(): all ranks get it
//   alone           it occurs outside; the others wait in a collective that this rank never joins
//   agreed_alone    it occurs inside an agree() that the others, who wait elsewhere, never reach
//   agreed_without  all others have the error, inside an agree() that this rank never reaches
//   thread          it occurs inside an OpenMP loop
//   killed          the rank is killed
//   stopped         the rank is stopped; a watchdog watches for 2 s
//   busy            the rank computes on and on; a watchdog watches for 2 s
//   working         the rank computes for 4 s, with steps; a watchdog watches for 2 s
#include <chrono>
#include <csignal>
#include <optional>
#include <string>
#include <thread>

#include "base/activity.hpp"
#include "base/first_error.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/collective_exit.hpp"
#include "distribute/mpi/watchdog.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace {

using namespace ringweave;

using namespace ringweave::detail;

[[noreturn]] void fail() { throw DataError("sky.fits", "pixel 7 is not a number; replace it"); }

void fail_in_a_thread() {
  FirstError error;
#pragma omp parallel for
  for (int i = 0; i < 64; ++i) {
    error.guard([&] {
      if (i == 33) fail();
    });
  }
  error.rethrow();
}

/// Works for 10 minutes, or for 4 s with steps.
void go_on(bool with_steps) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end =
      Clock::now() + (with_steps ? std::chrono::seconds(4) : std::chrono::seconds(600));
  while (Clock::now() < end) {
    if (with_steps) Activity::of_process().step();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

int work(const Communicator& comm, const std::string& how, int failing_rank) {
  const bool mine = comm.rank() == failing_rank;
  std::optional<Watchdog> watchdog;
  if (how == "stopped" || how == "busy" || how == "working") watchdog.emplace(comm, 2);
  const ActivityMark stage(ActivityMark::Of::stage, "sums");
  if (how == "agreed") {
    agree(comm, [&] {
      if (mine) fail();
    });
  } else if ((mine && how == "agreed_alone") || (!mine && how == "agreed_without")) {
    agree(comm, fail);
  } else if (mine && how == "alone") {
    fail();
  } else if (mine && how == "thread") {
    fail_in_a_thread();
  } else if (mine && how == "killed") {
    std::raise(SIGKILL);
  } else if (mine && how == "stopped") {
    std::this_thread::sleep_for(std::chrono::seconds(1));  // until the others know of the stage
    std::raise(SIGSTOP);
  } else if (mine && (how == "busy" || how == "working")) {
    go_on(how == "working");
  }
  comm.barrier();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 99;
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  return run_program(
      comm, "ringweave", [&] { return work(comm, argv[1], std::stoi(argv[2])); }, 2);
}
