// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/column_names.hpp"
#include "io/fits/alm_index.hpp"
#include "io/fits/fields.hpp"
#include "io/fits/file.hpp"
#include "io/fits/header.hpp"
#include "io/fits/table.hpp"
#include "io/header_json.hpp"
#include "io/keywords.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t block_rows = std::int64_t{1} << 18;

/// The table of one component.
struct AlmTable {
  int hdu = 0;
  std::array<FitsColumn, 3> columns;  ///< index, real, imaginary
  std::int64_t rows = 0;
  std::string component;                 ///< as the name of the table says; empty where it does not
  bool is_own = false;                   ///< written by Ringweave, with a row for every coefficient
  std::optional<std::int64_t> n_tables;  ///< in the file, as it says itself
};

/// Returns the component that the name of a table states, empty for other names: "A_LM T" of
/// Ringweave, "SIMULATED a_lms (GRAD / ELECTRIC component)" of HEALPix, "ALM_E".
std::string component_of(const std::string& extension) {
  constexpr std::string_view own = "A_LM ";
  if (extension.starts_with(own)) return extension.substr(own.size());
  const std::string name = upper(extension);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("TEMPERATURE")) return "T";
  if (has("GRAD") || has("ELECTRIC")) return "E";
  if (has("CURL") || has("MAGNETIC")) return "B";
  constexpr std::string_view letters = "TEB";
  const std::size_t length = name.size();
  const bool ends_with_letter =
      length > 0 && letters.find(name.back()) != std::string_view::npos &&
      (length == 1 || std::isalpha(static_cast<unsigned char>(name[length - 2])) == 0);
  const bool is_of_alm = length == 1 || has("ALM") || has("A_LM");
  return ends_with_letter && is_of_alm ? name.substr(length - 1) : std::string();
}

std::optional<AlmTable> alm_table(const FitsFile& file, int hdu) {
  const FitsTableShape shape = file.table();
  if (shape.columns.size() < 3 || file.text("INDXSCHM") == "EXPLICIT" || file.text("PIXTYPE") ||
      file.text("ORDERING") || is_pixel_name(shape.columns.front().name))
    return {};
  const AlmTable table{hdu,
                       {shape.columns[0], shape.columns[1], shape.columns[2]},
                       0,
                       component_of(file.text("EXTNAME").value_or("")),
                       file.text("CREATOR") == "ringweave",
                       file.integer(fits_alm_tables)};
  const auto is = [&](std::size_t i, FitsColumn::Number kind) {
    return table.columns[i].kind == kind && table.columns[i].repeat == table.columns[0].repeat;
  };
  if (!is(0, FitsColumn::Number::integer) || !is(1, FitsColumn::Number::real) ||
      !is(2, FitsColumn::Number::real) || table.columns[0].repeat < 1) {
    return {};
  }
  AlmTable found = table;
  found.rows = checked_product(shape.rows, table.columns[0].repeat, "rows of a table");
  if (found.rows == 0) return {};
  return found;
}

/// Returns the degree and order of a row. Error  DataError for an invalid index.
Degree checked_degree(const FitsFile& file, std::int64_t row, std::int64_t index, std::int64_t lmax,
                      std::int64_t mmax) {
  const bool in_range = index >= 1 && index <= fits_alm_index(lmax, lmax);
  const Degree degree = in_range ? degree_of(index) : Degree{};
  if (!in_range || degree.m < 0 || degree.m > mmax) {
    file.fail(
        fmt::format("row {} has index {}; expected l^2 + l + m + 1 with l <= {} and 0 <= m <= {}",
                    row + 1, index, lmax, mmax));
  }
  return degree;
}

/// Raises `largest` to the degrees and orders in the index column.
void scan_degrees(const FitsFile& file, const AlmTable& table, Degree& largest) {
  std::vector<std::int64_t> indices(to_size(std::min(block_rows, table.rows)));
  for (std::int64_t first = 0; first < table.rows; first += block_rows) {
    const std::span<std::int64_t> block =
        std::span(indices).first(to_size(std::min(block_rows, table.rows - first)));
    file.read(table.columns[0], first, block);
    for (std::size_t i = 0; i < block.size(); ++i) {
      const Degree degree = checked_degree(file, first + static_cast<std::int64_t>(i), block[i],
                                           max_fits_degree, max_fits_degree);
      largest.l = std::max(largest.l, degree.l);
      largest.m = std::max(largest.m, degree.m);
    }
  }
}

void find_degrees(const FitsFile& file, const AlmTable& table, Degree& largest) {
  const std::optional<std::int64_t> lmax = file.integer("MAX-LPOL");
  const std::optional<std::int64_t> mmax = file.integer("MAX-MPOL");
  if (!lmax || !mmax) {
    scan_degrees(file, table, largest);
    return;
  }
  if (*lmax < 0 || *lmax > max_fits_degree || *mmax < 0 || *mmax > *lmax) {
    file.fail(fmt::format("MAX-LPOL = {}, MAX-MPOL = {}; expected 0 <= MAX-MPOL <= MAX-LPOL <= {}",
                          *lmax, *mmax, max_fits_degree));
  }
  largest.l = std::max(largest.l, *lmax);
  largest.m = std::max(largest.m, *mmax);
}

std::vector<std::string> names_by_number(std::size_t count) {
  if (count == 1) return {"T"};
  if (count == 2) return {"E", "B"};
  if (count == 3) return {"T", "E", "B"};
  std::vector<std::string> names;
  for (std::size_t i = 1; i <= count; ++i) names.push_back(fmt::format("HDU_{}", i));
  return names;
}

/// Puts tables of T, E and B into this order, if all are of these.
void put_in_order(std::vector<AlmTable>& tables) {
  constexpr std::string_view order = "TEB";
  const auto place = [&](const AlmTable& table) {
    return table.component.size() == 1 ? order.find(table.component) : std::string_view::npos;
  };
  if (std::any_of(tables.begin(), tables.end(),
                  [&](const AlmTable& table) { return place(table) == std::string_view::npos; }))
    return;
  std::stable_sort(tables.begin(), tables.end(),
                   [&](const AlmTable& a, const AlmTable& b) { return place(a) < place(b); });
}

class FitsAlmReader final : public AlmReader {
 public:
  FitsAlmReader(const Communicator& comm, const std::string& path) : comm_(comm), path_(path) {
    std::tie(header_, rows_) = share_from_root(comm_, [this] { return inspect(); });
  }

  void read(std::span<const int> components, const AlmLayout& layout, AnyAlmView<> alm) override {
    std::visit([&](auto view) { read_components(components, layout, view); }, alm);
  }

 private:
  /// Returns the numbers that the other ranks need.
  std::pair<AlmHeader, std::vector<std::int64_t>> inspect() {
    file_.emplace(FitsFile::open(path_));
    Degree largest;
    for (int hdu = 2; hdu < FitsFile::most_hdus; ++hdu) {
      const std::optional<FitsHdu> kind = file_->go_to(hdu);
      if (!kind) break;
      const std::optional<AlmTable> table =
          kind == FitsHdu::binary_table ? alm_table(*file_, hdu) : std::nullopt;
      if (!table) {
        header_.warnings.push_back(fmt::format("HDU {} holds no a_lm and is left out", hdu));
        continue;
      }
      find_degrees(*file_, *table, largest);
      add(*table);
    }
    if (tables_.empty()) {
      const std::string held = words_of_content(*file_);
      throw DataError(path_, fmt::format("holds {}; expected a_lm: a binary table with an index "
                                         "column and two columns of real numbers",
                                         held.empty() ? "no a_lm" : held));
    }
    header_.lmax = static_cast<int>(largest.l);
    header_.mmax = static_cast<int>(largest.m);
    check_number();
    check_rows();
    put_in_order(tables_);
    set_components();
    std::vector<std::int64_t> rows;
    for (const AlmTable& table : tables_) rows.push_back(table.rows);
    return {header_, rows};
  }

  /// Throws a DataError where a table states another number of tables than there are.
  void check_number() const {
    for (const AlmTable& table : tables_) {
      if (!table.n_tables || *table.n_tables == ssize64(tables_)) continue;
      throw DataError(path_,
                      fmt::format("HDU {} says {} = {}, the file has {} table(s) of a_lm: "
                                  "it was cut short, or tables were added",
                                  table.hdu, fits_alm_tables, *table.n_tables, tables_.size()));
    }
  }

  void check_rows() {
    const std::int64_t all = AlmLayout::full_size(header_.lmax, header_.mmax);
    for (const AlmTable& table : tables_) {
      if (table.rows == all) continue;
      const std::string found = fmt::format("HDU {} has {} rows, lmax = {} and mmax = {} make {}",
                                            table.hdu, table.rows, header_.lmax, header_.mmax, all);
      if (table.rows > all) throw DataError(path_, found);
      if (table.is_own)
        throw DataError(path_, found + "; Ringweave wrote all of them: the file was changed");
      header_.warnings.push_back(found + "; the missing coefficients are taken as 0");
    }
  }

  /// Names the components as their tables do, else by their number. Error  DataError where some
  /// tables have names that contradict this.
  void set_components() {
    header_.components = names_by_number(tables_.size());
    const auto is_named = [](const AlmTable& table) { return !table.component.empty(); };
    const bool all_are_named = std::all_of(tables_.begin(), tables_.end(), is_named);
    for (std::size_t c = 0; c < tables_.size(); ++c) {
      if (!is_named(tables_[c])) continue;
      std::string& name = header_.components[c];
      if (!all_are_named && tables_.size() <= 3 && name != tables_[c].component) {
        throw DataError(path_,
                        fmt::format("HDU {} says that it holds {}, and of {} tables {} was "
                                    "expected there: name every table by EXTNAME = 'A_LM T' "
                                    "and the like",
                                    tables_[c].hdu, tables_[c].component, tables_.size(), name));
      }
      name = tables_[c].component;
    }
    if (tables_.size() == 2 && std::none_of(tables_.begin(), tables_.end(), is_named)) {
      header_.warnings.push_back(
          "two tables of a_lm without a name (EXTNAME = 'A_LM E'); taken as E and B");
    }
  }

  void add(const AlmTable& table) {
    if (tables_.empty()) {
      header_.unit = table.columns[1].unit;
      header_.origin = read_origin(*file_);
      header_.coordsys = file_->text("COORDSYS").value_or("");
    }
    const bool single = table.columns[1].bytes == 4 && table.columns[2].bytes == 4;
    header_.precision = single && (tables_.empty() || header_.precision == Precision::single_)
                            ? Precision::single_
                            : Precision::double_;
    tables_.push_back(table);
  }

  template <class T>
  void read_components(std::span<const int> components, const AlmLayout& layout,
                       ComponentView<std::complex<T>> alm) {
    Block block;
    agree(comm_, [&] {
      check_request(components, layout, alm.n_components(), alm.size());
      block.resize(to_size(block_rows));
    });
    for (std::size_t c = 0; c < components.size(); ++c) {
      read_component(static_cast<std::size_t>(components[c]), layout, block,
                     alm.component(static_cast<std::int64_t>(c)));
    }
    agree(comm_, [&] {
      if (comm_.is_root()) file_->require_same();
    });
  }

  /// Rows of the file, as broadcast.
  struct Block {
    std::vector<std::int64_t> index;
    std::vector<double> re;
    std::vector<double> im;
    void resize(std::size_t rows) {
      index.resize(rows);
      re.resize(rows);
      im.resize(rows);
    }
  };

  template <class T>
  void read_component(std::size_t component, const AlmLayout& layout, Block& block,
                      View<std::complex<T>> alm) {
    std::fill_n(alm.data(), alm.size(), std::complex<T>());
    std::vector<std::int64_t> row_of;
    std::vector<bool> seen;
    agree(comm_, [&] {
      row_of.resize(to_size(layout.mmax()) + 1, -1);
      seen.resize(to_size(alm.size()));
    });
    for (std::int64_t row = 0; row < layout.n_orders(); ++row)
      row_of[to_size(layout.order(row))] = row;
    std::optional<Degree> twice;
    for (std::int64_t first = 0; first < rows_[component]; first += block_rows) {
      const std::size_t n_rows = to_size(std::min(block_rows, rows_[component] - first));
      share(component, first, n_rows, block);
      for (std::size_t i = 0; i < n_rows; ++i) {
        const Degree degree = degree_of(block.index[i]);
        if (degree.l > layout.lmax() || degree.m > layout.mmax() || row_of[to_size(degree.m)] < 0)
          continue;
        const std::int64_t at = layout.index(row_of[to_size(degree.m)], static_cast<int>(degree.l));
        if (seen[to_size(at)] && !twice) twice = degree;
        seen[to_size(at)] = true;
        alm[at] = {static_cast<T>(block.re[i]), static_cast<T>(block.im[i])};
      }
    }
    agree(comm_, [&] {
      if (!twice) return;
      throw DataError(path_, fmt::format("component {} has l = {}, m = {} more than once",
                                         header_.components[component], twice->l, twice->m));
    });
  }

  /// Broadcasts the rows; all ranks return or all throw. Collective.
  void share(std::size_t component, std::int64_t first, std::size_t n_rows, Block& block) {
    agree(comm_, [&] {
      if (!comm_.is_root()) return;
      const AlmTable& table = tables_[component];
      file_->go_to(table.hdu);
      file_->read(table.columns[0], first, std::span(block.index).first(n_rows));
      file_->read(table.columns[1], first, std::span(block.re).first(n_rows));
      file_->read(table.columns[2], first, std::span(block.im).first(n_rows));
      for (std::size_t i = 0; i < n_rows; ++i) {
        checked_degree(*file_, first + static_cast<std::int64_t>(i), block.index[i], header_.lmax,
                       header_.mmax);
      }
    });
    const auto bytes = static_cast<std::int64_t>(n_rows * sizeof(double));
    comm_.broadcast(block.index.data(), bytes, 0);
    comm_.broadcast(block.re.data(), bytes, 0);
    comm_.broadcast(block.im.data(), bytes, 0);
  }

  void check_request(std::span<const int> components, const AlmLayout& layout,
                     std::int64_t n_components, std::int64_t size) const {
    if (n_components != ssize64(components) || size != layout.size()) {
      throw UsageError(fmt::format("{}: {} components of {} coefficients do not fit {} of {}",
                                   path_, components.size(), layout.size(), n_components, size));
    }
    for (const int component : components) {
      if (component >= 0 && component < static_cast<int>(rows_.size())) continue;
      throw UsageError(
          fmt::format("{} has {} components, there is no number {} (they count from 0)", path_,
                      rows_.size(), component));
    }
  }

  Communicator comm_;
  std::string path_;
  std::optional<FitsFile> file_;    ///< on rank 0
  std::vector<AlmTable> tables_;    ///< on rank 0
  std::vector<std::int64_t> rows_;  ///< per component
};

}  // namespace

std::unique_ptr<AlmReader> open_fits_alm(const Communicator& comm, const std::string& path) {
  return std::make_unique<FitsAlmReader>(comm, path);
}

}  // namespace ringweave::detail::inline io
