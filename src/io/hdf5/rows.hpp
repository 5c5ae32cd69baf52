// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/pixel_blocks.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline io {

/// Consecutive positions of a dataset's row.
struct RowRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The way in which the ranks transfer numbers. Reading: contiguous data collectively; foreign
/// chunked files by each rank alone, without MPI-IO, which is unsafe for them in HDF5 1.10.
/// Writing: collectively where the disk is reserved, else independently, because Open MPI 4 loses
/// the error when a collective write does not fit the disk, and ROMIO may hang.
enum class Hdf5Mode { collective, independent, alone };

Hdf5Mode hdf5_read_mode(const Hdf5Shape& shape);
/// Returns the mode for the disk space that rank 0 found when it created the file. Collective.
Hdf5Mode hdf5_write_mode(const Communicator& comm, DiskSpace on_root);

/// A file that all ranks have open to transfer numbers.
class Hdf5TransferFile {
 public:
  /// Opens a file whose datasets have been inspected. Collective; so is the destructor.
  /// Error  as open_hdf5_together, agreed.
  Hdf5TransferFile(const Communicator& comm, const std::string& path, Hdf5Access access,
                   Hdf5Mode mode);
  /// Closes the file and checks the result; its datasets must be closed. Collective. Error
  /// ResourceError, agreed.
  void close();

 private:
  friend class Hdf5Rows;
  Communicator comm_;
  std::string path_;
  Hdf5Mode mode_;
  Hdf5Handle file_;
};

/// A row of a dataset: its last dimension, or a plane of its last two, of which runs take whole
/// lines.
enum class Hdf5Axes { rows, planes };

/// One open dataset, (n_rows, n_columns) or (n_columns) or with more dimensions of planes, of real,
/// integer or complex numbers; a complex number counts as two numbers of T. Every rank makes the
/// same calls in the same order, with empty runs when it has nothing to transfer.
class Hdf5Rows {
 public:
  /// Collective. Error  DataError, agreed.
  Hdf5Rows(const Hdf5TransferFile& file, const std::string& name, const Hdf5Shape& shape,
           Hdf5Axes axes = Hdf5Axes::rows);

  /// Reads the runs one after another into `values`, converted from the stored type. Error
  /// DataError on this rank only; to be agreed.
  template <class T>
  void read(std::int64_t row, std::span<const RowRun> runs, std::span<T> values) const;
  /// Writes the runs, converted to the stored type. Error  ResourceError on this rank only; to be
  /// agreed.
  template <class T>
  void write(std::int64_t row, std::span<const RowRun> runs, std::span<const T> values) const;

  /// Reads one run of several rows: [position][row][part], a complex number has two parts.
  /// Collective. Error  as read(), agreed.
  std::vector<double> read_together(std::span<const int> rows, RowRun run) const;
  /// Writes one run of the rows 0..n_rows - 1 from values of that order. Collective. Error  as
  /// write(), agreed.
  void write_together(std::int64_t n_rows, RowRun run, std::span<const double> values) const;

 private:
  Hdf5Handle file_space(std::int64_t row, std::span<const RowRun> runs) const;
  void select_lines(const Hdf5Handle& space, std::int64_t plane, const RowRun& run) const;
  Hdf5Handle memory_space(std::int64_t elements) const;
  /// Buffer for conversions; null where stored and memory type are the same.
  template <class T>
  std::unique_ptr<char[]> staging(std::int64_t numbers) const;

  Communicator comm_;
  std::string path_;
  std::string name_;
  Hdf5Shape shape_;
  Hdf5Axes axes_;
  Hdf5Handle dataset_;
  Hdf5Handle type_;    ///< of an element
  Hdf5Handle number_;  ///< of a number
  Hdf5Handle transfer_;
  std::int64_t parts_ = 1;  ///< numbers per element
};

/// Limits of the bytes that one rank moves in one call. MPI-IO of HDF5 before 1.12.3 fails from 2
/// GiB on; far less already gives full speed and bounds the buffers. Tests make it small.
struct Hdf5Limits {
  std::int64_t numbers_per_call = std::int64_t{1} << 20;
  /// Hyperslabs in one selection; building larger unions takes quadratic time.
  std::int64_t runs_per_call = 64;
};

/// One transfer between a file in RING order and consecutive local pixels.
struct SlabCall {
  std::vector<RowRun> runs;
  std::int64_t first_local = 0;
  std::int64_t count = 0;
};

/// Cuts the pixels of a rank into calls within the limits; every rank gets equally many, the
/// surplus empty. Collective.
std::vector<SlabCall> slab_calls(const Communicator& comm, std::span<const PixelRun> owned,
                                 const Hdf5Limits& limits);

}  // namespace ringweave::detail::inline io
