// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/exchange_mpi.hpp"

#include <fmt/format.h>

#include <exception>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/mpi_library.hpp"

namespace ringweave::detail::inline distribute {

ElementType::ElementType(std::int64_t n, MPI_Datatype basic) {
  check_mpi(
      MPI_Type_contiguous(checked_cast<int>(n, "components per exchanged block"), basic, &type_),
      "MPI_Type_contiguous");
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
}

ElementType::ElementType(const std::vector<int>& counts, const std::vector<MPI_Aint>& first_bytes,
                         MPI_Datatype basic) {
  check_mpi(MPI_Type_create_hindexed(checked_cast<int>(ssize64(counts), "runs of a message"),
                                     counts.data(), first_bytes.data(), basic, &type_),
            "MPI_Type_create_hindexed");
  check_mpi(MPI_Type_commit(&type_), "MPI_Type_commit");
}

ElementType::~ElementType() {
  if (std::uncaught_exceptions() > 0) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended == 0) MPI_Type_free(&type_);
}

void end_job_unless_done(const Communicator& comm, int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  comm.abort(ErrorKind::peer, fmt::format("{} failed: {}", what, mpi_error_text(code)));
}

std::vector<std::int64_t> all_to_all(const Communicator& comm,
                                     const std::vector<std::int64_t>& sent) {
  const int count = checked_cast<int>(ssize64(sent) / comm.size(), "numbers sent to every rank");
  std::vector<std::int64_t> received(sent.size());
  check_mpi_wait("MPI_Alltoall", [&] {
    return MPI_Alltoall(sent.data(), count, MPI_INT64_T, received.data(), count, MPI_INT64_T,
                        mpi_handle(comm));
  });
  return received;
}

void expect_fitting_counts(const Communicator& comm, const std::vector<std::int64_t>& sent,
                           const std::vector<std::int64_t>& expected) {
  if (comm.size() == 1) return;
  const std::int64_t n_passes = ssize64(sent) / comm.size();
  // Ranks with different passes must not meet in a collective call with different counts.
  const bool equal_cuts = comm.min(n_passes) == comm.max(n_passes);
  std::vector<std::int64_t> announced;
  if (equal_cuts) announced = all_to_all(comm, sent);
  agree(comm, [&] {
    if (!equal_cuts) {
      throw UsageError(
          fmt::format("the exchange is planned in {} passes here and in another number elsewhere; "
                      "plan with the same options on all ranks",
                      n_passes));
    }
    for (std::size_t i = 0; i < sent.size(); ++i) {
      if (announced[i] == expected[i]) continue;
      throw UsageError(fmt::format(
          "the exchange plans do not fit: {} modes expected from rank {}, which sends {}; plan "
          "with the same grid, lmax, mmax and options on all ranks",
          expected[i], static_cast<std::int64_t>(i) / n_passes, announced[i]));
    }
  });
}

}  // namespace ringweave::detail::inline distribute
