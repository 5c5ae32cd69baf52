// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fitsio.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "io/input_file.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Returns header text with a question mark for all but printable ASCII: safe in FITS files, and in
/// messages, where it must not control a terminal.
std::string printable(std::string text);

struct WrittenHdu;

enum class FitsHdu { image, ascii_table, binary_table };

/// One column of a table. Elements are numbered through all rows: element e is number e % repeat of
/// row e / repeat.
struct FitsColumn {
  int number = 0;  ///< from 1, as cfitsio counts
  std::string name;
  std::string unit;
  enum class Number { real, integer, logical, other } kind = Number::other;
  int bytes = 0;            ///< per stored number
  std::int64_t repeat = 0;  ///< elements in one row
  bool has_null = false;    ///< an integer column with TNULL
  bool is_scaled = false;   ///< by TSCAL, or with a TZERO that is no small whole number

  bool is_number() const { return kind != Number::other && repeat > 0; }
};

struct FitsTableShape {
  std::int64_t rows = 0;
  std::vector<FitsColumn> columns;
};

struct FitsImageShape {
  std::vector<std::int64_t> dims;  ///< NAXIS1 first, which runs fastest
  std::int64_t bits = 0;           ///< BITPIX: negative for real numbers
  bool is_scaled = false;          ///< as that of a column, by BSCALE and BZERO
};

/// A FITS file open on one rank (rank 0). Names are used literally: brackets, URLs and "~" have no
/// meaning. Not collective. Errors  DataError (reading) or ResourceError (writing) with cfitsio's
/// messages, the file and the HDU.
class FitsFile {
 public:
  /// Most HDUs that a search through a file looks at.
  static constexpr int most_hdus = 1000;

  /// Opens for reading. A gzipped file is first checked as a whole and then held unpacked in this
  /// rank's memory. Error  DataError when missing, empty, not a regular file or not FITS;
  /// ResourceError when it unpacks to too much.
  static FitsFile open(const std::string& path);
  /// Creates for writing; replaces an existing file, whose mode it keeps.
  static FitsFile create(const std::string& path);
  FitsFile(FitsFile&& other) noexcept
      : path_(std::move(other.path_)),
        file_(std::exchange(other.file_, nullptr)),
        stamp_(std::move(other.stamp_)),
        bytes_(other.bytes_),
        is_packed_(other.is_packed_),
        access_(other.access_),
        data_sums_(std::move(other.data_sums_)) {}
  FitsFile& operator=(FitsFile&&) = delete;
  ~FitsFile();

  /// Writes the checksums, closes the file and compares it with what was written. Required after
  /// writing, because the destructor cannot report errors. Error  ResourceError.
  void close();

  const std::string& path() const { return path_; }
  fitsfile* handle() const { return file_; }
  /// Throws unless cfitsio's `status` is 0; `doing` completes "cannot ...".
  void check(int status, const std::string& doing) const;
  /// Throws a DataError where a file that was opened for reading, and is not held unpacked in
  /// memory, has changed since.
  void require_same() const;
  /// Throws a DataError about the current HDU.
  [[noreturn]] void fail(const std::string& message) const;

  /// Moves to an HDU, counted from 1 (the primary); returns empty when the file ends before it.
  std::optional<FitsHdu> go_to(int hdu);

  /// Returns the value of a keyword of any type as text, without quotes and control characters;
  /// empty when absent.
  std::optional<std::string> text(const std::string& keyword) const;
  std::optional<double> real(const std::string& keyword) const;
  /// Tells whether keywords such as TSCAL1 and TZERO1 make other numbers of those that are stored.
  bool is_scaled(const std::string& factor, const std::string& offset) const;
  std::optional<std::int64_t> integer(const std::string& keyword) const;

  /// Returns the table of the current HDU, after checking that the file is long enough to hold it.
  FitsTableShape table() const;

  /// Returns the shape of the image of the current HDU, after checking that the file is long enough
  /// to hold it.
  FitsImageShape image() const;
  /// Reads pixels of the image; NaN and BLANK become UNSEEN.
  void read_image(std::int64_t first, std::span<double> values) const;
  /// Appends an image and moves to it.
  void append_image(Precision precision, std::span<const std::int64_t> dims) const;
  void write_image(std::int64_t first, std::span<const double> values);

  /// Reads elements [first, first + values.size()) of a column; nulls of integer columns become
  /// UNSEEN, logical values 0 and 1.
  void read(const FitsColumn& column, std::int64_t first, std::span<double> values) const;
  void read(const FitsColumn& column, std::int64_t first, std::span<std::int64_t> values) const;
  /// Writes elements of a column, each once: they are summed for DATASUM as they come.
  void write(int column, std::int64_t repeat, std::int64_t first, std::span<const double> values);
  void write(int column, std::int64_t repeat, std::int64_t first,
             std::span<const std::int64_t> values);
  /// Throws DataError when a finite value exceeds single precision; cfitsio would write infinity.
  void require_single(std::span<const double> values) const;

 private:
  enum class Access { read, write };
  FitsFile(std::string path, Access access) : path_(std::move(path)), access_(access) {}

  /// Returns the header after the current HDU as text; empty at the end and for gzipped files.
  std::string next_header() const;
  /// Returns the type of a column as cfitsio calls it.
  int type_of(int column) const;
  void add_to_data_sum(std::uint32_t sum);
  void write_checksums() const;
  std::uint32_t data_sum(int hdu) const;
  /// Returns the places and sums of all HDUs.
  std::vector<WrittenHdu> written_hdus() const;

  std::string path_;
  fitsfile* file_ = nullptr;
  std::optional<InputStamp> stamp_{};  ///< when reading
  std::int64_t bytes_ = 0;             ///< size of the unpacked file, when reading
  bool is_packed_ = false;
  Access access_;
  std::vector<std::uint32_t> data_sums_{};  ///< of each HDU, when writing
};

}  // namespace ringweave::detail::inline io
