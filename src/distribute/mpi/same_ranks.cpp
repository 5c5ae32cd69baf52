// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/same_ranks.hpp"

#include <fmt/format.h>

#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/error.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Tells whether two communicators have the same ranks in the same order. Not collective.
bool has_same_ranks(const Communicator& one, const Communicator& other) {
  // Both are this process alone; MPI need not run.
  if (one.size() == 1 && other.size() == 1) return true;
  int result = MPI_UNEQUAL;
  check_mpi(MPI_Comm_compare(mpi_handle(one), mpi_handle(other), &result), "MPI_Comm_compare");
  return result == MPI_IDENT || result == MPI_CONGRUENT;
}

}  // namespace

void require_same_ranks(const Communicator& comm, const Communicator& other,
                        const std::string& what) {
  agree(comm, [&] {
    if (has_same_ranks(comm, other)) return;
    throw UsageError(
        fmt::format("{} made with a communicator of {} ranks cannot be used with one of {}, whose "
                    "ranks must be "
                    "the same in the same order; give both the same communicator",
                    what, other.size(), comm.size()));
  });
}

}  // namespace ringweave::detail::inline distribute
