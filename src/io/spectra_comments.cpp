// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/spectra_comments.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "io/file_origin.hpp"
#include "io/header_json.hpp"
#include "io/keywords.hpp"

namespace ringweave::detail::inline io {
namespace {

bool is_letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }

// Beginnings of comments that state the origin.
constexpr std::string_view history_mark = " HISTORY ";
constexpr std::string_view keyword_mark = " KEYWORD ";
constexpr std::string_view comment_mark = " COMMENT ";
constexpr std::string_view command_mark = " command:";  // version 0.1

bool is_of_origin(const std::string& comment) {
  return comment.starts_with(history_mark) || comment.starts_with(keyword_mark) ||
         comment.starts_with(comment_mark) || comment.starts_with(command_mark);
}

/// Returns the comment without blanks, signs of multiplication and LaTeX's backslashes.
std::string packed(const std::string& comment) {
  std::string text;
  for (const char c : comment) {
    if (std::isspace(static_cast<unsigned char>(c)) == 0 && c != '*' && c != '\\') text += c;
  }
  return text;
}

/// Returns where the comment names C_l or D_l, by the letter; npos where it does not: D_l, Dl,
/// D_ell, D_L as a word or before a spectrum's name (DlTT).
std::size_t place_of_spectrum(const std::string& comment, char letter) {
  for (std::size_t at = comment.find(letter); at != std::string::npos;
       at = comment.find(letter, at + 1)) {
    if (at > 0 && std::isalnum(static_cast<unsigned char>(comment[at - 1])) != 0) continue;
    std::size_t next = at + 1;
    while (next < comment.size() &&
           (comment[next] == '_' || comment[next] == '{' || comment[next] == '\\'))
      ++next;
    if (comment.compare(next, 3, "ell") == 0) {
      next += 3;
    } else if (next < comment.size() && (comment[next] == 'l' || comment[next] == 'L')) {
      next += 1;
    } else {
      continue;
    }
    if (next >= comment.size() || std::islower(static_cast<unsigned char>(comment[next])) == 0)
      return at;
  }
  return std::string::npos;
}

/// Returns true if one comment says D_l, false if C_l; nothing where it says neither, as a formula
/// for C_l by D_l.
std::optional<bool> says_d_l(const std::string& comment) {
  const std::size_t c_l = place_of_spectrum(comment, 'C');
  const std::size_t d_l = place_of_spectrum(comment, 'D');
  if (d_l != std::string::npos) return d_l < c_l ? std::optional(true) : std::nullopt;
  const std::string text = packed(comment);
  if (text.find("l(l+1)") != std::string::npos || text.find("L(L+1)") != std::string::npos ||
      text.find("ell(ell+1)") != std::string::npos)
    return true;
  return c_l == std::string::npos ? std::nullopt : std::optional(false);
}

/// Returns the unit in one comment, empty without.
std::string unit_in(std::string text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> spellings{
      {{"\\mu", "u"},
       {"\xc2\xb5", "u"},
       {"\xce\xbc", "u"},
       {"microK", "uK"},
       {"muK", "uK"},
       {"\xc2\xb2", "^2"},
       {"**", "^"},
       {"{", ""},
       {"}", ""}}};
  for (const auto& [from, to] : spellings) replace_all(text, from, to);
  replace_all(text, "u K", "uK");
  for (std::size_t at = text.find('K'); at != std::string::npos; at = text.find('K', at + 1)) {
    std::size_t begin = at;
    if (begin > 0 && std::string_view("umnp").find(text[begin - 1]) != std::string_view::npos)
      --begin;
    if (begin > 0 && is_letter(text[begin - 1])) continue;
    std::size_t end = at + 1;
    while (end < text.size() && (is_letter(text[end]) || text[end] == '_')) ++end;
    const std::string unit = text.substr(begin, end - begin);
    if (end < text.size() && text[end] == ')') ++end;
    if (text.compare(end, 2, "^2") == 0) return unit + "^2";
  }
  return {};
}

}  // namespace

std::string in_one_line(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; }, ' ');
  return text;
}

std::string marked(std::string_view mark, std::string text) {
  return std::string(mark) + in_one_line(std::move(text));
}

std::vector<std::string> comments_of(const Provenance& provenance) {
  std::vector<std::string> comments;
  for (const std::string& line : history_of(provenance))
    comments.push_back(marked(history_mark, line));
  for (const Keyword& keyword : keywords_of(provenance)) {
    comments.push_back(
        marked(keyword_mark, keyword.name + " = " + json_text(nlohmann::json(keyword.value))));
  }
  for (const std::string& line : provenance.origin.comments)
    comments.push_back(marked(comment_mark, line));
  return comments;
}

FileOrigin origin_in(const std::vector<std::string>& comments) {
  FileOrigin origin;
  constexpr std::string_view equals = " = ";
  for (std::string comment : comments) {
    if (comment.ends_with('\r')) comment.pop_back();
    if (comment.starts_with(history_mark))
      origin.history.push_back(comment.substr(history_mark.size()));
    if (comment.starts_with(comment_mark))
      origin.comments.push_back(comment.substr(comment_mark.size()));
    const std::size_t at = comment.find(equals);
    if (!comment.starts_with(keyword_mark) || at == std::string::npos || at <= keyword_mark.size())
      continue;
    const auto value = nlohmann::json::parse(comment.substr(at + equals.size()), nullptr, false);
    if (!value.is_primitive() || value.is_null() || value.is_discarded()) continue;
    const std::string name = comment.substr(keyword_mark.size(), at - keyword_mark.size());
    if (describes_its_file(name)) continue;
    origin.keywords.push_back({name, value.get<decltype(Keyword::value)>(), {}});
  }
  return origin;
}

std::optional<bool> stated_d_l(const std::vector<std::string>& comments) {
  std::optional<bool> stated;
  for (const std::string& comment : comments) {
    if (is_of_origin(comment)) continue;
    const std::optional<bool> says = says_d_l(comment);
    if (says == true) return true;
    if (says) stated = says;
  }
  return stated;
}

std::string stated_unit(const std::vector<std::string>& comments) {
  for (const std::string& comment : comments) {
    if (is_of_origin(comment)) continue;
    if (std::string unit = unit_in(comment); !unit.empty()) return unit;
  }
  return {};
}

}  // namespace ringweave::detail::inline io
