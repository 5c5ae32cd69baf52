// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/communicator.hpp"
#include "ringweave/mpi.hpp"

// MPI helpers shared by the exchanges of this module.
namespace ringweave::detail::inline distribute {

/// Several numbers of a basic type as one MPI type.
class ElementType {
 public:
  /// `n` contiguous numbers.
  ElementType(std::int64_t n, MPI_Datatype basic);
  /// Runs of numbers that begin `first_bytes` after the address passed to MPI.
  ElementType(const std::vector<int>& counts, const std::vector<MPI_Aint>& first_bytes,
              MPI_Datatype basic);
  ~ElementType();
  ElementType(const ElementType&) = delete;
  ElementType& operator=(const ElementType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Ends the job unless `code` is MPI_SUCCESS: for calls from which ranks cannot return together.
/// The message says that `what` failed, with MPI's own text.
void end_job_unless_done(const Communicator& comm, int code, const char* what);

/// Exchanges numbers between all ranks: `sent` is [peer][number], and so is the result. Collective.
std::vector<std::int64_t> all_to_all(const Communicator& comm,
                                     const std::vector<std::int64_t>& sent);

/// Throws UsageError on every rank unless every peer sends what this rank expects: `sent` and
/// `expected` are [peer][pass], in modes. Collective.
void expect_fitting_counts(const Communicator& comm, const std::vector<std::int64_t>& sent,
                           const std::vector<std::int64_t>& expected);

}  // namespace ringweave::detail::inline distribute
