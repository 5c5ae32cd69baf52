// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "io/fits/file.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Write keywords of the current HDU; characters other than printable ASCII become '?'. Not
/// collective.
void put_text(const FitsFile& file, const char* keyword, const std::string& value,
              const char* comment);
void put_integer(const FitsFile& file, const char* keyword, std::int64_t value,
                 const char* comment);
void put_real(const FitsFile& file, const char* keyword, double value, const char* comment);
void put_logical(const FitsFile& file, const char* keyword, bool value, const char* comment);

/// Reads HISTORY and the keywords that are carried over from the current HDU.
FileOrigin read_origin(const FitsFile& file);

/// Writes CREATOR, VERSION, DATE, the keywords of the input and of this step, and the HISTORY with
/// command line and configuration.
void put_provenance(const FitsFile& file, const Provenance& provenance);

struct FitsColumnSpec {
  std::string name;
  std::string format;  ///< TFORM, e.g. 1024E
  std::string unit;
};
/// Appends a binary table with the given number of rows and moves to it.
void append_table(const FitsFile& file, const std::string& extension_name, std::int64_t rows,
                  const std::vector<FitsColumnSpec>& columns);

}  // namespace ringweave::detail::inline io
