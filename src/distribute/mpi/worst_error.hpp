// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave::detail::inline distribute {

/// The most severe error of all ranks and the lowest rank that has it: an MPI_2INT for MPI_MAXLOC.
struct WorstError {
  int severity = 0;
  int rank = 0;
};

}  // namespace ringweave::detail::inline distribute
