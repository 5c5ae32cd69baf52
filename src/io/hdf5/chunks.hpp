// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/handle.hpp"

namespace ringweave::detail::inline io {

/// Treatment of a dataset of which chunks were never written.
enum class MissingChunks { refuse, accept };

/// Throws a DataError where chunks of a dataset were never written and its writer defined no value
/// for their numbers: the library makes 0 of them. Contiguous datasets have none. Not collective.
void require_written_chunks(const Hdf5Handle& dataset, const std::string& path,
                            const std::string& name);

/// Ranges of columns of a dataset that were never written.
struct UnwrittenColumns {
  std::int64_t width = 1;             ///< of each range, which begins at a multiple of it
  std::vector<std::int64_t> numbers;  ///< of the ranges, ascending
  bool contains(std::int64_t column) const;
};

/// Finds the columns never written of a dataset (rows, columns) whose chunks have all its rows and
/// divide its columns, as those of TOAST3 have, which writes the observed parts of the sky alone.
/// Not collective. Error  as require_written_chunks() for other datasets.
UnwrittenColumns find_unwritten_columns(const Hdf5Handle& dataset, const std::string& path,
                                        const std::string& name);

}  // namespace ringweave::detail::inline io
