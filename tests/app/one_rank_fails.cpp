// SPDX-License-Identifier: GPL-3.0-or-later
// Run by fault_test.py: one rank fails in the way named on the command line while the others wait;
// main() is the program's.
//   agreed   the error occurs inside agree(): all ranks get it
//   alone    it occurs outside; the others wait in a collective that this rank never joins
//   thread   it occurs inside an OpenMP loop
//   killed   the rank is killed
#include <csignal>
#include <string>

#include "base/first_error.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/collective_exit.hpp"
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

int work(const Communicator& comm, const std::string& how, int failing_rank) {
  const bool mine = comm.rank() == failing_rank;
  if (how == "agreed") {
    agree(comm, [&] {
      if (mine) fail();
    });
  } else if (mine && how == "alone") {
    fail();
  } else if (mine && how == "thread") {
    fail_in_a_thread();
  } else if (mine && how == "killed") {
    std::raise(SIGKILL);
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
