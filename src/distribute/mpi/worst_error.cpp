// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/worst_error.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Clock = std::chrono::steady_clock;

/// Waits until the request is complete, no longer than `end`. Returns MPI's code.
int wait_until(MPI_Request& request, Clock::time_point end, bool& is_complete) {
  for (int done = 0;;) {
    const int code = MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    is_complete = done != 0;
    if (code != MPI_SUCCESS || is_complete || Clock::now() > end) return code;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

WorstError worst_of_ranks(const Communicator& comm, ErrorKind mine, const std::string& message,
                          double grace_seconds) {
  const WorstError own{exit_code(mine), comm.rank()};
  if (comm.size() == 1) return own;
  const bool has_error = mine != ErrorKind::none;
  WorstError worst;
  MPI_Request request = MPI_REQUEST_NULL;
  bool is_complete = true;
  const int code = waiting_in("an agreement on errors", [&] {
    const int begun =
        MPI_Iallreduce(&own, &worst, 1, MPI_2INT, MPI_MAXLOC, mpi_handle(comm), &request);
    if (begun != MPI_SUCCESS) return begun;
    if (!has_error) return MPI_Wait(&request, MPI_STATUS_IGNORE);
    const double seconds = grace_seconds + 0.2 * std::min(comm.rank(), 10);
    return wait_until(request,
                      Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                         std::chrono::duration<double>(seconds)),
                      is_complete);
  });
  if (has_error && (code != MPI_SUCCESS || !is_complete)) comm.abort(mine, message);
  // Without it the ranks can no longer learn of each other's errors.
  if (code != MPI_SUCCESS)
    comm.abort(ErrorKind::peer, "no agreement among the ranks: " + mpi_error_text(code));
  return worst;
}

}  // namespace ringweave::detail::inline distribute
