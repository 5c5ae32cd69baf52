// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/coefficient_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <fstream>
#include <numbers>
#include <optional>
#include <sstream>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/degree_rows.hpp"
#include "io/file_kind.hpp"
#include "io/file_origin.hpp"
#include "io/header_json.hpp"
#include "io/input_file.hpp"
#include "io/output_part.hpp"
#include "io/spectra_comments.hpp"
#include "io/text_table.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr int most_degrees = 65535;

/// Coefficients that rank 0 read: C - i S, by l, then m, up to mmax = lmax.
struct Coefficients {
  AlmHeader header;
  std::vector<std::complex<double>> values;
  std::vector<bool> is_set;
};

/// Returns the factor from C - i S to a_lm.
double factor_of(Normalisation normalisation, std::int64_t l, std::int64_t m) {
  using std::numbers::pi;
  const double sign = m % 2 == 0 ? 1 : -1;
  const double of_order = sign * std::sqrt(m == 0 ? 4 * pi : 2 * pi);
  switch (normalisation) {
    case Normalisation::orthonormal: return of_order / std::sqrt(4 * pi);
    case Normalisation::schmidt: return of_order / std::sqrt(2 * static_cast<double>(l) + 1);
    case Normalisation::four_pi: break;
  }
  return of_order;
}

/// Makes room for all degrees up to that of a line, of which the file may have few. Error
/// ResourceError when the memory lacks it.
void make_room(Coefficients& read, const std::string& path, std::int64_t line,
               std::int64_t degree) {
  constexpr std::int64_t surely_there = std::int64_t{1} << 24;
  const std::int64_t size = rows_before(degree + 1, degree + 1);
  if (ssize64(read.values) >= size) return;
  // A larger array stands beside the old one, and has room for twice as many.
  const bool moves = to_size(size) > read.values.capacity();
  const std::int64_t bytes = moves ? 3 * size * std::int64_t{sizeof read.values[0]} : 0;
  if (bytes > surely_there && bytes > std::min(available_bytes(), available_bytes_of_process())) {
    throw ResourceError(
        fmt::format("{}, line {}: coefficients up to l = {} need {:.3g} GB, which "
                    "this rank does not have; start it on a larger node",
                    path, line, degree, static_cast<double>(bytes) / 1e9));
  }
  read.values.resize(to_size(size));
  read.is_set.resize(to_size(size));
}

/// Adds a coefficient of a line. Error  DataError; ResourceError.
void add(Coefficients& read, const std::string& path, std::int64_t line, double l, double m,
         std::complex<double> value) {
  if (!(l >= 0 && l <= most_degrees && m >= 0 && m <= l) || l != std::floor(l) ||
      m != std::floor(m)) {
    throw DataError(path, fmt::format("line {}: l = {}, m = {}; expected whole numbers, 0 <= m <= "
                                      "l <= {}: columns l m C S",
                                      line, l, m, most_degrees));
  }
  const auto degree = static_cast<std::int64_t>(l);
  const std::size_t at = to_size(rows_before(degree, degree) + static_cast<std::int64_t>(m));
  if (degree > read.header.lmax) read.header.lmax = static_cast<int>(degree);
  make_room(read, path, line, degree);
  if (read.is_set[at])
    throw DataError(path, fmt::format("line {}: l = {}, m = {} is there already", line, l, m));
  if (m == 0 && value.imag() != 0)
    throw DataError(path, fmt::format("line {}: S of l = {}, m = 0 is not 0", line, l));
  read.is_set[at] = true;
  read.values[at] = value;
}

/// Reads a table l m C S; further columns, such as errors, are left out.
Coefficients read_table(const std::string& path) {
  constexpr std::size_t used = 4;
  const TextTable table = read_text_table(path);
  if (table.n_columns() < used) {
    throw DataError(path, fmt::format("line {}: {} columns; expected l m C S",
                                      table.line_numbers.front(), table.n_columns()));
  }
  Coefficients read;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const std::vector<double>& row = table.rows[r];
    add(read, path, table.line_numbers[r], row[0], row[1], {row[2], -row[3]});
  }
  if (table.n_columns() > used)
    read.header.warnings.push_back("columns after l m C S are left out");
  return read;
}

/// Reads a word of the header of an ICGEM file.
void read_head(const std::string& path, const std::string& key, const std::string& value,
               AlmHeader& header) {
  constexpr std::array texts{"modelname", "tide_system", "product_type"};
  if (key == "norm" && value != "fully_normalized") {
    throw DataError(path,
                    fmt::format("norm is {}; expected fully_normalized: write a table l m C S "
                                "and convert it with --normalisation",
                                value));
  }
  if (std::find(texts.begin(), texts.end(), key) != texts.end())
    header.origin.keywords.push_back({key, value, ""});
  if (key == "earth_gravity_constant" || key == "radius")
    header.origin.keywords.push_back({key, parse_number(value, path, 0), ""});
}

Coefficients read_icgem(const std::string& path) {
  const InputStamp stamp(path);
  std::ifstream file(path, std::ios::binary);
  Coefficients read;
  bool is_head = true;
  bool varies = false;
  std::string text;
  for (std::int64_t line = 1; std::getline(file, text); ++line) {
    std::istringstream words(text);
    std::string key;
    std::array<std::string, 4> word;
    words >> key >> word[0];
    if (key.starts_with("end_of_head")) is_head = false;
    if (is_head) {
      read_head(path, key, word[0], read.header);
      continue;
    }
    varies =
        varies || key == "gfct" || key == "trnd" || key == "dot" || key == "acos" || key == "asin";
    if (key != "gfc" && key != "gfct") continue;
    words >> word[1] >> word[2] >> word[3];
    std::array<double, 4> number{};
    for (std::size_t i = 0; i < number.size(); ++i) {
      if (word[i].empty())
        throw DataError(path, fmt::format("line {}: expected gfc l m C S", line));
      number[i] = parse_number(word[i], path, line);
    }
    add(read, path, line, number[0], number[1], {number[2], -number[3]});
  }
  if (file.bad()) throw DataError(path, "cannot be read to its end");
  stamp.require_same();
  if (is_head) throw DataError(path, "has no line end_of_head; is it an ICGEM file?");
  if (read.values.empty()) throw DataError(path, "holds no coefficients (lines gfc l m C S)");
  if (varies)
    read.header.warnings.push_back("varies with time; only the coefficients of its epoch are read");
  return read;
}

class CoefficientReader final : public AlmReader {
 public:
  CoefficientReader(const Communicator& comm, const std::string& path, Normalisation normalisation)
      : comm_(comm), path_(path) {
    header_ = share_from_root(comm, [&] {
      Coefficients read =
          file_kind(path) == FileKind::coefficients ? read_icgem(path) : read_table(path);
      for (std::int64_t l = 0; l <= read.header.lmax; ++l) {
        for (std::int64_t m = 0; m <= l; ++m)
          read.values[to_size(rows_before(l, l) + m)] *= factor_of(normalisation, l, m);
      }
      values_ = std::move(read.values);
      read.header.mmax = read.header.lmax;
      read.header.components = {"T"};
      read.header.precision = Precision::double_;
      return read.header;
    });
  }

  void read(std::span<const int> components, const AlmLayout& layout, AnyAlmView<> alm) override {
    std::visit([&](auto view) { read_as(components, layout, view); }, alm);
  }

 private:
  template <class T>
  void read_as(std::span<const int> components, const AlmLayout& layout,
               ComponentView<std::complex<T>> alm) {
    agree(comm_, [&] {
      if (components.size() == 1 && components[0] == 0 && alm.n_components() == 1 &&
          alm.size() == layout.size())
        return;
      throw UsageError(
          fmt::format("{}: {} components were asked for, the file has one; it is no "
                      "polarised field",
                      path_, components.size()));
    });
    const View<std::complex<T>> a = alm.component(0);
    std::fill_n(a.data(), a.size(), std::complex<T>());
    std::vector<std::complex<double>> degrees;
    for (int m = 0; m <= std::min(header_.lmax, layout.mmax()); ++m) {
      agree(comm_, [&] {
        degrees.assign(to_size(header_.lmax - m + 1), {});
        for (std::int64_t l = m; comm_.is_root() && l <= header_.lmax; ++l)
          degrees[to_size(l - m)] = values_[to_size(rows_before(l, l) + m)];
      });
      comm_.broadcast(degrees.data(), ssize64(degrees) * std::int64_t{sizeof degrees[0]}, 0);
      const std::int64_t row = layout.row_of(m);
      for (int l = m; row >= 0 && l <= std::min(header_.lmax, layout.lmax()); ++l)
        a[layout.index(row, l)] = static_cast<std::complex<T>>(degrees[to_size(l - m)]);
    }
  }

  Communicator comm_;
  std::string path_;
  std::vector<std::complex<double>> values_;  ///< on rank 0: a_lm by l, then m
};

const char* name_of(Normalisation normalisation) {
  switch (normalisation) {
    case Normalisation::orthonormal: return "orthonormal";
    case Normalisation::four_pi: return "4pi";
    case Normalisation::schmidt: break;
  }
  return "schmidt";
}

/// Returns the value that an input of ICGEM gave, else 1: the format needs one.
std::string icgem_value(const Provenance& provenance, const std::string& name) {
  for (const Keyword& keyword : keywords_of(provenance)) {
    const auto* number = std::get_if<double>(&keyword.value);
    if (keyword.name == name && number != nullptr) return fmt::format("{:.17g}", *number);
  }
  return "1";
}

std::string head_of(const AlmHeader& header, const Provenance& provenance, bool is_icgem,
                    Normalisation normalisation) {
  const std::string command = in_one_line(provenance.command_line);
  if (is_icgem) {
    return fmt::format(
        "written by {} {}: {}\n\nproduct_type gravity_field\nmodelname {}\n"
        "earth_gravity_constant {}\nradius {}\nmax_degree {}\nerrors no\nnorm fully_normalized\n\n"
        "key L M C S\nend_of_head\n",
        provenance.creator, provenance.version, command, provenance.creator,
        icgem_value(provenance, "earth_gravity_constant"), icgem_value(provenance, "radius"),
        header.lmax);
  }
  return fmt::format(
      "# real coefficients, {} normalisation, no Condon-Shortley phase{}, {} {}\n"
      "# command: {}\n# l m C S\n",
      name_of(normalisation), header.unit.empty() ? "" : ", in " + in_one_line(header.unit),
      provenance.creator, provenance.version, command);
}

/// Writes to the temporary name. Collective.
void write_temporary(const AtomicOutput& output, const AlmHeader& header,
                     const Provenance& provenance, const AlmLayout& layout, AnyConstAlmView<> alm,
                     Normalisation normalisation) {
  const Communicator& comm = output.comm();
  const std::string& path = output.temporary_path();
  const bool is_icgem = file_kind(output.path()) == FileKind::coefficients;
  const char* const begin = is_icgem ? "gfc " : "";
  std::optional<OutputPart> file;
  agree(comm, [&] {
    if (header.components.size() != 1) {
      throw UsageError(
          fmt::format("{}: holds one field, these a_lm have {} components; take one "
                      "with `ringweave alm --take`",
                      output.path(), header.components.size()));
    }
    if (!comm.is_root()) return;
    file.emplace(OutputPart::of_new_file(path));
    file->write(head_of(header, provenance, is_icgem, normalisation));
  });
  std::vector<double> values;
  for (std::int64_t l = 0; l <= header.lmax;) {
    const DegreeRows block = next_block(l, header.lmax, header.mmax);
    agree(comm, [&] {
      std::visit([&](auto view) { fill_block(block, layout, view.component(0), values); }, alm);
    });
    comm.sum_to_root(values.data(), ssize64(values));
    agree(comm, [&] {
      if (!comm.is_root()) return;
      std::string text;
      std::size_t at = 0;
      for (std::int64_t degree = block.begin; degree < block.end; ++degree) {
        for (std::int64_t m = 0; m <= std::min<std::int64_t>(degree, header.mmax); ++m, ++at) {
          const double factor = factor_of(normalisation, degree, m);
          const double s = m == 0 ? 0 : -values[at + to_size(block.n_rows)] / factor;
          text +=
              fmt::format("{}{} {} {:.17g} {:.17g}\n", begin, degree, m, values[at] / factor, s);
        }
      }
      file->write(text);
    });
    l = block.end;
  }
  agree(comm, [&] {
    if (!file) return;
    file->close();
    file->verify();
    require_length(path, file->end());
  });
}

}  // namespace

std::unique_ptr<AlmReader> open_coefficients(const Communicator& comm, const std::string& path,
                                             Normalisation normalisation) {
  return std::make_unique<CoefficientReader>(comm, path, normalisation);
}

void write_coefficients(const AtomicOutput& output, const AlmHeader& header,
                        const Provenance& provenance, const AlmLayout& layout,
                        AnyConstAlmView<> alm, Normalisation normalisation) {
  output.write([&] { write_temporary(output, header, provenance, layout, alm, normalisation); });
}

}  // namespace ringweave::detail::inline io
