// SPDX-License-Identifier: GPL-3.0-or-later
// Moves of distributed arrays to other distributions.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

#include "errors.hpp"

#include <ringweave/communicator.hpp>

namespace ringweave::python {

/// Contiguous elements of a distributed array that one rank has, in threes: number of the first in
/// the whole array, place of that in the rank's part, count.
using Pieces = nb::ndarray<const std::int64_t, nb::shape<-1, 3>, nb::c_contig, nb::device::cpu>;

/// Copies every element of `target` that a rank has in `source`; others stay as they are. Pieces
/// ascend in the whole array; those of the sources of all ranks do not overlap. Both arrays are
/// (rows, elements) of one type, None on a rank that has no pieces of it. Collective.
/// Error  UsageError where pieces leave the arrays or arrays do not go together; PeerError when MPI
///        fails.
void move(const Communicator& comm, nb::handle source, const Pieces& source_pieces,
          nb::handle target, const Pieces& target_pieces);

/// Numbers of elements for every rank.
using Counts = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Sends elements, the rows of an array, to all ranks: first those for rank 0, and so on. Receives
/// theirs in the same order. Rows may be of any type of the same size. Collective.
/// Error  UsageError where counts and arrays do not go together; PeerError when MPI fails.
void exchange(const Communicator& comm, const nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig>& sent,
              const Counts& sent_counts, const nb::ndarray<nb::ndim<2>, nb::c_contig>& received,
              const Counts& received_counts);

}  // namespace ringweave::python
