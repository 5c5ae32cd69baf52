// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/written_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <vector>

#include "io/file_kind.hpp"
#include "io/fits/file.hpp"
#include "io/fits/header.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/input_file.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

using State = WrittenFile::State;

WrittenFile broken(const std::string& why) { return {State::broken, why}; }
WrittenFile foreign(const std::string& why) { return {State::foreign, why}; }

/// Returns what a DataError says, without the name of the file before it.
std::string reason_of(const DataError& error, const std::string& path) {
  const std::string text = error.what();
  const std::string name = path + ": ";
  return text.starts_with(name) ? text.substr(name.size()) : text;
}

std::string first_bytes(const std::string& path) {
  std::string bytes(8, ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), std::ssize(bytes));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

/// Returns the end of the last line that begins with these words; empty without one.
std::string last_line(const std::vector<std::string>& lines, std::string_view words) {
  const auto found = std::find_if(lines.rbegin(), lines.rend(),
                                  [&](const std::string& line) { return line.starts_with(words); });
  return found == lines.rend() ? "" : found->substr(words.size());
}

/// Returns a file of `creator`, which states this configuration.
WrittenFile stated(const std::string& creator, const std::string& config_json,
                   const std::string& input) {
  if (creator != Provenance().creator)
    return foreign(creator.empty() ? "does not say who wrote it" : "was written by " + creator);
  if (config_json.empty()) return foreign("does not state the options that it was made with");
  return {State::own, "", config_json, input};
}

WrittenFile of_hdf5(const std::string& path) {
  const auto [creator, config_json, input] = read_apart(path, [&] {
    const Hdf5Handle file = open_hdf5(path);
    const Hdf5AttributeReader root(file, path);
    return std::array{root.text_or_empty("creator"), root.text_or_empty("config_json"),
                      root.text_or_empty("input")};
  });
  return stated(creator, config_json, input);
}

WrittenFile of_fits(const std::string& path) {
  FitsFile file = FitsFile::open(path);
  int n_hdus = 0;
  std::string creator;
  for (int hdu = 1; hdu <= FitsFile::most_hdus && file.go_to(hdu); ++hdu) {
    ++n_hdus;
    creator = file.text("CREATOR").value_or("");
    if (creator.empty()) continue;
    const std::vector<std::string> history = read_origin(file).history;
    return stated(creator, last_line(history, "configuration: "), last_line(history, "input: "));
  }
  if (n_hdus == 1) return broken("ends after its first header");
  return stated("", "", "");
}

WrittenFile of_coefficients(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text;
  std::getline(file, text);
  if (!text.starts_with("written by " + Provenance().creator + ' '))
    return foreign("was not written by " + Provenance().creator);
  std::int64_t max_degree = -1;
  std::int64_t last = -2;
  bool is_complete = false;
  while (std::getline(file, text)) {
    is_complete = !file.eof();  // the line has an end
    std::istringstream words(text);
    std::string key;
    words >> key;
    if (key == "max_degree") words >> max_degree;
    if (key == "gfc") words >> last;
  }
  if (!is_complete || last != max_degree) return broken("ends before its last coefficient");
  return {State::own};
}

}  // namespace

WrittenFile inspect_written_file(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == 0 && !error) return broken("is empty");
  check_input_file(path);
  const std::string begin = first_bytes(path);
  if (begin.find_first_not_of('\0') == std::string::npos) return broken("begins with zeros");
  const FileKind kind = file_kind(path);
  try {
    switch (kind) {
      case FileKind::hdf5:
      case FileKind::netcdf:
        if (!begin.starts_with("\x89HDF")) return foreign("is not HDF5, as its name says");
        return of_hdf5(path);
      case FileKind::fits:
        if (!begin.starts_with("SIMPLE") && !begin.starts_with("\x1f\x8b"))
          return foreign("is not FITS, as its name says");
        return of_fits(path);
      case FileKind::coefficients: return of_coefficients(path);
      case FileKind::text:
      case FileKind::picture: break;
    }
  } catch (const DataError& damage) {
    return broken(reason_of(damage, path));
  }
  return foreign("is of a kind that holds no maps or a_lm");
}

}  // namespace ringweave::detail::inline io
