// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/gyro_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "gyro/circle_arcs.hpp"
#include "gyro/interpolation.hpp"
#include "gyro/schemes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline gyro {
namespace {

const char* name_of(GyroMethod method) {
  switch (method) {
    case GyroMethod::bilinear: return "bilinear";
    case GyroMethod::bicubic: return "bicubic";
    case GyroMethod::dct: return "dct";
    case GyroMethod::chebyshev: return "chebyshev";
  }
  return "?";
}

/// Returns the least nodes of an axis: below, the method is not defined.
std::int64_t least_nodes_of(GyroMethod method, PlaneBoundary boundary) {
  const bool is_cut = method == GyroMethod::bicubic && boundary == PlaneBoundary::zero;
  return is_cut ? least_nodes(Interpolation::bicubic) : 2;
}

void check_axis(const PlaneAxis& axis, const char* name, GyroMethod method) {
  const std::int64_t least = least_nodes_of(method, axis.boundary);
  if (axis.size < least) {
    throw UsageError(fmt::format("axis {} has {} nodes; method {} needs at least {}{}", name,
                                 axis.size, name_of(method), least,
                                 least > 2 ? "; take more nodes, or method bilinear" : ""));
  }
  if (!(std::isfinite(axis.first) && std::isfinite(axis.last) && axis.first < axis.last)) {
    throw UsageError(fmt::format(
        "axis {} goes from {} to {}; its ends must be finite and ascend; correct its coordinates",
        name, axis.first, axis.last));
  }
  const bool needs_chebyshev = method == GyroMethod::chebyshev;
  // Up to three nodes are of both kinds.
  if (axis.size > 3 && needs_chebyshev != (axis.nodes == PlaneNodes::chebyshev)) {
    throw UsageError(fmt::format("the nodes of axis {} are {}; method {} needs {} nodes; take {}",
                                 name, needs_chebyshev ? "equispaced" : "Chebyshev nodes",
                                 name_of(method), needs_chebyshev ? "Chebyshev" : "equispaced",
                                 needs_chebyshev ? "bicubic, bilinear or dct" : "chebyshev"));
  }
  if (needs_chebyshev && axis.boundary != PlaneBoundary::zero) {
    throw UsageError(fmt::format(
        "axis {} is {}; method chebyshev knows boundary zero only; take equispaced nodes and "
        "another method",
        name, axis.boundary == PlaneBoundary::periodic ? "periodic" : "mirrored"));
  }
}

void check_targets(std::int64_t targets, const char* name, GyroMethod method) {
  if (targets == 0) return;
  if (method != GyroMethod::chebyshev) {
    throw UsageError(fmt::format(
        "{} targets along {} are asked for; results of method {} have the nodes of the field; "
        "leave them at 0, or take method chebyshev",
        targets, name, name_of(method)));
  }
  if (targets < 2) {
    throw UsageError(
        fmt::format("{} targets along {}; there are 2 or more, or 0 for the nodes of the field",
                    targets, name));
  }
}

void check_radii(const GyroSpec& spec) {
  if (spec.radii.empty())
    throw UsageError("no radius is given; gyroaverages need one or more; name some");
  for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
    const double radius = spec.radii[to_size(r)];
    if (std::isfinite(radius) && radius >= 0) continue;
    throw UsageError(fmt::format(
        "radius {} (from 0) is {}; radii are finite and 0 or more; correct or leave it out", r,
        radius));
  }
}

std::int64_t least_padding_of(const GyroSpec& spec, const PlaneAxis& axis) {
  if (axis.boundary != PlaneBoundary::zero) return 0;
  std::int64_t least = 0;
  for (const double radius : spec.radii) {
    if (!is_beyond(spec.grid, radius))
      least = std::max(least, least_padding(radius_in_spacings(axis, radius)));
  }
  return least;
}

std::string place_of(std::int64_t index, const GyroRows& rows, const PlaneComponents& numbers) {
  const std::int64_t x = index % rows.n_x;
  const std::int64_t y = index / rows.n_x % rows.n_y;
  const std::int64_t component = index / rows.n_x / rows.n_y;
  const std::string node = fmt::format("row {}, column {}", y, x);
  if (!numbers.has_radii) return fmt::format("field {}, {}", component, node);
  return fmt::format("radius {}, field {}, {}", component / numbers.n_fields_total,
                     component % numbers.n_fields_total, node);
}

/// Returns the number of a local value in the order of whole planes of all ranks.
std::int64_t global_index(std::int64_t component, std::int64_t i, const GyroRows& rows,
                          const PlaneComponents& numbers) {
  const std::int64_t radius =
      numbers.has_radii ? numbers.radius_begin + component / numbers.n_fields : 0;
  const std::int64_t field = numbers.field_begin + component % numbers.n_fields;
  return (radius * numbers.n_fields_total + field) * rows.n_x * rows.n_y +
         rows.row_begin * rows.n_x + i;
}

}  // namespace

PlaneGrid targets_of(const GyroSpec& spec) {
  PlaneGrid targets = spec.grid;
  const auto replace = [](PlaneAxis& axis, std::int64_t size) {
    if (size == 0) return;
    axis.size = size;
    axis.nodes = PlaneNodes::equispaced;
  };
  replace(targets.x, spec.targets_x);
  replace(targets.y, spec.targets_y);
  return targets;
}

void check_plane_grid(const PlaneGrid& grid, GyroMethod method) {
  check_axis(grid.x, "x", method);
  check_axis(grid.y, "y", method);
  checked_product(grid.x.size, grid.y.size, "nodes of a plane");
}

void check_gyro_spec(const GyroSpec& spec) {
  check_plane_grid(spec.grid, spec.method);
  check_targets(spec.targets_x, "x", spec.method);
  check_targets(spec.targets_y, "y", spec.method);
  check_radii(spec);
  check_padding(spec);
  if (spec.n_fields < 1) {
    throw UsageError(
        fmt::format("{} fields are asked for; a call has 1 or more; correct it", spec.n_fields));
  }
  if (spec.data == MemorySpace::pinned)
    throw UsageError(
        "data of the specification is pinned memory; fields and results are in the host's memory "
        "or in a device's; correct it");
  if (spec.data == MemorySpace::device && spec.backend != Backend::cuda) {
    throw UsageError(
        "gyroaverages of fields in a device's memory are formed there: choose the CUDA backend");
  }
  if (spec.most_bytes < 0) {
    throw UsageError(fmt::format(
        "at most {} bytes are allowed; give a number above 0, or 0 for the memory of the node",
        spec.most_bytes));
  }
}

std::int64_t digest_of(const GyroSpec& spec) {
  Digest digest;
  const auto add_number = [&](double value) { digest.add(std::bit_cast<std::uint64_t>(value)); };
  for (const PlaneAxis& axis : {spec.grid.x, spec.grid.y}) {
    digest.add(axis.size);
    add_number(axis.first);
    add_number(axis.last);
    digest.add(axis.nodes);
    digest.add(axis.boundary);
  }
  digest.add(ssize64(spec.radii));
  for (const double radius : spec.radii) add_number(radius);
  digest.add(spec.method);
  digest.add(spec.targets_x);
  digest.add(spec.targets_y);
  digest.add(spec.padding);
  digest.add(spec.n_fields);
  digest.add(spec.sums);
  digest.add(spec.numbers);
  digest.add(spec.backend);
  digest.add(spec.data);
  return digest.value();
}

double radius_in_spacings(const PlaneAxis& axis, double radius) {
  return rounded_radius(radius / axis.spacing());
}

void check_padding(const GyroSpec& spec) {
  if (spec.padding == -1) return;
  if (spec.method != GyroMethod::dct) {
    throw UsageError(
        fmt::format("a padding of {} nodes is asked for; only method dct is padded; leave it at -1",
                    spec.padding));
  }
  const std::int64_t least = std::max(least_padding_x(spec), least_padding_y(spec));
  if (spec.padding < least) {
    throw UsageError(fmt::format(
        "a padding of {} nodes is too little for radius {}: circles would reach images of the "
        "field; pad {} nodes or more",
        spec.padding, *std::max_element(spec.radii.begin(), spec.radii.end()), least));
  }
}

std::int64_t least_padding(double radius) {
  constexpr double most = 1e15;  // beyond, no memory holds a row
  return std::max<std::int64_t>(
      0, static_cast<std::int64_t>(std::ceil((std::min(radius, most) - 1) / 2)));
}

std::int64_t least_padding_x(const GyroSpec& spec) { return least_padding_of(spec, spec.grid.x); }
std::int64_t least_padding_y(const GyroSpec& spec) { return least_padding_of(spec, spec.grid.y); }

bool is_beyond(const PlaneGrid& grid, double radius) {
  if (grid.x.boundary != PlaneBoundary::zero || grid.y.boundary != PlaneBoundary::zero)
    return false;
  constexpr double rounding = 1e-12;  // distances that differ by rounding only are equal
  return radius >
         std::hypot(grid.x.last - grid.x.first, grid.y.last - grid.y.first) * (1 + rounding);
}

void NotFinite::add(std::int64_t n, std::int64_t component, std::int64_t i, const GyroRows& rows,
                    const PlaneComponents& numbers) {
  if (n == 0) return;
  count += n;
  first = std::min(first, global_index(component, i, rows, numbers));
}

template <class T>
NotFinite not_finite(const GyroRows& rows, const PlaneComponents& numbers,
                     ComponentView<const T> planes) {
  NotFinite found;
  for (std::int64_t c = 0; c < planes.n_components(); ++c) {
    const View<const T> plane = planes.component(c);
    std::int64_t count = 0;
    std::int64_t first = NotFinite::nowhere;
#pragma omp parallel for schedule(static) reduction(+ : count) reduction(min : first)
    for (std::int64_t i = 0; i < plane.size(); ++i) {
      if (std::isfinite(plane[i])) continue;
      ++count;
      first = std::min(first, i);
    }
    found.add(count, c, first, rows, numbers);
  }
  return found;
}

void require_finite_planes(const Communicator& comm, const GyroRows& rows,
                           const PlaneComponents& numbers, const NotFinite& found) {
  const std::int64_t with_copies = comm.sum(found.count);
  if (with_copies == 0) return;
  const std::int64_t total = comm.sum(numbers.is_first_copy ? found.count : 0);
  const std::int64_t first = comm.min(found.first);
  throw DataError("gyroaverage",
                  fmt::format("{} values are NaN or infinite; the first is in {} (from 0); replace "
                              "them before",
                              total > 0 ? total : with_copies, place_of(first, rows, numbers)));
}

template NotFinite not_finite(const GyroRows&, const PlaneComponents&, ComponentView<const double>);
template NotFinite not_finite(const GyroRows&, const PlaneComponents&, ComponentView<const float>);

}  // namespace ringweave::detail::inline gyro
