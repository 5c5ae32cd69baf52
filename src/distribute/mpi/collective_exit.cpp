// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/collective_exit.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <chrono>
#include <thread>

#include "base/terminal.hpp"
#include "distribute/mpi/worst_error.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave {

using namespace detail;

namespace {

WorstError join_on(const Communicator& comm, ErrorKind verdict, const std::string& message,
                   double grace_seconds) {
  const WorstError mine{exit_code(verdict), comm.rank()};
  WorstError worst = mine;
  if (comm.size() == 1) return worst;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &worst, 1, MPI_2INT, MPI_MAXLOC, mpi_handle(comm), &request);
  const auto deadline =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(grace_seconds);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && done == 0;) {
    if (verdict != ErrorKind::none && std::chrono::steady_clock::now() > deadline) {
      comm.abort(verdict, message);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return worst;
}

}  // namespace

int CollectiveExit::join(ErrorKind verdict, const std::string& message, double grace_seconds) {
  return join_on(comm_, verdict, message, grace_seconds).severity;
}

int CollectiveExit::finish(ErrorKind verdict, const std::string& message, double grace_seconds) {
  const WorstError worst = join_on(comm_, verdict, message, grace_seconds);
  if (worst.severity != 0 && worst.rank == comm_.rank()) {
    print_message(message);
  }
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
  const int verdict = collective_exit.finish(
      caught.kind, fmt::format("{}: {}: {}", name, name_of(caught.kind), caught.message),
      grace_seconds);
  return verdict != 0 ? verdict : code;
}

}  // namespace ringweave
