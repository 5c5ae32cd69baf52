// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {

/// The most severe error of all ranks and the lowest rank that has it: an MPI_2INT for MPI_MAXLOC.
struct WorstError {
  int severity = 0;
  int rank = 0;
};

/// Seconds for which a rank with an error waits for the others, unless told otherwise: they may be
/// inside a call that it will never join.
inline constexpr double usual_grace_seconds = 5;

/// Returns the worst of the errors that the ranks have. A rank without one waits for as long as it
/// takes. One with an error ends the job with `message` and the exit code of `mine` when the others
/// have not come within `grace_seconds`, and a fraction of a second more for each rank below it, so
/// that one of several speaks first. Collective.
WorstError worst_of_ranks(const Communicator& comm, ErrorKind mine, const std::string& message,
                          double grace_seconds = usual_grace_seconds);

}  // namespace ringweave::detail::inline distribute
