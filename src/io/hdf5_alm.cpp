// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5_alm.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "io/hdf5_attributes.hpp"
#include "io/hdf5_map_header.hpp"
#include "io/pixel_owners.hpp"
#include "io/row_route.hpp"
#include "io/unit_name.hpp"

namespace ringweave {
namespace {

constexpr const char* written_name = "alm/alm";
constexpr std::int64_t max_lmax = 10'000'000;
constexpr std::int64_t max_components = 10000;

struct AlmInfo {
  AlmHeader header;
  std::string dataset;
  Hdf5Shape shape;
};

std::string dataset_name(const Hdf5Handle& file, const std::string& path) {
  const std::vector<std::string> names = hdf5_datasets(file, "alm");
  if (names.size() == 1) return "alm/" + names.front();
  if (std::find(names.begin(), names.end(), "alm") != names.end()) return written_name;
  if (names.empty()) throw DataError(path, "holds no a_lm: expected a dataset in /alm");
  throw DataError(path, fmt::format("holds {} a_lm datasets in /alm and none is named alm; keep one", names.size()));
}

int band_limit(const Hdf5AttributeReader& attributes, const char* name, const std::string& path) {
  const std::optional<std::int64_t> value = attributes.integer(name);
  if (!value || *value < 0 || *value > max_lmax) {
    throw DataError(path, fmt::format("attribute {} of the a_lm must be there and within 0 to {}", name, max_lmax));
  }
  return static_cast<int>(*value);
}

AlmInfo read_info(const std::string& path) {
  const Hdf5Handle file = open_hdf5(path);
  AlmInfo info;
  info.dataset = dataset_name(file, path);
  info.shape = inspect_hdf5_dataset(file, path, info.dataset);
  const Hdf5Handle dataset(H5Dopen2(file.id(), info.dataset.c_str(), H5P_DEFAULT), H5Dclose);
  const Hdf5AttributeReader attributes(dataset, path);
  AlmHeader& header = info.header;
  header.lmax = band_limit(attributes, "lmax", path);
  header.mmax = band_limit(attributes, "mmax", path);
  if (header.mmax > header.lmax) {
    throw DataError(path, fmt::format("mmax = {} is greater than lmax = {}", header.mmax, header.lmax));
  }
  const std::int64_t expected = AlmLayout::full_size(header.lmax, header.mmax);
  if (info.shape.number != Hdf5Shape::Number::complex || info.shape.dims.back() != expected) {
    throw DataError(path, fmt::format("/{} must hold {} complex numbers a component for lmax = {}, mmax = {}; it has {}",
                                      info.dataset, expected, header.lmax, header.mmax, info.shape.dims.back()));
  }
  const std::int64_t n_components = info.shape.dims.size() == 2 ? info.shape.dims[0] : 1;
  if (n_components > max_components) {
    throw DataError(path, fmt::format("/{} has {} components; expected at most {}", info.dataset, n_components,
                                      max_components));
  }
  header.components = attributes.texts("components");
  if (ssize64(header.components) != n_components) {
    header.warnings.push_back("no usable list of components; taken as T, E, B in this order");
    header.components = {"T", "E", "B"};
    header.components.resize(to_size(n_components), "unnamed");
  }
  header.precision = info.shape.bytes == 4 ? Precision::single_ : Precision::double_;
  header.unit = attributes.text("TUNIT").value_or(attributes.text("units").value_or(""));
  return info;
}

std::string encode(const AlmInfo& info) {
  const nlohmann::json text{info.header.lmax,     info.header.mmax, info.header.components,
                            info.header.warnings, info.header.unit, info.dataset,
                            info.shape.dims,      info.shape.bytes, static_cast<int>(info.shape.layout)};
  return text.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

AlmInfo decode(const std::string& encoded) {
  const nlohmann::json text = nlohmann::json::parse(encoded);
  AlmInfo info;
  info.header = {text[0].get<int>(),
                 text[1].get<int>(),
                 text[2].get<std::vector<std::string>>(),
                 text[7].get<std::int64_t>() == 4 ? Precision::single_ : Precision::double_,
                 text[4].get<std::string>(),
                 text[3].get<std::vector<std::string>>()};
  info.dataset = text[5].get<std::string>();
  info.shape = {text[6].get<std::vector<std::int64_t>>(), Hdf5Shape::Number::complex, text[7].get<std::int64_t>(),
                static_cast<Hdf5Shape::Layout>(text[8].get<int>())};
  return info;
}

AlmInfo share_info(const Communicator& comm, const std::string& path) {
  std::string encoded;
  agree(comm, [&] {
    if (comm.is_root()) encoded = encode(read_info(path));
  });
  encoded = comm.broadcast(encoded, 0);
  return agreed(comm, [&] { return decode(encoded); });
}

/// Rank that owns each order 0..mmax of a layout; -1: none.
std::vector<int> order_owners(const Communicator& comm, const AlmLayout& layout) {
  const std::vector<std::int64_t> mine(layout.orders().begin(), layout.orders().end());
  return agree_on_owners(comm, mine, layout.mmax() + std::int64_t{1}, "order");
}

/// Owner and key (m and l in one number) of the file positions of a run.
struct Addresses {
  std::vector<int> owner;
  std::vector<std::int64_t> key;
};

Addresses addresses(const AlmHeader& header, RowRun run, const AlmLayout& layout, const std::vector<int>& owners) {
  Addresses result;
  if (run.count == 0) return result;
  result.owner.reserve(to_size(run.count));
  result.key.reserve(to_size(run.count));
  const auto begin_of = [&](int m) { return AlmLayout::full_index(header.lmax, m, m); };
  int m = 0;
  for (int step = 1 << 24; step > 0; step /= 2) {
    if (m + step <= header.mmax && begin_of(m + step) <= run.first) m += step;
  }
  int l = m + static_cast<int>(run.first - begin_of(m));
  for (std::int64_t i = 0; i < run.count; ++i, ++l) {
    if (l > header.lmax) l = ++m;
    const bool wanted = m <= layout.mmax() && l <= layout.lmax();
    result.owner.push_back(wanted ? owners[to_size(m)] : RowRoute::nobody);
    result.key.push_back((static_cast<std::int64_t>(m) << 32) | l);
  }
  return result;
}

std::int64_t local_index(const AlmLayout& layout, std::int64_t key) {
  const int m = static_cast<int>(key >> 32);
  const int l = static_cast<int>(key & 0xffffffff);
  return layout.index(layout.row_of(m), l);
}

class Hdf5AlmReader final : public AlmReader {
 public:
  Hdf5AlmReader(const Communicator& comm, const std::string& path, const Hdf5Limits& limits)
      : comm_(comm), path_(path), limits_(limits), info_(share_info(comm, path)) {
    header_ = info_.header;
  }
  void read(std::span<const int> components, const AlmLayout& layout, AlmView<double> alm) override {
    read_components(components, layout, alm);
  }
  void read(std::span<const int> components, const AlmLayout& layout, AlmView<float> alm) override {
    read_components(components, layout, alm);
  }

 private:
  template <class C>
  void read_components(std::span<const int> components, const AlmLayout& layout, ComponentView<C> alm) const;
  void check_shapes(std::span<const int> components, const AlmLayout& layout, std::int64_t n_components,
                    std::int64_t size) const;
  std::vector<double> read_share(const Hdf5Rows& rows, std::span<const int> components, RowRun run) const;

  Communicator comm_;
  std::string path_;
  Hdf5Limits limits_;
  AlmInfo info_;
};

void Hdf5AlmReader::check_shapes(std::span<const int> components, const AlmLayout& layout, std::int64_t n_components,
                                 std::int64_t size) const {
  if (n_components != ssize64(components) || size < layout.size()) {
    throw UsageError(fmt::format("{}: a_lm of {} components and {} coefficients cannot take {} of {}", path_,
                                 n_components, size, components.size(), layout.size()));
  }
  for (const int component : components) {
    if (component < 0 || component >= ssize64(header_.components)) {
      throw UsageError(fmt::format("{}: has no component {}; it has {}", path_, component, header_.components.size()));
    }
  }
}

/// [coefficient][component][real, imaginary]. Collective.
std::vector<double> Hdf5AlmReader::read_share(const Hdf5Rows& rows, std::span<const int> components, RowRun run) const {
  const std::int64_t width = ssize64(components);
  std::vector<double> share, one;
  agree(comm_, [&] {
    share.resize(to_size(run.count * width * 2));
    one.resize(to_size(run.count * 2));
  });
  for (std::int64_t c = 0; c < width; ++c) {
    together(comm_, [&] { rows.read(components[to_size(c)], std::span(&run, 1), std::span(one)); });
    for (std::int64_t i = 0; i < run.count; ++i) {
      std::copy_n(one.begin() + 2 * i, 2, share.begin() + 2 * (i * width + c));
    }
  }
  return share;
}

template <class C>
void Hdf5AlmReader::read_components(std::span<const int> components, const AlmLayout& layout,
                                    ComponentView<C> alm) const {
  using Real = typename C::value_type;
  agree(comm_, [&] { check_shapes(components, layout, alm.n_components(), alm.size()); });
  const std::int64_t width = ssize64(components);
  const std::vector<int> owners = order_owners(comm_, layout);
  for (std::int64_t c = 0; c < width; ++c) std::fill_n(alm.component(c).data(), layout.size(), C{});

  const Hdf5TransferFile file(comm_, path_, Hdf5Access::read, info_.shape.layout);
  const Hdf5Rows rows(file, info_.dataset, info_.shape);
  const RowWindows windows(0, AlmLayout::full_size(header_.lmax, std::min(header_.mmax, layout.mmax())),
                           limits_.numbers_per_call / std::max<std::int64_t>(1, 2 * width), comm_.size(), 2 * width);
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const RowRun run{windows.first(w, comm_.rank()), windows.rows(w, comm_.rank())};
    const Addresses to = agreed(comm_, [&] { return addresses(header_, run, layout, owners); });
    const std::vector<double> share = read_share(rows, components, run);
    const RowRoute route(comm_, to.owner, to.key);
    const std::vector<double> mine = route.to_owners(share, 2 * width);
    for (std::size_t k = 0; k < route.keys().size(); ++k) {
      const std::int64_t local = local_index(layout, route.keys()[k]);
      for (std::size_t c = 0; c < to_size(width); ++c) {
        const double* value = mine.data() + 2 * (k * to_size(width) + c);
        alm.component(static_cast<std::int64_t>(c))[local] = C(static_cast<Real>(value[0]), static_cast<Real>(value[1]));
      }
    }
  }
}

void create_alm(const std::string& path, const AlmHeader& header, const Provenance& provenance, const Hdf5Shape& shape) {
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance);
  Hdf5Handle group = create_hdf5_group(file, path, "alm");
  Hdf5Handle dataset = create_hdf5_dataset(group, path, "alm", shape);
  const Hdf5AttributeWriter attributes(dataset, path);
  std::vector<std::int64_t> spins;
  for (const std::string& name : header.components) spins.push_back(name == "E" || name == "B" ? 2 : 0);
  attributes.integer("lmax", header.lmax);
  attributes.integer("mmax", header.mmax);
  attributes.text("storage", "m-major: m(2lmax+1-m)/2+l");
  attributes.texts("components", header.components);
  attributes.integers("spin", spins);
  attributes.text("phase", "Condon-Shortley");
  if (const std::string unit = astropy_unit(header.unit); !unit.empty()) attributes.text("units", unit);
  if (!header.unit.empty()) attributes.text("TUNIT", header.unit);
  write_hdf5_processing(dataset, path, provenance);
  dataset.close();
  group.close();
  close_hdf5(std::move(file), path);
}

template <class T>
void check_complete(const std::string& path, const AlmHeader& header, const AlmLayout& layout, AlmView<const T> alm) {
  if (layout.lmax() != header.lmax || layout.mmax() != header.mmax) {
    throw UsageError(fmt::format("{}: the header says lmax = {}, mmax = {}, the layout {} and {}", path, header.lmax,
                                 header.mmax, layout.lmax(), layout.mmax()));
  }
  if (header.components.empty() || alm.n_components() != ssize64(header.components) || alm.size() < layout.size()) {
    throw UsageError(fmt::format("{}: a_lm of {} components and {} coefficients do not fill {} of {}", path,
                                 alm.n_components(), alm.size(), header.components.size(), layout.size()));
  }
}

}  // namespace

std::unique_ptr<AlmReader> open_hdf5_alm(const Communicator& comm, const std::string& path, const Hdf5Limits& limits) {
  return std::make_unique<Hdf5AlmReader>(comm, path, limits);
}

template <class T>
void write_hdf5_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm,
                    const Hdf5Limits& limits) {
  agree(comm, [&] { check_complete<T>(path, header, layout, alm); });
  const std::vector<int> owners = order_owners(comm, layout);
  const std::int64_t width = alm.n_components();
  const std::int64_t length = AlmLayout::full_size(header.lmax, header.mmax);
  const Hdf5Shape shape{{width, length}, Hdf5Shape::Number::complex, header.precision == Precision::single_ ? 4 : 8, {}};
  agree(comm, [&] {
    const auto missing = std::find(owners.begin(), owners.end(), RowRoute::nobody);
    if (missing != owners.end()) {
      throw UsageError(fmt::format("{}: no rank holds order {}", path, missing - owners.begin()));
    }
    if (comm.is_root()) create_alm(path, header, provenance, shape);
  });

  Hdf5TransferFile file(comm, path, Hdf5Access::write);
  {
    const Hdf5Rows rows(file, written_name, shape);
    const RowWindows windows(0, length, limits.numbers_per_call / (2 * width), comm.size(), 2 * width);
    for (std::int64_t w = 0; w < windows.count(); ++w) {
      const RowRun run{windows.first(w, comm.rank()), windows.rows(w, comm.rank())};
      const Addresses from = agreed(comm, [&] { return addresses(header, run, layout, owners); });
      const RowRoute route(comm, from.owner, from.key);
      std::vector<double> mine, share, one;
      agree(comm, [&] {
        for (const std::int64_t key : route.keys()) {
          const std::int64_t local = local_index(layout, key);
          for (std::int64_t c = 0; c < width; ++c) {
            mine.push_back(static_cast<double>(alm.component(c)[local].real()));
            mine.push_back(static_cast<double>(alm.component(c)[local].imag()));
          }
        }
        share.resize(to_size(run.count * width * 2));
        one.resize(to_size(run.count * 2));
      });
      route.to_share(mine, 2 * width, share);
      for (std::int64_t c = 0; c < width; ++c) {
        for (std::int64_t i = 0; i < run.count; ++i) {
          std::copy_n(share.begin() + 2 * (i * width + c), 2, one.begin() + 2 * i);
        }
        together(comm, [&] { rows.write(c, std::span(&run, 1), std::span<const double>(one)); });
      }
    }
  }
  file.close();
}

template void write_hdf5_alm<double>(const Communicator&, const std::string&, const AlmHeader&, const Provenance&,
                             const AlmLayout&, AlmView<const double>, const Hdf5Limits&);
template void write_hdf5_alm<float>(const Communicator&, const std::string&, const AlmHeader&, const Provenance&,
                             const AlmLayout&, AlmView<const float>, const Hdf5Limits&);

}  // namespace ringweave
