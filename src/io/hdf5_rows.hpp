// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "distribute/communicator.hpp"
#include "io/hdf5_file.hpp"

namespace ringweave {

/// How much one rank moves in one call. MPI-IO of HDF5 before 1.12.3 fails from 2 GiB on; far less already gives full
/// speed and bounds the buffers. Tests make it small.
struct Hdf5Limits {
  std::int64_t numbers_per_call = std::int64_t{1} << 22;
  std::int64_t runs_per_call = 64;  ///< hyperslabs in one selection; building larger unions takes quadratic time
};

/// Consecutive positions of a dataset's row.
struct RowRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// A file that all ranks have open to move numbers. Contiguous data move collectively; foreign chunked files are read by
/// each rank on its own, because MPI-IO under HDF5 1.10 is not safe with them.
class Hdf5TransferFile {
 public:
  /// Opens a file whose datasets have been inspected. Collective; so is the end of its life.
  /// Error  as open_hdf5_together, agreed.
  Hdf5TransferFile(const Communicator& comm, const std::string& path, Hdf5Access access,
                   Hdf5Shape::Layout layout = Hdf5Shape::Layout::contiguous);
  /// Closes with a check; the datasets are closed already. Collective. Error  ResourceError, agreed.
  void close();

 private:
  friend class Hdf5Rows;
  Communicator comm_;
  Communicator io_comm_;  ///< those who read together: all, or each rank alone
  std::string path_;
  Hdf5Handle file_;
};

/// One open dataset, (n_rows, n_columns) or (n_columns), of real, integer or complex numbers; a complex number counts
/// as two numbers of T. Every rank makes the same calls in the same order, with empty runs when it has nothing to move.
class Hdf5Rows {
 public:
  /// Collective. Error  DataError, agreed.
  Hdf5Rows(const Hdf5TransferFile& file, const std::string& name, const Hdf5Shape& shape);

  /// values: the runs one after another, converted from the stored type. Error  DataError on this rank only: agree.
  template <class T>
  void read(std::int64_t row, std::span<const RowRun> runs, std::span<T> values) const;
  /// The same outwards; values are converted to the stored type. Error  ResourceError on this rank only: agree.
  template <class T>
  void write(std::int64_t row, std::span<const RowRun> runs, std::span<const T> values) const;

 private:
  Hdf5Handle file_space(std::int64_t row, std::span<const RowRun> runs) const;
  Hdf5Handle memory_space(std::int64_t elements) const;

  Communicator comm_;
  std::string path_;
  std::string name_;
  Hdf5Shape shape_;
  Hdf5Handle dataset_;
  Hdf5Handle type_;    ///< of one element
  Hdf5Handle number_;  ///< of one number
  Hdf5Handle transfer_;
  std::int64_t parts_ = 1;  ///< numbers of one element
};

}  // namespace ringweave
