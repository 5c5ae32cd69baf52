// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/agree.hpp"

#include <fmt/format.h>

#include <array>

#include "distribute/mpi/mpi_library.hpp"
#include "distribute/mpi/worst_error.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave::detail::inline distribute {
namespace {

[[noreturn]] void throw_same_everywhere(const Communicator& comm, const WorstError& worst,
                                        const CaughtError& mine) {
  const auto kind = static_cast<ErrorKind>(worst.severity);
  const std::string message = comm.broadcast(mine.message, worst.rank);
  const bool same_here = mine.kind == kind && mine.message == message;
  const bool same_everywhere = comm.min(std::int64_t{same_here}) == 1;
  throw_error(kind, same_everywhere ? message : fmt::format("rank {}: {}", worst.rank, message));
}

}  // namespace

void agree_on(const Communicator& comm, const std::function<void()>& work) {
  CaughtError mine;
  try {
    work();
  } catch (...) {
    mine = describe_current_exception();
  }
  const WorstError worst = worst_of_ranks(comm, mine.kind, mine.message);
  if (worst.severity != 0) throw_same_everywhere(comm, worst, mine);
}

void agree_same(const Communicator& comm, std::string_view what, std::int64_t value) {
  // The complement falls as the value rises, for all 64-bit values: one maximum finds both
  // extremes.
  const std::array<std::int64_t, 2> mine{~value, value};
  std::array<std::int64_t, 2> ends = mine;
  if (comm.size() > 1) {
    check_mpi_wait("MPI_Allreduce", [&] {
      return MPI_Allreduce(mine.data(), ends.data(), 2, MPI_INT64_T, MPI_MAX, mpi_handle(comm));
    });
  }
  if (~ends[0] == ends[1]) return;
  throw UsageError(fmt::format(
      "the ranks disagree on {}: it must be the same on all of them; start every rank with the "
      "same program, options and input",
      what));
}

}  // namespace ringweave::detail::inline distribute
