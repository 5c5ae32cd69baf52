// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "io/fits/checksum.hpp"
#include "io/fits/gzip.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline io {
namespace {

/// Returns cfitsio's name for `status` and its pending messages, oldest first.
std::string cfitsio_messages(int status) {
  std::array<char, FLEN_ERRMSG> line{};
  fits_get_errstatus(status, line.data());
  std::string text = fmt::format("cfitsio error {}: {}", status, line.data());
  for (int i = 0; i < 8 && fits_read_errmsg(line.data()) != 0; ++i)
    text += fmt::format("; {}", line.data());
  fits_clear_errmsg();
  return text;
}

/// Returns the value field of a header card: 'quoted text' with doubled quotes, or a bare number or
/// logical.
std::string value_text(std::string value) {
  if (value.size() >= 2 && value.front() == '\'') {
    value = value.substr(1, value.size() - (value.back() == '\'' ? 2 : 1));
    for (std::size_t i = value.find("''"); i != std::string::npos; i = value.find("''", i + 1))
      value.erase(i, 1);
  }
  const auto last = value.find_last_not_of(' ');
  value.erase(last == std::string::npos ? 0 : last + 1);
  value.erase(0, std::min(value.find_first_not_of(' '), value.size()));
  return printable(value);
}

std::string absolute_name(const std::string& path) {
  // cfitsio expands "~" and drops leading blanks; an absolute name has neither.
  std::string name = std::filesystem::absolute(path).string();
  if (name.size() >= FLEN_FILENAME) {
    throw UsageError(
        fmt::format("{}: the name has {} characters, FITS files may have {}; use a shorter folder",
                    path, name.size(), FLEN_FILENAME - 1));
  }
  return name;
}

/// Returns the first block of a header (36 cards), or as much of it as exists.
std::string header_block(const std::string& path, std::int64_t offset) {
  std::string block(2880, ' ');
  std::ifstream file(path, std::ios::binary);
  file.seekg(offset);
  file.read(block.data(), std::ssize(block));
  block.resize(static_cast<std::size_t>(file.gcount()));
  return block;
}

/// Checks that the keywords giving the size of an HDU are whole numbers, and counts not negative:
/// otherwise cfitsio 4.2 allocates memory by a count it never read.
void check_sizes(const std::string& where, const std::string& header) {
  static const std::regex size_card("(BITPIX|NAXIS[0-9]*|PCOUNT|GCOUNT|TFIELDS) *=(.*)",
                                    std::regex::optimize);
  static const std::regex whole_number(" *[-+]?[0-9]+ *(/.*)?");
  static const std::regex count(" *\\+?[0-9]+ *(/.*)?");
  std::smatch match;
  for (std::size_t begin = 0; begin + 80 <= header.size(); begin += 80) {
    const std::string card = header.substr(begin, 80);
    if (card.starts_with("END ")) return;
    if (!std::regex_match(card, match, size_card)) continue;
    const bool may_be_negative = match[1] == "BITPIX";
    if (!std::regex_match(match[2].str(), may_be_negative ? whole_number : count)) {
      throw DataError(where, "its header is damaged: " + printable(card));
    }
  }
}

bool is_gzip(const std::string& header) { return header.starts_with("\x1f\x8b"); }

void check_is_fits(const std::string& path, const std::string& header) {
  if (!header.starts_with("SIMPLE")) {
    throw DataError(path, "is not a FITS file (it does not begin with SIMPLE, nor is it gzipped)");
  }
  check_sizes(path, header);
}

}  // namespace

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return text;
}

FitsFile FitsFile::open(const std::string& path) {
  FitsFile result(path, Access::read);
  result.bytes_ = result.stamp_.emplace(path).size();
  const std::string header = header_block(path, 0);
  result.is_packed_ = is_gzip(header);
  if (result.is_packed_) {
    const std::int64_t available = available_bytes();
    result.bytes_ = gunzipped_bytes(path, available > 0 ? available / 2 : std::int64_t{1} << 32);
  } else {
    check_is_fits(path, header);
  }
  int status = 0;
  fits_open_diskfile(&result.file_, absolute_name(path).c_str(), READONLY, &status);
  if (status != 0)
    throw DataError(path, fmt::format("cannot be opened as FITS: {}", cfitsio_messages(status)));
  if (result.is_packed_) result.stamp_->require_same();
  return result;
}

FitsFile FitsFile::create(const std::string& path) {
  FitsFile result(path, Access::write);
  std::error_code ignored;
  const std::filesystem::file_status before = std::filesystem::symlink_status(path, ignored);
  std::filesystem::remove(path, ignored);
  int status = 0;
  fits_create_diskfile(&result.file_, absolute_name(path).c_str(), &status);
  result.check(status, "create it");
  if (std::filesystem::is_regular_file(before))
    std::filesystem::permissions(path, before.permissions(), ignored);
  return result;
}

FitsFile::~FitsFile() {
  if (file_ == nullptr) return;
  int status = 0;
  fits_close_file(file_, &status);
  fits_clear_errmsg();
}

void FitsFile::close() {
  std::vector<WrittenHdu> hdus;
  if (access_ == Access::write) {
    write_checksums();
    hdus = written_hdus();
  }
  int status = 0;
  fits_close_file(std::exchange(file_, nullptr), &status);
  check(status, "write and close it");
  if (access_ == Access::write) verify_checksums(path_, hdus);
}

void FitsFile::check(int status, const std::string& doing) const {
  if (status <= 0) return;
  int hdu = 0;
  if (file_ != nullptr) fits_get_hdu_num(file_, &hdu);
  const std::string where = hdu == 0 ? path_ : fmt::format("{}, HDU {}", path_, hdu);
  const std::string message = fmt::format("cannot {}: {}", doing, cfitsio_messages(status));
  if (status == MEMORY_ALLOCATION) throw ResourceError(where + ": " + message);
  if (access_ == Access::read) throw DataError(where, message);
  throw ResourceError(where + ": " + message + "; is the disk full?");
}

void FitsFile::require_same() const {
  if (stamp_ && !is_packed_) stamp_->require_same();
}

void FitsFile::fail(const std::string& message) const {
  int hdu = 0;
  fits_get_hdu_num(file_, &hdu);
  throw DataError(fmt::format("{}, HDU {}", path_, hdu), message);
}

std::string FitsFile::next_header() const {
  if (is_packed_) return {};
  int status = 0;
  LONGLONG end = 0;
  fits_get_hduaddrll(file_, nullptr, nullptr, &end, &status);
  check(status, "find the end of the HDU");
  return header_block(path_, end);
}

std::optional<FitsHdu> FitsFile::go_to(int hdu) {
  int present = 0;
  fits_get_hdu_num(file_, &present);
  const std::string header = hdu == present + 1 ? next_header() : std::string();
  check_sizes(fmt::format("{}, HDU {}", path_, hdu), header);
  int type = 0;
  int status = 0;
  fits_movabs_hdu(file_, hdu, &type, &status);
  // Anything may follow the last HDU, but an HDU that begins must be complete.
  if (status == END_OF_FILE && !header.starts_with("XTENSION")) {
    fits_clear_errmsg();
    return std::nullopt;
  }
  check(status, fmt::format("read the header of HDU {}", hdu));
  if (type == BINARY_TBL) return FitsHdu::binary_table;
  return type == ASCII_TBL ? FitsHdu::ascii_table : FitsHdu::image;
}

std::optional<std::string> FitsFile::text(const std::string& keyword) const {
  std::array<char, FLEN_VALUE> value{};
  int status = 0;
  fits_read_keyword(file_, keyword.c_str(), value.data(), nullptr, &status);
  if (status == KEY_NO_EXIST || status == VALUE_UNDEFINED) {
    fits_clear_errmsg();
    return std::nullopt;
  }
  check(status, "read keyword " + keyword);
  return value_text(value.data());
}

std::optional<double> FitsFile::real(const std::string& keyword) const {
  std::optional<std::string> found = text(keyword);
  if (!found || found->empty()) return std::nullopt;
  std::replace_if(
      found->begin(), found->end(), [](char c) { return c == 'D' || c == 'd'; }, 'E');
  const char* begin = found->data() + (found->front() == '+' ? 1 : 0);
  const char* end = found->data() + found->size();
  double value = 0;
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc{} || stop != end)
    fail(fmt::format("{} = '{}' is not a number", keyword, *found));
  return value;
}

std::optional<std::int64_t> FitsFile::integer(const std::string& keyword) const {
  const std::optional<double> value = real(keyword);
  if (!value) return std::nullopt;
  // Every valid count in a header is far below 2^53, where doubles are exact.
  if (std::abs(*value) > 9e15 || std::floor(*value) != *value) {
    fail(fmt::format("{} = {} is not a whole number of reasonable size", keyword, *value));
  }
  return static_cast<std::int64_t>(*value);
}

namespace {

FitsColumn::Number number_kind(int typecode) {
  switch (typecode) {
    case TFLOAT:
    case TDOUBLE: return FitsColumn::Number::real;
    case TBYTE:
    case TSBYTE:
    case TSHORT:
    case TUSHORT:
    case TINT:
    case TUINT:
    case TLONG:
    case TULONG:
    case TLONGLONG:
    case TULONGLONG: return FitsColumn::Number::integer;
    case TLOGICAL: return FitsColumn::Number::logical;
    default: return FitsColumn::Number::other;
  }
}

}  // namespace

FitsTableShape FitsFile::table() const {
  FitsTableShape shape;
  int status = 0;
  int n_columns = 0;
  LONGLONG rows = 0;
  LONGLONG data_begin = 0;
  fits_get_num_rowsll(file_, &rows, &status);
  fits_get_num_cols(file_, &n_columns, &status);
  fits_get_hduaddrll(file_, nullptr, &data_begin, nullptr, &status);
  check(status, "read the shape of the table");
  const std::int64_t row_bytes = integer("NAXIS1").value_or(0);
  std::int64_t end = 0;
  const bool overflow = rows < 0 || row_bytes < 0 ||
                        __builtin_mul_overflow(std::int64_t{rows}, row_bytes, &end) ||
                        __builtin_add_overflow(end, std::int64_t{data_begin}, &end);
  if (overflow || end > bytes_) {
    fail(
        fmt::format("the header promises {} rows of {} bytes from byte {} on, the file ends at "
                    "byte {}: it was cut short "
                    "or its header is damaged",
                    rows, row_bytes, data_begin, bytes_));
  }
  shape.rows = rows;
  for (int number = 1; number <= n_columns; ++number) {
    FitsColumn column;
    int type = 0;
    LONGLONG repeat = 0;
    LONGLONG width = 0;
    fits_get_coltypell(file_, number, &type, &repeat, &width, &status);
    check(status, fmt::format("read the type of column {}", number));
    column.number = number;
    column.name = text(fmt::format("TTYPE{}", number)).value_or("");
    column.unit = text(fmt::format("TUNIT{}", number)).value_or("");
    column.kind = number_kind(type);
    column.has_null = column.kind == FitsColumn::Number::integer &&
                      text(fmt::format("TNULL{}", number)).has_value();
    column.is_scaled = is_scaled(fmt::format("TSCAL{}", number), fmt::format("TZERO{}", number));
    column.repeat = repeat;
    column.bytes = checked_cast<int>(width, "column width");
    shape.columns.push_back(column);
  }
  return shape;
}

bool FitsFile::is_scaled(const std::string& factor, const std::string& offset) const {
  constexpr double largest_offset = 1 << 15;  // that of unsigned integers
  const double zero = real(offset).value_or(0);
  return real(factor).value_or(1) != 1 || zero != std::trunc(zero) ||
         std::abs(zero) > largest_offset;
}

void FitsFile::read(const FitsColumn& column, std::int64_t first, std::span<double> values) const {
  if (values.empty()) return;
  const LONGLONG row = first / column.repeat + 1;
  const LONGLONG element = first % column.repeat + 1;
  const auto count = static_cast<LONGLONG>(values.size());
  int any_null = 0;
  int status = 0;
  if (column.kind == FitsColumn::Number::logical) {
    std::vector<char> block(values.size());
    fits_read_col_log(file_, column.number, row, element, count, 0, block.data(), &any_null,
                      &status);
    std::copy(block.begin(), block.end(), values.begin());
  } else {
    // With a null value of 0 cfitsio does not look for nulls, so NaN stays NaN.
    fits_read_col_dbl(file_, column.number, row, element, count, column.has_null ? unseen : 0.0,
                      values.data(), &any_null, &status);
  }
  check(status,
        fmt::format("read column {} ({}) from element {}", column.number, column.name, first));
}

void FitsFile::read(const FitsColumn& column, std::int64_t first,
                    std::span<std::int64_t> values) const {
  if (values.empty()) return;
  static_assert(sizeof(LONGLONG) == sizeof(std::int64_t));
  std::vector<LONGLONG> block(values.size());
  int any_null = 0;
  int status = 0;
  fits_read_col_lnglng(file_, column.number, first / column.repeat + 1, first % column.repeat + 1,
                       static_cast<LONGLONG>(values.size()), 0, block.data(), &any_null, &status);
  check(status,
        fmt::format("read column {} ({}) from element {}", column.number, column.name, first));
  std::copy(block.begin(), block.end(), values.begin());
}

void FitsFile::write(int column, std::int64_t repeat, std::int64_t first,
                     std::span<const double> values) {
  if (values.empty()) return;
  add_to_data_sum(type_of(column) == TFLOAT ? sum_of_words<float>(values)
                                            : sum_of_words<double>(values));
  int status = 0;
  // cfitsio only reads this argument but does not declare it const.
  fits_write_col_dbl(file_, column, first / repeat + 1, first % repeat + 1,
                     static_cast<LONGLONG>(values.size()), const_cast<double*>(values.data()),
                     &status);
  check(status, fmt::format("write column {} from element {}", column, first));
}

void FitsFile::write(int column, std::int64_t repeat, std::int64_t first,
                     std::span<const std::int64_t> values) {
  if (values.empty()) return;
  add_to_data_sum(type_of(column) == TLONGLONG ? sum_of_words<std::int64_t>(values)
                                               : sum_of_words<std::int32_t>(values));
  std::vector<LONGLONG> block(values.begin(), values.end());
  int status = 0;
  fits_write_col_lnglng(file_, column, first / repeat + 1, first % repeat + 1,
                        static_cast<LONGLONG>(values.size()), block.data(), &status);
  check(status, fmt::format("write column {} from element {}", column, first));
}

int FitsFile::type_of(int column) const {
  int type = 0;
  int status = 0;
  fits_get_coltype(file_, column, &type, nullptr, nullptr, &status);
  check(status, fmt::format("find the type of column {}", column));
  return type;
}

void FitsFile::add_to_data_sum(std::uint32_t sum) {
  int hdu = 0;
  fits_get_hdu_num(file_, &hdu);
  data_sums_.resize(std::max(data_sums_.size(), to_size(hdu)));
  std::uint32_t& so_far = data_sums_[to_size(hdu - 1)];
  so_far = ones_complement(std::uint64_t{so_far} + sum);
}

void FitsFile::write_checksums() const {
  int n_hdus = 0;
  int status = 0;
  fits_get_num_hdus(file_, &n_hdus, &status);
  for (int hdu = 1; hdu <= n_hdus; ++hdu) {
    fits_movabs_hdu(file_, hdu, nullptr, &status);
    check(status, "write its checksum");
    put_checksum(*this, data_sum(hdu));
  }
}

std::uint32_t FitsFile::data_sum(int hdu) const {
  return to_size(hdu) <= data_sums_.size() ? data_sums_[to_size(hdu - 1)] : 0;
}

std::vector<WrittenHdu> FitsFile::written_hdus() const {
  std::vector<WrittenHdu> hdus;
  int n_hdus = 0;
  int status = 0;
  fits_get_num_hdus(file_, &n_hdus, &status);
  for (int hdu = 1; hdu <= n_hdus && status == 0; ++hdu) {
    LONGLONG begin = 0;
    LONGLONG data_begin = 0;
    LONGLONG end = 0;
    fits_movabs_hdu(file_, hdu, nullptr, &status);
    fits_get_hduaddrll(file_, &begin, &data_begin, &end, &status);
    hdus.push_back({begin, data_begin, end, data_sum(hdu)});
  }
  check(status, "find the places of its HDUs");
  return hdus;
}

void FitsFile::require_single(std::span<const double> values) const {
  constexpr double largest = std::numeric_limits<float>::max();
  for (const double value : values) {
    if (std::isfinite(value) && std::abs(value) > largest) {
      fail(
          fmt::format("the value {} does not fit single precision; write double precision", value));
    }
  }
}

}  // namespace ringweave::detail::inline io
