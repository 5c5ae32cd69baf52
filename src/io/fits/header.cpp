// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/header.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "io/file_origin.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::size_t longest_plain_text = 68;
constexpr std::size_t history_begins = 8;
constexpr std::size_t full_card = 80;

void put_history(const FitsFile& file, const std::string& text) {
  int status = 0;
  fits_write_history(file.handle(), printable(text).c_str(), &status);
  file.check(status, "write HISTORY");
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

/// Returns the keyword of a card; empty where it has no value or describes the file alone.
std::optional<Keyword> keyword_of(const FitsFile& file, char* card) {
  std::array<char, FLEN_KEYWORD> name{};
  std::array<char, FLEN_VALUE> value{};
  std::array<char, FLEN_COMMENT> comment{};
  int length = 0;
  int status = 0;
  char type = 0;
  fits_get_keyname(card, name.data(), &length, &status);
  fits_parse_value(card, value.data(), comment.data(), &status);
  if (status == 0 && value[0] != '\0') fits_get_keytype(value.data(), &type, &status);
  if (status != 0 || type == 0 || describes_its_file(name.data())) {
    fits_clear_errmsg();
    return std::nullopt;
  }
  Keyword keyword{name.data(), {}, printable(comment.data())};
  const std::string text = file.text(keyword.name).value_or("");
  std::int64_t whole = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), whole);
  if (type == 'L') {
    keyword.value = text.starts_with('T');
  } else if (type == 'I' && parsed.ec == std::errc{}) {
    keyword.value = whole;
  } else if (type == 'I' || type == 'F') {
    keyword.value = file.real(keyword.name).value_or(0.0);
  } else {
    keyword.value = text;
  }
  return keyword;
}

}  // namespace

FileOrigin read_origin(const FitsFile& file) {
  FileOrigin origin;
  int n_cards = 0;
  int status = 0;
  fits_get_hdrspace(file.handle(), &n_cards, nullptr, &status);
  bool continues = false;
  for (int i = 1; i <= n_cards; ++i) {
    std::array<char, FLEN_CARD> card{};
    fits_read_record(file.handle(), i, card.data(), &status);
    if (status != 0) break;
    const std::string text = printable(card.data());
    if (text.starts_with("HISTORY")) {
      const std::string line = text.substr(std::min(text.size(), history_begins));
      // A line that fills its card goes on in the next.
      if (continues) {
        origin.history.back() += line;
      } else {
        origin.history.push_back(line);
      }
      continues = text.size() == full_card;
    } else if (fits_get_keyclass(card.data()) == TYP_USER_KEY) {
      if (std::optional<Keyword> keyword = keyword_of(file, card.data()))
        origin.keywords.push_back(std::move(*keyword));
    }
  }
  fits_clear_errmsg();
  return origin;
}

void put_provenance(const FitsFile& file, const Provenance& provenance) {
  put_text(file, "CREATOR", provenance.creator, "program that wrote this file");
  if (!provenance.version.empty()) put_text(file, "VERSION", provenance.version, "of the program");
  if (!provenance.date.empty()) put_text(file, "DATE", provenance.date, "UTC");
  for (const Keyword& keyword : keywords_of(provenance)) put_keyword(file, keyword);
  for (const std::string& line : history_of(provenance)) put_history(file, line);
  if (!provenance.config_json.empty())
    put_history(file, "configuration: " + provenance.config_json);
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
}

}  // namespace ringweave::detail::inline io
