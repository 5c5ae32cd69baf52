// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "io/file_origin.hpp"
#include "io/fits/checksum.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::size_t longest_plain_text = 68;
constexpr std::size_t longest_name = 8;
constexpr std::size_t line_begins = 8;
constexpr std::size_t longest_line = 72;
constexpr std::string_view continued = "& ";  ///< begins a card that goes on from the last
constexpr int most_cards = 10000;

/// HISTORY or COMMENT, cards of which make one text.
enum class LineKind { history, comment };

/// Writes one line on as many cards as it takes: read_origin() joins them.
void put_line(const FitsFile& file, LineKind kind, const std::string& text) {
  std::string rest = printable(text);
  std::string begin;
  int status = 0;
  do {
    std::size_t length = std::min(rest.size(), longest_line - begin.size());
    // A blank at the end of a card would be lost.
    while (length < rest.size() && length > 1 && rest[length - 1] == ' ') --length;
    const std::string card = begin + rest.substr(0, length);
    kind == LineKind::history ? fits_write_history(file.handle(), card.c_str(), &status)
                              : fits_write_comment(file.handle(), card.c_str(), &status);
    rest.erase(0, length);
    begin = continued;
  } while (!rest.empty());
  file.check(status, kind == LineKind::history ? "write HISTORY" : "write COMMENT");
}

/// Adds the line of a card to those before, or to the last of them.
void add_line(const std::string& card, std::vector<std::string>& lines) {
  const std::string line = printable(card.substr(line_begins));
  if (line.starts_with(continued) && !lines.empty()) {
    lines.back() += line.substr(continued.size());
  } else {
    lines.push_back(line);
  }
}

/// Returns true if cfitsio wrote the comment: on FITS itself, and on long texts.
bool is_of_cfitsio(const std::string& card) {
  constexpr std::array<std::string_view, 7> begins{
      "  FITS (Flexible Image Transport System)",
      "  and Astrophysics', volume 376",
      "  This FITS file may contain long string",
      "  continued over multiple keywords",
      "  character at the end of each substring",
      "  on the next keyword which has the name CONTINUE",
      "  The OGIP Long String Convention"};
  return std::any_of(begins.begin(), begins.end(), [&](std::string_view begin) {
    return card.compare(line_begins, begin.size(), begin) == 0;
  });
}

}  // namespace

void put_text(const FitsFile& file, const char* keyword, const std::string& value,
              const char* comment) {
  const std::string text = printable(value);
  int status = 0;
  if (text.size() > longest_plain_text) {
    fits_write_key_longwarn(file.handle(), &status);
    fits_write_key_longstr(file.handle(), keyword, text.c_str(), comment, &status);
  } else {
    fits_write_key_str(file.handle(), keyword, text.c_str(), comment, &status);
  }
  file.check(status, std::string("write keyword ") + keyword);
}

void put_integer(const FitsFile& file, const char* keyword, std::int64_t value,
                 const char* comment) {
  int status = 0;
  fits_write_key_lng(file.handle(), keyword, value, comment, &status);
  file.check(status, std::string("write keyword ") + keyword);
}

void put_real(const FitsFile& file, const char* keyword, double value, const char* comment) {
  constexpr int significant_digits = -15;
  int status = 0;
  fits_write_key_dbl(file.handle(), keyword, value, significant_digits, comment, &status);
  file.check(status, std::string("write keyword ") + keyword);
}

void put_logical(const FitsFile& file, const char* keyword, bool value, const char* comment) {
  int status = 0;
  fits_write_key_log(file.handle(), keyword, value ? 1 : 0, comment, &status);
  file.check(status, std::string("write keyword ") + keyword);
}

namespace {

void put_keyword(const FitsFile& file, const Keyword& keyword) {
  const char* name = keyword.name.c_str();
  const char* comment = keyword.comment.c_str();
  if (const auto* text = std::get_if<std::string>(&keyword.value))
    put_text(file, name, *text, comment);
  if (const auto* whole = std::get_if<std::int64_t>(&keyword.value))
    put_integer(file, name, *whole, comment);
  if (const auto* number = std::get_if<double>(&keyword.value))
    put_real(file, name, *number, comment);
  if (const auto* logical = std::get_if<bool>(&keyword.value))
    put_logical(file, name, *logical, comment);
}

/// Returns the text between the quotes of a value, of which two stand for one.
std::string unquoted(const std::string& value) {
  std::string text;
  for (std::size_t i = 1; i < value.size(); ++i) {
    if (value[i] == '\'' && (++i >= value.size() || value[i] != '\'')) break;
    text += value[i];
  }
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

/// Returns the logical value or number of a value without quotes; text where it is neither.
std::variant<std::string, std::int64_t, double, bool> parsed(const std::string& value) {
  if (value == "T" || value == "F") return value == "T";
  std::string number = value.substr(value.starts_with('+') ? 1 : 0);
  std::replace(number.begin(), number.end(), 'D', 'E');
  const char* end = number.data() + number.size();
  std::int64_t whole = 0;
  if (const auto read = std::from_chars(number.data(), end, whole);
      read.ec == std::errc{} && read.ptr == end)
    return whole;
  double real = 0;
  if (const auto read = std::from_chars(number.data(), end, real);
      read.ec == std::errc{} && read.ptr == end && std::isfinite(real))
    return real;
  return printable(value);
}

/// FWHM in degrees, whatever unit its comment names.
void to_degrees(Keyword& keyword) {
  double value = 0;
  if (const auto* number = std::get_if<double>(&keyword.value)) value = *number;
  if (const auto* whole = std::get_if<std::int64_t>(&keyword.value))
    value = static_cast<double>(*whole);
  if (keyword.comment.find("arcmin") != std::string::npos) value /= 60;
  if (keyword.comment.find("arcsec") != std::string::npos) value /= 3600;
  if (keyword.comment.find("rad") != std::string::npos) value *= 180 / std::numbers::pi;
  keyword = {keyword.name, value, "[deg] Gaussian beam"};
}

/// Returns the keyword of card number i, with the CONTINUE cards after it; empty where it has no
/// value or describes the file alone.
std::optional<Keyword> keyword_of(const std::vector<std::string>& cards, std::size_t i) {
  std::array<char, FLEN_CARD> card{};
  std::array<char, FLEN_KEYWORD> name{};
  std::array<char, FLEN_VALUE> value{};
  std::array<char, FLEN_COMMENT> comment{};
  int length = 0;
  int status = 0;
  std::copy_n(cards[i].begin(), std::min(cards[i].size(), card.size() - 1), card.begin());
  fits_get_keyname(card.data(), name.data(), &length, &status);
  fits_parse_value(card.data(), value.data(), comment.data(), &status);
  if (status != 0 || value[0] == '\0' || describes_its_file(name.data())) {
    fits_clear_errmsg();
    return std::nullopt;
  }
  Keyword keyword{printable(name.data()), {}, printable(comment.data())};
  if (value[0] != '\'') {
    keyword.value = parsed(value.data());
  } else {
    std::string text = unquoted(value.data());
    while (text.ends_with('&') && i + 1 < cards.size() && cards[i + 1].starts_with("CONTINUE")) {
      const std::string& next = cards[++i];
      text.pop_back();
      const std::size_t quote = next.find('\'');
      if (quote != std::string::npos) text += unquoted(next.substr(quote));
    }
    keyword.value = printable(text);
  }
  if (keyword.name == "FWHM") to_degrees(keyword);
  return keyword;
}

/// Returns true if FITS takes the name, and it is no keyword with which FITS describes the table.
bool is_free(const std::string& name) {
  const bool is_valid =
      !name.empty() && name.size() <= longest_name &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
      });
  std::string card = fmt::format("{:<8}= 1", name);
  const int kind = fits_get_keyclass(card.data());
  return is_valid && (kind == TYP_USER_KEY || kind == TYP_REFSYS_KEY);
}

}  // namespace

FileOrigin read_origin(const FitsFile& file) {
  FileOrigin origin;
  std::vector<std::string> cards;
  int n_cards = 0;
  int status = 0;
  fits_get_hdrspace(file.handle(), &n_cards, nullptr, &status);
  for (int i = 1; i <= std::min(n_cards, most_cards) && status == 0; ++i) {
    std::array<char, FLEN_CARD> card{};
    fits_read_record(file.handle(), i, card.data(), &status);
    if (status == 0) cards.emplace_back(card.data());
  }
  fits_clear_errmsg();
  for (std::size_t i = 0; i < cards.size(); ++i) {
    std::string card = cards[i];
    if (card.starts_with("HISTORY ")) add_line(card, origin.history);
    if (card.starts_with("COMMENT ") && !is_of_cfitsio(card)) add_line(card, origin.comments);
    const int kind = fits_get_keyclass(card.data());
    if (kind != TYP_USER_KEY && kind != TYP_REFSYS_KEY) continue;
    if (std::optional<Keyword> keyword = keyword_of(cards, i))
      origin.keywords.push_back(std::move(*keyword));
  }
  return origin;
}

void put_provenance(const FitsFile& file, const Provenance& provenance) {
  put_text(file, "CREATOR", provenance.creator, "program that wrote this file");
  if (!provenance.version.empty()) put_text(file, "VERSION", provenance.version, "of the program");
  if (!provenance.date.empty()) put_text(file, "DATE", provenance.date, "UTC");
  for (const Keyword& keyword : keywords_of(provenance)) {
    if (is_free(keyword.name)) {
      put_keyword(file, keyword);
    } else {
      put_line(file, LineKind::history, keyword.name + " = " + text_of_value(keyword));
    }
  }
  for (const std::string& line : history_of(provenance)) put_line(file, LineKind::history, line);
  if (!provenance.config_json.empty())
    put_line(file, LineKind::history, "configuration: " + provenance.config_json);
  for (const std::string& line : provenance.origin.comments)
    put_line(file, LineKind::comment, line);
}

void append_table(const FitsFile& file, const std::string& extension_name, std::int64_t rows,
                  const std::vector<FitsColumnSpec>& columns) {
  // cfitsio takes char* arrays that it only reads.
  std::vector<char*> names;
  std::vector<char*> formats;
  std::vector<char*> units;
  std::vector<FitsColumnSpec> texts = columns;
  for (FitsColumnSpec& column : texts) {
    column.name = printable(column.name);
    column.unit = printable(column.unit);
    names.push_back(column.name.data());
    formats.push_back(column.format.data());
    units.push_back(column.unit.data());
  }
  int status = 0;
  fits_create_tbl(file.handle(), BINARY_TBL, rows,
                  checked_cast<int>(columns.size(), "columns of a FITS table"), names.data(),
                  formats.data(), units.data(), extension_name.c_str(), &status);
  file.check(status, "append a table");
  reserve_checksum(file);
}

}  // namespace ringweave::detail::inline io
