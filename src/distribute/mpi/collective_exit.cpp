// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/collective_exit.hpp"

#include <fmt/format.h>

#include "base/terminal.hpp"
#include "distribute/mpi/worst_error.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave {

using namespace detail;

int CollectiveExit::join(ErrorKind verdict, const std::string& message, double grace_seconds) {
  return worst_of_ranks(comm_, verdict, message, grace_seconds).severity;
}

int CollectiveExit::finish(const std::string& program, ErrorKind verdict,
                           const std::string& message, double grace_seconds) {
  const WorstError worst = worst_of_ranks(comm_, verdict, message, grace_seconds);
  if (worst.severity != 0 && worst.rank == comm_.rank())
    print_message(fmt::format("{}: {}: {}", program, name_of(verdict), message));
  return worst.severity;
}

int run_program(const Communicator& comm, const std::string& name, const std::function<int()>& work,
                double grace_seconds) {
  CollectiveExit collective_exit(comm);
  int code = 0;
  CaughtError caught;
  try {
    code = work();
  } catch (...) {
    caught = describe_current_exception();
  }
  const int verdict = collective_exit.finish(name, caught.kind, caught.message, grace_seconds);
  return verdict != 0 ? verdict : code;
}

}  // namespace ringweave
