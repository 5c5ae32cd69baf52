// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "io/hdf5/chunks.hpp"
#include "io/hdf5/handle.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline io {

/// Opens for reading on this rank alone. Disables HDF5's own messages and its plug-ins from then
/// on. Not collective. Error  DataError when missing, not a regular file, empty, truncated or not
/// HDF5. Only within report_failed_reads() is a failing disk told from that, here and in all that
/// reads the file.
Hdf5Handle open_hdf5(const std::string& path);

/// Begins a new file in this rank's memory; close_hdf5() writes it. Objects carry no times, so
/// equal content gives equal bytes. Not collective. Error  ResourceError.
Hdf5Handle create_hdf5(const std::string& path);
/// Begins to add attributes to a file that close_hdf5() wrote. Not collective. Error ResourceError.
Hdf5Handle reopen_hdf5(const std::string& path);
/// Closes a file of create_hdf5() or reopen_hdf5() and writes to disk what was added: all but the
/// numbers of create_hdf5_dataset(), whose places are kept free. Checks that the disk holds it. Not
/// collective. Error  ResourceError.
void close_hdf5(Hdf5Handle file, const std::string& path);
Hdf5Handle create_hdf5_group(const Hdf5Handle& parent, const std::string& path, const char* name);

/// Returns true if `name` (with slashes) leads to an object through hard links only.
bool has_hdf5_object(const Hdf5Handle& file, const std::string& name);
/// Returns the names of the datasets of a group, ascending; empty without such a group. Error
/// DataError when the group is damaged.
std::vector<std::string> hdf5_datasets(const Hdf5Handle& file, const std::string& path,
                                       const std::string& group);
/// Returns the names of the groups in a group, else as hdf5_datasets().
std::vector<std::string> hdf5_groups(const Hdf5Handle& file, const std::string& path,
                                     const std::string& group);
/// Returns in words the contents of a file of this program, by the names of its groups: "a sky map
/// (/map)"; empty where they name none.
std::string words_of_content(const Hdf5Handle& file, const std::string& path);

/// Returns true for an integer or float type whose parts lie inside its bytes: libhdf5 1.10
/// converts others beyond its buffers.
bool is_sound_hdf5_number(hid_t type);

/// The type, shape and place of a dataset, checked on one rank and broadcast to the others.
struct Hdf5Shape {
  std::vector<std::int64_t> dims;
  enum class Number { real, integer, complex } number = Number::real;
  std::int64_t bytes = 8;  ///< per number (per part of a complex one)
  enum class Layout { contiguous, chunked } layout = Layout::contiguous;
  std::int64_t offset = 0;           ///< of contiguous numbers in the file, in bytes
  std::vector<std::uint8_t> type{};  ///< of a number (a part of a complex one), as HDF5 encodes it
  std::int64_t file_bytes = 0;       ///< of the file when it was inspected
  std::int64_t modified = 0;         ///< InputStamp::modified() of the file, then
};

void to_json(nlohmann::json& encoded, const Hdf5Shape& shape);
void from_json(const nlohmann::json& encoded, Hdf5Shape& shape);

/// Returns the bytes of all its numbers. Error  UsageError when they exceed 64 bits.
std::int64_t total_bytes(const Hdf5Shape& shape);

/// Treatment of a dataset without numbers.
enum class EmptyDataset { refuse, accept };

/// Opens a dataset of unknown origin and rejects anything that could mislead the library: links,
/// external and virtual storage, filters other than shuffle, deflate and Fletcher32, types that are
/// not numbers, storage beyond the end of the file or never written, more dimensions than
/// most_dims. Not collective. Error  DataError.
Hdf5Shape inspect_hdf5_dataset(const Hdf5Handle& file, const std::string& path,
                               const std::string& name, int most_dims = 2,
                               EmptyDataset empty = EmptyDataset::refuse,
                               MissingChunks missing = MissingChunks::refuse);

/// Returns HDF5's type of the numbers (parts of complex ones) that create_hdf5_dataset() stores.
hid_t written_hdf5_number(const Hdf5Shape& shape);
/// Creates a contiguous dataset without fill values; its numbers are written later. Not collective.
/// Error  ResourceError.
Hdf5Handle create_hdf5_dataset(const Hdf5Handle& parent, const std::string& path, const char* name,
                               const Hdf5Shape& shape);
/// Creates a dataset and writes its numbers. `type` is both the memory type of `values` and the
/// stored type.
Hdf5Handle write_small_dataset(const Hdf5Handle& parent, const std::string& path, const char* name,
                               hid_t type, const std::vector<std::int64_t>& dims,
                               const void* values);

/// Reads a whole small dataset. Not collective. Error  DataError, also for more than `limit`
/// numbers.
std::vector<double> read_small_dataset(const Hdf5Handle& file, const std::string& path,
                                       const std::string& name, std::int64_t limit);

}  // namespace ringweave::detail::inline io
