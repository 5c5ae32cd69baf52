// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/grid.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// More rings than nside 131072 has.
constexpr std::int64_t max_rings = std::int64_t{1} << 20;
/// A grid rebuilt from its name may differ from the stored colatitudes by another machine's
/// rounding.
constexpr double same_angle = 1e-12;

struct StoredRings {
  std::vector<double> theta;
  std::vector<double> phi0;
  std::vector<double> n_phi;
  std::vector<double> start;
  std::vector<double> weight;
};

StoredRings read_arrays(const Hdf5Handle& file, const std::string& path) {
  const auto read = [&](const char* name) {
    return read_small_dataset(file, path, name, max_rings);
  };
  StoredRings rings{
      read("grid/theta"), read("grid/phi0"), read("grid/nphi"), read("grid/ringstart"), {}};
  rings.weight = has_hdf5_object(file, "grid/weight")
                     ? read("grid/weight")
                     : std::vector<double>(rings.theta.size(), 0.0);
  const std::size_t n = rings.theta.size();
  if (rings.phi0.size() != n || rings.n_phi.size() != n || rings.start.size() != n ||
      rings.weight.size() != n) {
    throw DataError(
        path,
        fmt::format("/grid has {} theta but other numbers of phi0, nphi, ringstart or weight", n));
  }
  return rings;
}

std::vector<RingSpec> checked_specs(const StoredRings& stored, const std::string& path) {
  std::vector<RingSpec> specs;
  double start = 0;
  for (std::size_t r = 0; r < stored.theta.size(); ++r) {
    const double n_phi = stored.n_phi[r];
    if (!(n_phi >= 1 && n_phi <= 1e12) || n_phi != std::floor(n_phi)) {
      throw DataError(
          path, fmt::format("/grid/nphi[{}] = {}; expected a whole number of pixels, 1 or more", r,
                            n_phi));
    }
    if (stored.start[r] != start) {
      throw DataError(
          path, fmt::format("/grid/ringstart[{}] = {}; expected {}, the pixels of the rings before",
                            r, stored.start[r], start));
    }
    if (r > 0 && !(stored.theta[r] > stored.theta[r - 1])) {
      throw DataError(path, fmt::format("/grid/theta[{}] = {} does not ascend from north to south",
                                        r, stored.theta[r]));
    }
    specs.push_back(
        {stored.theta[r], stored.phi0[r], static_cast<std::int64_t>(n_phi), stored.weight[r]});
    start += n_phi;
  }
  return specs;
}

/// Returns the number of rings of the named grid; empty for a name that is only a description.
std::optional<std::int64_t> rings_of_name(const std::string& name) {
  const std::size_t colon = name.find(':');
  if (colon == std::string::npos) return std::nullopt;
  const std::string kind = name.substr(0, colon);
  if (kind != "gauss" && kind != "clenshaw" && kind != "fejer") return std::nullopt;
  std::int64_t size = 0;
  const auto parsed = std::from_chars(name.data() + colon + 1, name.data() + name.size(), size);
  if (parsed.ec != std::errc{} || size > max_rings) return std::nullopt;
  return kind == "gauss" ? size + 1 : size;
}

bool same_rings(const RingGrid& grid, const std::vector<RingSpec>& specs) {
  if (grid.n_rings() != ssize64(specs)) return false;
  for (std::int64_t r = 0; r < grid.n_rings(); ++r) {
    const Ring& ring = grid.ring(RingId{r});
    const RingSpec& spec = specs[to_size(r)];
    if (ring.n_phi != spec.n_phi || std::abs(ring.theta - spec.theta) > same_angle ||
        std::abs(ring.phi0 - spec.phi0) > same_angle) {
      return false;
    }
  }
  return true;
}

}  // namespace

void write_hdf5_grid(const Hdf5Handle& file, const std::string& path, const RingGrid& grid) {
  const Hdf5Handle group = create_hdf5_group(file, path, "grid");
  Hdf5AttributeWriter(group, path).text("name", grid.name());
  std::vector<double> theta, phi0, weight;
  std::vector<std::int64_t> n_phi, start;
  for (const Ring& ring : grid.rings()) {
    theta.push_back(ring.theta);
    phi0.push_back(ring.phi0);
    weight.push_back(ring.weight);
    n_phi.push_back(ring.n_phi);
    start.push_back(ring.first_pixel);
  }
  const Hdf5Handle ring = create_hdf5_dimension(group, path, "ring", grid.n_rings());
  const auto write = [&](const char* name, hid_t type, const void* values, const char* unit) {
    const Hdf5Handle dataset =
        write_small_dataset(group, path, name, type, {grid.n_rings()}, values);
    Hdf5AttributeWriter(dataset, path).text("units", unit);
    attach_hdf5_scales(dataset, path, {&ring});
  };
  write("theta", H5T_NATIVE_DOUBLE, theta.data(), "rad");
  write("phi0", H5T_NATIVE_DOUBLE, phi0.data(), "rad");
  write("nphi", H5T_NATIVE_INT64, n_phi.data(), "1");
  write("ringstart", H5T_NATIVE_INT64, start.data(), "1");
  write("weight", H5T_NATIVE_DOUBLE, weight.data(), "sr");
}

std::shared_ptr<const RingGrid> read_hdf5_grid(const Hdf5Handle& file, const std::string& path) {
  const std::vector<RingSpec> specs = checked_specs(read_arrays(file, path), path);
  std::string name;
  {
    const Hdf5Handle group(H5Gopen2(file.id(), "grid", H5P_DEFAULT), H5Gclose);
    if (group.valid()) name = Hdf5AttributeReader(group, path).text("name").value_or("");
  }
  try {
    const std::optional<std::int64_t> n_rings = rings_of_name(name);
    if (!n_rings) return std::make_shared<const RingGrid>(RingGrid::from_rings(specs));
    if (*n_rings == ssize64(specs)) {
      auto grid = std::make_shared<const RingGrid>(RingGrid::from_name(name));
      if (same_rings(*grid, specs)) return grid;
    }
  } catch (const UsageError& error) {
    throw DataError(path, fmt::format("/grid: {}", error.what()));
  }
  throw DataError(
      path,
      fmt::format("/grid is named {} but its rings are others; remove the name to use the rings",
                  name));
}

}  // namespace ringweave::detail::inline io
