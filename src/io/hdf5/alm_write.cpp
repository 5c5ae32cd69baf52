// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/alm_rows.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/fields.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/row_redistribution.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr const char* written_name = "alm/alm";

void create_alm(const std::string& path, const AlmHeader& header, const Provenance& provenance,
                const Hdf5Shape& shape) {
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance);
  Hdf5Handle group = create_hdf5_group(file, path, "alm");
  Hdf5Handle dataset = create_hdf5_dataset(group, path, "alm", shape);
  const Hdf5AttributeWriter attributes(dataset, path);
  std::vector<std::int64_t> spins;
  for (const std::string& name : header.components)
    spins.push_back(name == "E" || name == "B" ? 2 : 0);
  attributes.integer("lmax", header.lmax);
  attributes.integer("mmax", header.mmax);
  attributes.text("storage", "m-major: m(2lmax+1-m)/2+l");
  attributes.texts("components", header.components);
  attributes.integers("spin", spins);
  attributes.text("phase", "Condon-Shortley");
  if (const std::string unit = astropy_unit(header.unit); !unit.empty())
    attributes.text("units", unit);
  if (!header.unit.empty()) attributes.text("TUNIT", header.unit);
  if (!header.coordsys.empty()) attributes.text("COORDSYS", header.coordsys);
  write_hdf5_processing(dataset, path, provenance);
  {
    const Hdf5Handle component = write_hdf5_labels(group, path, "component", header.components);
    const Hdf5Handle coefficient =
        create_hdf5_dimension(group, path, "coefficient", shape.dims.back());
    attach_hdf5_scales(dataset, path, {&component, &coefficient});
  }
  dataset.close();
  group.close();
  close_hdf5(std::move(file), path);
}

template <class T>
void check_complete(const std::string& path, const AlmHeader& header, const AlmLayout& layout,
                    AlmView<const T> alm) {
  if (layout.lmax() != header.lmax || layout.mmax() != header.mmax) {
    throw UsageError(fmt::format("{}: the header says lmax = {}, mmax = {}, the layout {} and {}",
                                 path, header.lmax, header.mmax, layout.lmax(), layout.mmax()));
  }
  if (header.components.empty() || alm.n_components() != ssize64(header.components) ||
      alm.size() < layout.size()) {
    throw UsageError(
        fmt::format("{}: a_lm of {} components and {} coefficients do not fill {} of {}", path,
                    alm.n_components(), alm.size(), header.components.size(), layout.size()));
  }
}

/// Returns the share [coefficient][component][real, imaginary] of one window. Collective.
template <class T>
std::vector<double> fetch_share(const Communicator& comm, const AlmAddresses& from,
                                const AlmLayout& layout, AlmView<const T> alm) {
  const std::int64_t width = alm.n_components();
  const RowRedistribution route(comm, from.owner, from.key);
  std::vector<double> mine, share;
  agree(comm, [&] {
    for (const std::int64_t key : route.keys()) {
      const std::int64_t local = local_alm_index(layout, key);
      for (std::int64_t c = 0; c < width; ++c) {
        mine.push_back(static_cast<double>(alm.component(c)[local].real()));
        mine.push_back(static_cast<double>(alm.component(c)[local].imag()));
      }
    }
    share.resize(from.owner.size() * to_size(width * 2));
  });
  route.to_share(mine, 2 * width, share);
  return share;
}

}  // namespace

template <class T>
void write_hdf5_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm,
                    const Hdf5Limits& limits) {
  agree(comm, [&] { check_complete<T>(path, header, layout, alm); });
  const std::vector<int> owners = order_owners(comm, layout);
  const std::int64_t width = alm.n_components();
  const std::int64_t length = AlmLayout::full_size(header.lmax, header.mmax);
  const Hdf5Shape shape{{width, length},
                        Hdf5Shape::Number::complex,
                        header.precision == Precision::single_ ? 4 : 8,
                        {}};
  agree(comm, [&] {
    const auto missing = std::find(owners.begin(), owners.end(), RowRedistribution::nobody);
    if (missing != owners.end()) {
      throw UsageError(fmt::format("{}: no rank holds order {}", path, missing - owners.begin()));
    }
    if (comm.is_root()) create_alm(path, header, provenance, shape);
  });

  Hdf5TransferFile file(comm, path, Hdf5Access::write);
  {
    const Hdf5Rows rows(file, written_name, shape);
    const RowWindows windows(0, length, limits.numbers_per_call / (2 * width), comm.size(),
                             2 * width);
    for (std::int64_t w = 0; w < windows.count(); ++w) {
      const RowRun run{windows.first(w, comm.rank()), windows.rows(w, comm.rank())};
      const AlmAddresses from =
          agreed(comm, [&] { return alm_addresses(header, run, layout, owners); });
      rows.write_together(width, run, fetch_share<T>(comm, from, layout, alm));
    }
  }
  file.close();
}

template void write_hdf5_alm<double>(const Communicator&, const std::string&, const AlmHeader&,
                                     const Provenance&, const AlmLayout&, AlmView<const double>,
                                     const Hdf5Limits&);
template void write_hdf5_alm<float>(const Communicator&, const std::string&, const AlmHeader&,
                                    const Provenance&, const AlmLayout&, AlmView<const float>,
                                    const Hdf5Limits&);

}  // namespace ringweave::detail::inline io
