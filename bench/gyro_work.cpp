// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/gyro_work.hpp"

#include <cmath>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/bessel_filter.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/scheme.hpp"
#include "gyro/schemes.hpp"
#include "gyro/stencil_plan.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;
using Lengths = std::pair<std::int64_t, std::int64_t>;

std::int64_t table_bytes(const GyroSpec& spec) {
  const RowShare all{.row_end = targets_of(spec).y.size};
  const Communicator self = Communicator::self();
  const std::unique_ptr<Scheme> scheme = spec.method == GyroMethod::dct ? make_dct_scheme(spec)
                                         : spec.method == GyroMethod::chebyshev
                                             ? make_chebyshev_scheme(spec, self, all)
                                             : make_stencil_scheme(spec, self, all);
  std::int64_t bytes = 0;
  for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) bytes += scheme->table_bytes(r);
  return bytes;
}

/// Lengths of the filters that the radii have, of those that have one.
std::vector<Lengths> filters_of(const GyroSpec& spec) {
  std::vector<Lengths> lengths;
  if (spec.method == GyroMethod::dct) {
    for (const double radius : spec.radii) {
      if (is_beyond(spec.grid, radius)) continue;
      const BesselAxes axes = bessel_axes(spec.grid, radius, spec.padding);
      lengths.emplace_back(axes.x.length, axes.y.length);
    }
    return lengths;
  }
  const StencilPlan plan = plan_stencil(spec, {0, spec.grid.y.size});
  for (const StencilPlan::Radius& radius : plan.radii) {
    if (radius.filter < 0) continue;
    const StencilFilter& filter = plan.filters[to_size(radius.filter)];
    lengths.emplace_back(filter.x.length, filter.y.length);
  }
  return lengths;
}

double flops_of_fft(const Lengths& lengths) {
  const double n = static_cast<double>(lengths.first) * static_cast<double>(lengths.second);
  return 2.5 * n * std::log2(n);
}

double flops_of_chebyshev(const GyroSpec& spec) {
  const ChebyshevFold fold = make_chebyshev_fold(spec);
  std::int64_t products = 0;
  for (const ChebyshevFold::Segment& segment : fold.segments)
    products += segment.size * segment.n_products;
  return 2 * static_cast<double>(products) * static_cast<double>(ssize64(fold.targets)) *
         static_cast<double>(ssize64(spec.radii));
}

json flops_and_filters(const GyroSpec& spec) {
  const auto n_fields = static_cast<double>(spec.n_fields);
  json filters = json::array();
  if (spec.method == GyroMethod::chebyshev) {
    const double flops = n_fields * flops_of_chebyshev(spec);
    return {{"flops", {{"each", flops}, {"pairs", flops}}}, {"filters", filters}};
  }
  const std::vector<Lengths> lengths = filters_of(spec);
  double backward = 0;
  double forward = 0;
  for (const Lengths& one : lengths) {
    filters.push_back({one.first, one.second});
    backward += flops_of_fft(one);
  }
  // Radii with one filter share the transform of a field.
  for (const Lengths& one : std::set<Lengths>(lengths.begin(), lengths.end()))
    forward += flops_of_fft(one);
  return {
      {"flops", {{"each", n_fields * (forward + backward)}, {"pairs", n_fields * 2 * backward}}},
      {"filters", filters}};
}

}  // namespace

json gyro_work(const GyroSpec& spec) {
  json work = flops_and_filters(spec);
  work["table_bytes"] = table_bytes(spec);
  return work;
}

}  // namespace ringweave::detail
