// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/atomic_output.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Tells whether a file holds points, and values at them.
struct PointContent {
  bool points = false;
  bool values = false;
};

/// Looks into text and HDF5 files. Text without a header that names its columns counts as points
/// where it has two or three columns and does not begin with a whole number, as spectra and kernels
/// do. Collective. Error  DataError for a file that cannot be read, agreed.
PointContent find_point_content(const Communicator& comm, const std::string& path);

/// Writes to the temporary name of `output`, which the caller commits (with others). Collective;
/// arguments as those of the function in ringweave/files.hpp.
void write_values(const AtomicOutput& output, const ValuesHeader& header,
                  const Provenance& provenance, AnyConstMapView<> values);

// For the readers and writers of each kind of file.

/// The values of this rank among those of all.
struct ValuesShare {
  std::int64_t first = 0;
  std::int64_t total = 0;
};
/// Collective.
ValuesShare share_of_values(const Communicator& comm, std::int64_t own);

/// Throws a ResourceError on all ranks where the memory of one lacks the numbers of its equal part
/// of `total` points; says on how many ranks they would fit. Collective.
/// what  "points of scan.h5"
void require_memory_of_parts(const Communicator& comm, const std::string& what,
                             std::int64_t n_components, std::int64_t total);

/// Throws a DataError for more components than values have. Not collective.
void require_n_components(const std::string& path, std::int64_t n_components);
/// Throws a DataError where the file has values at another number of points. Not collective.
void require_n_points(const std::string& path, std::int64_t there,
                      std::optional<std::int64_t> n_points);

}  // namespace ringweave::detail::inline io
