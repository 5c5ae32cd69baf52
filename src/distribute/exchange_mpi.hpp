// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/communicator.hpp"
#include "distribute/mpi_handle.hpp"

// What the exchanges of this room share of MPI.
namespace ringweave {

/// `n` numbers of a basic type as one MPI type.
class ElementType {
 public:
  ElementType(std::int64_t n, MPI_Datatype basic);
  ~ElementType();
  ElementType(const ElementType&) = delete;
  ElementType& operator=(const ElementType&) = delete;
  MPI_Datatype get() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// UsageError on every rank unless every peer sends what this rank expects: `sent` and `expected`
/// are [peer][pass], in modes. Collective.
void expect_fitting_counts(const Communicator& comm, const std::vector<std::int64_t>& sent,
                           const std::vector<std::int64_t>& expected);

}  // namespace ringweave
