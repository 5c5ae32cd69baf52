// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/degree_rows.hpp"
#include "io/fits/alm_index.hpp"
#include "io/fits/fields.hpp"
#include "io/fits/file.hpp"
#include "io/fits/gzip.hpp"
#include "io/fits/header.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t last_short_index = 0x7fffffff;

void check_shapes(const AlmHeader& header, const AlmLayout& layout, std::int64_t n_components,
                  std::int64_t size) {
  if (header.lmax != layout.lmax() || header.mmax != layout.mmax() ||
      header.lmax > max_fits_degree) {
    throw UsageError(
        fmt::format("a_lm with lmax = {}, mmax = {} cannot be written as lmax = {}, mmax = {}",
                    layout.lmax(), layout.mmax(), header.lmax, header.mmax));
  }
  if (ssize64(header.components) != n_components || size != layout.size() || n_components == 0) {
    throw UsageError(
        fmt::format("a_lm of {} components of {} coefficients do not fit {} components of {}",
                    n_components, size, header.components.size(), layout.size()));
  }
}

void begin_component(const FitsFile& file, const AlmHeader& header, const Provenance& provenance,
                     const std::string& component) {
  const std::int64_t last = fits_alm_index(header.lmax, header.mmax);
  const std::string number = header.precision == Precision::single_ ? "1E" : "1D";
  append_table(file, fmt::format("A_LM {}", component),
               AlmLayout::full_size(header.lmax, header.mmax),
               {{"INDEX", last > last_short_index ? "1K" : "1J", "l*l+l+m+1"},
                {"REAL", number, header.unit},
                {"IMAG", number, header.unit}});
  put_provenance(file, provenance);
  // The degrees of this table, whatever the provenance says about its origin.
  int status = 0;
  fits_update_key_lng(file.handle(), "MAX-LPOL", header.lmax, "highest degree l", &status);
  fits_update_key_lng(file.handle(), "MAX-MPOL", header.mmax, "highest order m", &status);
  file.check(status, "write keyword MAX-LPOL");
  put_integer(file, fits_alm_tables, ssize64(header.components), "tables of a_lm in this file");
  put_text(file, "POLCCONV", "COSMO", "sign of E and B");
  if (!header.coordsys.empty()) put_text(file, "COORDSYS", header.coordsys, "G, E or C");
}

void write_block(FitsFile& file, const DegreeRows& block, std::int64_t mmax,
                 std::span<const double> values) {
  std::vector<std::int64_t> index;
  index.reserve(to_size(block.n_rows));
  for (std::int64_t l = block.begin; l < block.end; ++l) {
    for (std::int64_t m = 0; m <= std::min(l, mmax); ++m) index.push_back(fits_alm_index(l, m));
  }
  file.write(1, 1, block.first_row, std::span<const std::int64_t>(index));
  file.write(2, 1, block.first_row, values.first(index.size()));
  file.write(3, 1, block.first_row, values.subspan(index.size()));
}

}  // namespace

template <class T>
void write_fits_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm) {
  std::optional<FitsFile> file;
  agree(comm, [&] {
    check_shapes(header, layout, alm.n_components(), alm.size());
    if (comm.is_root()) file.emplace(FitsFile::create(path));
  });
  std::vector<double> values;
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    agree(comm, [&] {
      if (file) begin_component(*file, header, provenance, header.components[to_size(c)]);
    });
    for (std::int64_t l = 0; l <= header.lmax;) {
      const DegreeRows block = next_block(l, header.lmax, header.mmax);
      agree(comm, [&] { fill_block<T>(block, layout, alm.component(c), values); });
      comm.sum_to_root(values.data(), ssize64(values));
      agree(comm, [&] {
        if (!file) return;
        if (header.precision == Precision::single_) file->require_single(values);
        write_block(*file, block, header.mmax, values);
      });
      l = block.end;
    }
  }
  agree(comm, [&] {
    if (!file) return;
    file->close();
    if (path.ends_with(".gz")) gzip_file(path);
  });
}

template void write_fits_alm<double>(const Communicator&, const std::string&, const AlmHeader&,
                                     const Provenance&, const AlmLayout&, AlmView<const double>);
template void write_fits_alm<float>(const Communicator&, const std::string&, const AlmHeader&,
                                    const Provenance&, const AlmLayout&, AlmView<const float>);

}  // namespace ringweave::detail::inline io
