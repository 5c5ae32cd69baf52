// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "io/point_files.hpp"
#include "io/text_share.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

// Points and values at points in text files, unchecked numbers. Collective except find_in_text().

/// Finds points or values in a file. Not collective.
/// Error  DataError.
PointContent find_in_text(const std::string& path);

/// Reads this rank's part of the points. Error  DataError, agreed.
PointFile read_text_points(const Communicator& comm, const std::string& path,
                           const TextLimits& limits = {});

/// Reads this rank's part of the values. Error  DataError, also for another number of points than
/// n_points; agreed.
ValuesFile read_text_values(const Communicator& comm, const std::string& path,
                            std::optional<std::int64_t> n_points, const TextLimits& limits = {});

/// Writes to `path` itself: numbers of one width, so that every rank writes its own lines. Error
/// ResourceError, agreed.
template <class T>
void write_text_values(const Communicator& comm, const std::string& path,
                       const ValuesHeader& header, const Provenance& provenance,
                       ComponentView<const T> values);

}  // namespace ringweave::detail::inline io
