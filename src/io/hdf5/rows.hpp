// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/hdf5/file.hpp"
#include "io/input_file.hpp"
#include "io/pixel_blocks.hpp"
#include "io/raw_file.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline io {

/// Consecutive positions of a dataset's row.
struct RowRun {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

enum class Hdf5Access { read, write };

/// A file that all ranks have open to transfer numbers, each its own, by plain reads and writes:
/// these report every error, on which MPI-IO may hang or stay silent.
class Hdf5TransferFile {
 public:
  /// Opens a file whose datasets have been inspected, or (with its first Hdf5Rows) one that
  /// close_hdf5() wrote. Collective. Error  DataError, ResourceError where the disk fails; agreed.
  Hdf5TransferFile(const Communicator& comm, const std::string& path, Hdf5Access access);
  /// Ends the transfer: what was read must be as it was; a file that was written is closed by all
  /// ranks, then each reads again what it wrote and compares. Collective. Error  DataError,
  /// ResourceError; agreed.
  /// last_write  is done before that, so that the ranks need not agree on it alone
  void close(const std::function<void()>& last_write = {});

 private:
  friend class Hdf5Rows;
  /// Bytes that this rank wrote.
  struct Written {
    std::int64_t offset = 0;
    std::int64_t count = 0;
    std::uint64_t digest = 0;
  };
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Opens the file with HDF5 as well, for chunks.
  const Hdf5Handle& library_file();
  void require_written() const;
  /// Throws a DataError where the file was changed since a dataset was inspected.
  void require_inspected(const Hdf5Shape& shape) const;

  Communicator comm_;
  std::string path_;
  Hdf5Access access_;
  std::optional<InputStamp> stamp_;  ///< to read
  RawFile raw_;
  Hdf5Handle library_file_;
  std::vector<Written> written_;
};

/// A row of a dataset: its last dimension, or a plane of its last two, of which runs take whole
/// lines.
enum class Hdf5Axes { rows, planes };

/// One open dataset, (n_rows, n_columns) or (n_columns) or with more dimensions of planes, of real,
/// integer or complex numbers; a complex number counts as two numbers of T. Every rank makes the
/// same calls in the same order, with empty runs when it has nothing to transfer.
class Hdf5Rows {
 public:
  /// The file outlives this. To write, the dataset was created with this shape. Collective. Error
  /// DataError (read) or ResourceError (write), agreed.
  Hdf5Rows(Hdf5TransferFile& file, const std::string& name, const Hdf5Shape& shape,
           Hdf5Axes axes = Hdf5Axes::rows);

  /// Reads the runs one after another into `values`, converted from the stored type. Not
  /// collective. Error  DataError; ResourceError when the disk fails.
  template <class T>
  void read(std::int64_t row, std::span<const RowRun> runs, std::span<T> values) const;
  /// Writes the runs, converted to the stored type. Not collective. Error  ResourceError.
  template <class T>
  void write(std::int64_t row, std::span<const RowRun> runs, std::span<const T> values) const;

  /// Reads one run of several rows: [position][row][part], a complex number has two parts.
  /// Collective. Error  as read(), agreed.
  std::vector<double> read_together(std::span<const int> rows, RowRun run) const;
  /// Writes one run of the rows 0..n_rows - 1 from values of that order. Collective. Error  as
  /// write(), agreed.
  void write_together(std::int64_t n_rows, RowRun run, std::span<const double> values) const;

 private:
  /// Returns the place of a position in a row of contiguous numbers, in bytes.
  std::int64_t place(std::int64_t row, std::int64_t position) const;
  void read_bytes(std::int64_t row, std::span<const RowRun> runs, std::span<std::byte> bytes) const;
  void open_chunks();
  void open_to_write();
  void read_chunks(std::int64_t row, std::span<const RowRun> runs, void* numbers) const;
  Hdf5Handle file_space(std::int64_t row, std::span<const RowRun> runs) const;
  void select_lines(const Hdf5Handle& space, std::int64_t plane, const RowRun& run) const;
  /// Converts numbers in place. Error  DataError.
  void convert(hid_t from, hid_t to, std::int64_t numbers, void* values) const;
  /// Buffer for conversions; null where stored and memory type are the same.
  template <class T>
  std::unique_ptr<std::byte[]> staging(std::int64_t numbers) const;

  Hdf5TransferFile& file_;
  std::string name_;
  Hdf5Shape shape_;
  Hdf5Axes axes_;
  Hdf5Handle dataset_;      ///< of chunks
  Hdf5Handle type_;         ///< of an element of chunks
  Hdf5Handle number_;       ///< of a number
  std::int64_t parts_ = 1;  ///< numbers per element
};

/// Limits of what one rank moves in one call, which bound its buffers and the time after which
/// ranks learn of an error of another. Tests make them small.
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
