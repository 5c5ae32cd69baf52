// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/number_list.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <sstream>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/file_kind.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/file.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/input_file.hpp"
#include "io/text_table.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

// More are probably a typing error, and would need memory.
constexpr std::int64_t most_numbers = 1'000'000;

template <class Number>
Number parse_one(const std::string& word, const std::string& text, const std::string& option) {
  const std::size_t begin = word.find_first_not_of(' ');
  Number value = 0;
  const char* first = word.data() + (begin == std::string::npos ? word.size() : begin);
  const char* end = word.data() + word.size();
  const auto [rest, error] = std::from_chars(first, end, value);
  if (error == std::errc() && rest == end) return value;
  throw UsageError(fmt::format(
      "{} {}: '{}' is no number; expected numbers such as 0.1,0.2 or A:B:N", option, text, word));
}

std::vector<std::string> words_of(const std::string& text, char separator) {
  std::vector<std::string> words;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, separator);) words.push_back(part);
  if (text.empty() || text.back() == separator) words.emplace_back();
  return words;
}

std::vector<double> equally_spaced(const std::string& text, const std::string& option) {
  const std::vector<std::string> words = words_of(text, ':');
  if (words.size() != 3) {
    throw UsageError(fmt::format(
        "{} {}: expected A:B:N, e.g. 0.1:0.7:35 for 35 numbers from 0.1 to 0.7", option, text));
  }
  const auto first = parse_one<double>(words[0], text, option);
  const auto last = parse_one<double>(words[1], text, option);
  const auto count = parse_one<std::int64_t>(words[2], text, option);
  if (count < 1 || count > most_numbers || (count == 1 && first != last)) {
    throw UsageError(fmt::format("{} {}: expected from 2 to {} numbers between A and B", option,
                                 text, most_numbers));
  }
  std::vector<double> numbers;
  for (std::int64_t i = 0; i + 1 < count; ++i) {
    const double part = static_cast<double>(i) / static_cast<double>(count - 1);
    numbers.push_back(first + part * (last - first));
  }
  numbers.push_back(last);
  return numbers;
}

/// A file and a data set of it, which may be empty.
struct FileName {
  std::string path;
  std::string dataset;
};

FileName split(const std::string& name) {
  const std::size_t colon = name.rfind(':');
  if (colon == std::string::npos || !is_hdf5_name(name.substr(0, colon))) return {name, {}};
  return {name.substr(0, colon), name.substr(colon + 1)};
}

std::vector<double> read_text(const std::string& path) {
  const TextTable table = read_text_table(path);
  if (table.n_columns() != 1) {
    throw DataError(path, fmt::format("line {}: has {} numbers; expected one on each line",
                                      table.line_numbers.front(), table.n_columns()));
  }
  std::vector<double> numbers;
  for (const std::vector<double>& row : table.rows) numbers.push_back(row.front());
  return numbers;
}

std::vector<double> read_hdf5(const FileName& name, const std::string& option) {
  const Hdf5Handle file = open_hdf5(name.path);
  std::string dataset = name.dataset;
  if (dataset.empty()) {
    const std::vector<std::string> there = hdf5_datasets(file, name.path, "/");
    if (there.size() != 1) {
      throw UsageError(fmt::format(
          "{} {}: name the data set, as {}:DATASET; its data sets: {}", option, name.path,
          name.path, there.empty() ? "none" : fmt::format("{}", fmt::join(there, ", "))));
    }
    dataset = there.front();
  }
  while (dataset.starts_with('/')) dataset.erase(0, 1);
  if (!has_hdf5_object(file, dataset))
    throw DataError(name.path, fmt::format("has no data set {}", dataset));
  inspect_hdf5_dataset(file, name.path, dataset, 1);
  std::vector<double> numbers = read_small_dataset(file, name.path, dataset, most_numbers);
  const Hdf5Handle opened(H5Dopen2(file.id(), dataset.c_str(), H5P_DEFAULT), H5Dclose);
  for (const double missing : Hdf5AttributeReader(opened, name.path).missing_values())
    std::replace(numbers.begin(), numbers.end(), missing, std::nan(""));
  return numbers;
}

std::vector<double> read_numbers(const std::string& name, const std::string& option) {
  const FileName file = split(name);
  check_input_file(file.path);
  switch (file_kind(file.path)) {
    case FileKind::text: return read_text(file.path);
    case FileKind::hdf5:
    case FileKind::netcdf: return read_apart(file.path, [&] { return read_hdf5(file, option); });
    default: break;
  }
  throw UsageError(
      fmt::format("{} {}: numbers are read from text (.txt) or HDF5 (.h5, .nc)", option, name));
}

}  // namespace

std::vector<double> parse_numbers(const std::string& text, const std::string& option) {
  if (text.find(':') != std::string::npos) return equally_spaced(text, option);
  std::vector<double> numbers;
  for (const std::string& word : words_of(text, ','))
    numbers.push_back(parse_one<double>(word, text, option));
  return numbers;
}

std::vector<double> numbers_of_file(Run& run, const std::string& name, const std::string& option) {
  run.outputs.keep(split(name).path);
  std::vector<double> numbers = agreed(run.comm, [&] {
    return run.comm.is_root() ? read_numbers(name, option) : std::vector<double>();
  });
  std::int64_t count = ssize64(numbers);
  run.comm.broadcast(&count, std::int64_t{sizeof count}, 0);
  numbers.resize(to_size(count));
  run.comm.broadcast(numbers.data(), count * std::int64_t{sizeof(double)}, 0);
  return numbers;
}

}  // namespace ringweave::detail::inline app
