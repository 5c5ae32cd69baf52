// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/alm_rows.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/fields.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "io/row_redistribution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t max_lmax = 10'000'000;
constexpr std::int64_t max_components = 10000;

struct AlmInfo {
  AlmHeader header;
  std::string dataset;
  Hdf5Shape shape;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AlmInfo, header, dataset, shape)

std::string dataset_name(const Hdf5Handle& file, const std::string& path) {
  const std::vector<std::string> names = hdf5_datasets_without_scales(file, path, "alm");
  if (names.size() == 1) return "alm/" + names.front();
  if (std::find(names.begin(), names.end(), "alm") != names.end()) return "alm/alm";
  if (names.empty()) {
    const std::string held = words_of_content(file, path);
    throw DataError(
        path, fmt::format("holds {}; expected a dataset in /alm", held.empty() ? "no a_lm" : held));
  }
  throw DataError(
      path,
      fmt::format("holds {} a_lm datasets in /alm and none is named alm; keep one", names.size()));
}

int band_limit(const Hdf5AttributeReader& attributes, const char* name, const std::string& path) {
  const std::optional<std::int64_t> value = attributes.integer(name);
  if (!value || *value < 0 || *value > max_lmax) {
    throw DataError(path, fmt::format("attribute {} of the a_lm must be there and within 0 to {}",
                                      name, max_lmax));
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
    throw DataError(path,
                    fmt::format("mmax = {} is greater than lmax = {}", header.mmax, header.lmax));
  }
  const std::int64_t expected = AlmLayout::full_size(header.lmax, header.mmax);
  if (info.shape.number != Hdf5Shape::Number::complex || info.shape.dims.back() != expected) {
    throw DataError(
        path,
        fmt::format(
            "/{} must hold {} complex numbers a component for lmax = {}, mmax = {}; it has {}",
            info.dataset, expected, header.lmax, header.mmax, info.shape.dims.back()));
  }
  const std::int64_t n_components = info.shape.dims.size() == 2 ? info.shape.dims[0] : 1;
  if (n_components > max_components) {
    throw DataError(path, fmt::format("/{} has {} components; expected at most {}", info.dataset,
                                      n_components, max_components));
  }
  header.components = attributes.texts("components");
  if (ssize64(header.components) != n_components) {
    header.warnings.push_back("no usable list of components; taken as T, E, B in this order");
    header.components = {"T", "E", "B"};
    header.components.resize(to_size(n_components), "unnamed");
  }
  header.precision = info.shape.bytes == 4 ? Precision::single_ : Precision::double_;
  header.origin = read_hdf5_origin(file, dataset, path);
  header.coordsys = attributes.text("COORDSYS").value_or("");
  header.unit = attributes.text("TUNIT").value_or(attributes.text("units").value_or(""));
  return info;
}

class Hdf5AlmReader final : public AlmReader {
 public:
  Hdf5AlmReader(const Communicator& comm, const std::string& path, const Hdf5Limits& limits)
      : comm_(comm), path_(path), limits_(limits), info_(share_from_root(comm, [&] {
          return read_apart(path, [&] { return read_info(path); });
        })) {
    header_ = info_.header;
  }
  void read(std::span<const int> components, const AlmLayout& layout, AnyAlmView<> alm) override {
    std::visit([&](auto view) { read_components(components, layout, view); }, alm);
  }

 private:
  template <class C>
  void read_components(std::span<const int> components, const AlmLayout& layout,
                       ComponentView<C> alm) const;
  void check_shapes(std::span<const int> components, const AlmLayout& layout,
                    std::int64_t n_components, std::int64_t size) const;

  Communicator comm_;
  std::string path_;
  Hdf5Limits limits_;
  AlmInfo info_;
};

void Hdf5AlmReader::check_shapes(std::span<const int> components, const AlmLayout& layout,
                                 std::int64_t n_components, std::int64_t size) const {
  if (n_components != ssize64(components) || size < layout.size()) {
    throw UsageError(
        fmt::format("{}: a_lm of {} components and {} coefficients cannot take {} of {}", path_,
                    n_components, size, components.size(), layout.size()));
  }
  for (const int component : components) {
    if (component < 0 || component >= ssize64(header_.components)) {
      throw UsageError(fmt::format("{}: has no component {}; it has {}", path_, component,
                                   header_.components.size()));
    }
  }
}

template <class C>
void Hdf5AlmReader::read_components(std::span<const int> components, const AlmLayout& layout,
                                    ComponentView<C> alm) const {
  using Real = typename C::value_type;
  agree(comm_, [&] { check_shapes(components, layout, alm.n_components(), alm.size()); });
  const std::int64_t width = ssize64(components);
  const std::vector<int> owners = order_owners(comm_, layout);
  for (std::int64_t c = 0; c < width; ++c) std::fill_n(alm.component(c).data(), layout.size(), C{});

  Hdf5TransferFile file(comm_, path_, Hdf5Access::read);
  const Hdf5Rows rows(file, info_.dataset, info_.shape);
  const RowWindows windows(
      0, AlmLayout::full_size(header_.lmax, std::min(header_.mmax, layout.mmax())),
      limits_.numbers_per_call / std::max<std::int64_t>(1, 2 * width), comm_.size(), 2 * width);
  for (std::int64_t w = 0; w < windows.count(); ++w) {
    const RowRun run{windows.first(w, comm_.rank()), windows.rows(w, comm_.rank())};
    const AlmAddresses to =
        agreed(comm_, [&] { return alm_addresses(header_, run, layout, owners); });
    const std::vector<double> share = rows.read_together(components, run);
    const RowRedistribution route(comm_, to.owner, to.key);
    const std::vector<double> mine = route.to_owners(share, 2 * width);
    for (std::size_t k = 0; k < route.keys().size(); ++k) {
      const std::int64_t local = local_alm_index(layout, route.keys()[k]);
      for (std::size_t c = 0; c < to_size(width); ++c) {
        const double* value = mine.data() + 2 * (k * to_size(width) + c);
        alm.component(static_cast<std::int64_t>(c))[local] =
            C(static_cast<Real>(value[0]), static_cast<Real>(value[1]));
      }
    }
  }
  file.close();
}

}  // namespace

std::unique_ptr<AlmReader> open_hdf5_alm(const Communicator& comm, const std::string& path,
                                         const Hdf5Limits& limits) {
  return std::make_unique<Hdf5AlmReader>(comm, path, limits);
}

}  // namespace ringweave::detail::inline io
