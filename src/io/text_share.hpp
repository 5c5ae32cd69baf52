// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline io {

/// The begin of a text table.
struct TextBegin {
  std::vector<std::string> comments;  ///< before the first row, without '#'
  std::vector<double> first_row;      ///< empty without rows
};
/// Reads the begin of a text table. Not collective.
/// Error  DataError.
TextBegin read_text_begin(const std::string& path);

/// The size of a text table.
struct TextExtent {
  std::int64_t n_rows = 0;
  std::int64_t n_columns = 0;   ///< of the first row; 0 without rows
  std::int64_t first_line = 0;  ///< of the first row, from 1
};

/// This rank's part of the rows of a text table, an equal one.
struct TextShare {
  std::vector<std::string> comments;  ///< as in TextBegin
  TextExtent extent;
  std::int64_t first = 0;           ///< this rank's first row
  ComponentBuffer<double> columns;  ///< [column][row]
};

struct TextLimits {
  /// A rank reads at most about so many bytes more than its rows. Tests make it small.
  std::int64_t bytes_between_marks = std::int64_t{1} << 20;
};

/// Reads a table of any size, as read_text_table() but numbers need not be finite. Each rank reads
/// an equal part of the file twice: to count rows, then to read its own. `check` gets the size
/// first, the same on every rank; it may throw and be collective. Collective. Error  DataError
/// naming the line for words that are not numbers and for ragged rows, agreed.
TextShare read_text_share(const Communicator& comm, const std::string& path,
                          const std::function<void(const TextExtent&)>& check,
                          const TextLimits& limits = {});

}  // namespace ringweave::detail::inline io
