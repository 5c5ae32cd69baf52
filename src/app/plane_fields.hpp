// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// Returns the parts of a rank that go through all fields of a data set, some at a time: the same
/// number on every rank, each with an equal part of the rows.
std::vector<PlaneFilePart> parts_of_fields(const Communicator& comm, const PlaneHeader& header);

/// Returns the name of a field among those of its data set: "rho 2, species 0"; that of the data
/// set where it is the only one.
std::string name_of_field(const PlaneHeader& header, std::int64_t field);

/// Describes a data set of fields in the plane: its axes, their nodes, the range of its values, and
/// how large they are at the edge. Collective.
void describe_plane(Run& run, const std::string& path, const std::string& field,
                    bool with_provenance);

}  // namespace ringweave::detail::inline app
