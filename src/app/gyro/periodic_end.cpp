// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/periodic_end.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

/// A constant field says nothing, and then the next one is looked at; but not all of a large file.
constexpr std::int64_t most_fields = 8;
constexpr double rounding_of_double = 1e-12;
constexpr double rounding_of_float = 1e-6;

/// Compares two nodes of all lines.
bool are_equal(const PlaneLines& plane, std::int64_t i, std::int64_t k, double most) {
  for (std::int64_t line = 0; line < plane.n_lines; ++line) {
    if (std::abs(plane.at(i, line) - plane.at(k, line)) > most) return false;
  }
  return true;
}

bool is_zero(const PlaneLines& plane, std::int64_t i, double most) {
  for (std::int64_t line = 0; line < plane.n_lines; ++line) {
    if (std::abs(plane.at(i, line)) > most) return false;
  }
  return true;
}

/// Tells whether the second differences next to the seam agree better with that across it if the
/// last node is the first one again.
bool is_smoother_repeated(const PlaneLines& plane) {
  const std::int64_t n = plane.size;
  double repeated = 0;
  double open = 0;
  for (std::int64_t line = 0; line < plane.n_lines; ++line) {
    const auto f = [&](std::int64_t i) { return plane.at(i, line); };
    const double right = f(0) - 2 * f(1) + f(2);
    const double left = f(n - 1) - 2 * f(n - 2) + f(n - 3);
    const double across = f(n - 2) - 2 * f(0) + f(1);
    repeated += std::abs(across - right) + std::abs(across - left);
    open += std::abs(f(n - 1) - 2 * f(0) + f(1) - right) +
            std::abs(f(n - 2) - 2 * f(n - 1) + f(0) - left);
  }
  return repeated < open;
}

[[noreturn]] void refuse(const GyroJob& job, bool is_x) {
  const PlaneAxis& axis = is_x ? job.spec.grid.x : job.spec.grid.y;
  const char* line = is_x ? "column" : "row";
  throw DataError(
      job.options.input,
      fmt::format("the axis {} is periodic, and its last {} ({}) repeats the first one; expected "
                  "nodes that end one spacing before: cut the last {}, in numpy f[..., {}]",
                  is_x ? job.input.x.name : job.input.y.name, line, axis.size - 1, line,
                  is_x ? ":-1" : ":-1, :"));
}

}  // namespace

AxisEnd end_of_axis(const PlaneLines& plane, double rounding) {
  const std::int64_t n = plane.size;
  if (n < 4) return AxisEnd::unclear;
  double largest = 0;
  for (std::int64_t line = 0; line < plane.n_lines; ++line) {
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(plane.at(i, line)));
  }
  const double most = rounding * largest;
  if (!are_equal(plane, 0, n - 1, most)) return AxisEnd::open;
  if (are_equal(plane, 0, 1, most) && are_equal(plane, n - 2, n - 1, most)) return AxisEnd::unclear;
  // Such values, or none, are at the ends of fields that do not repeat, too.
  const bool is_even = are_equal(plane, 1, n - 2, most);
  const bool vanishes = is_zero(plane, 0, most) && is_zero(plane, n - 1, most);
  const bool is_sure = !is_even && !vanishes;
  return is_sure || is_smoother_repeated(plane) ? AxisEnd::repeats : AxisEnd::open;
}

void refuse_repeated_ends(Run& run, const GyroJob& job, const PlaneFileReader& reader) {
  const PlaneGrid& grid = job.spec.grid;
  bool looks_at_x = grid.x.boundary == PlaneBoundary::periodic;
  bool looks_at_y = grid.y.boundary == PlaneBoundary::periodic;
  if (job.is_adjoint() || (!looks_at_x && !looks_at_y)) return;
  const bool reads = run.comm.is_root();
  auto plane = agreed(run.comm, [&] { return HostBuffer<double>(reads ? grid.n_nodes() : 0); });
  const double rounding =
      job.input.precision == Precision::single_ ? rounding_of_float : rounding_of_double;
  const std::int64_t n_fields = std::min(job.input.n_fields(), most_fields);
  for (std::int64_t field = 0; field < n_fields && (looks_at_x || looks_at_y); ++field) {
    const PlaneFilePart part = reads ? PlaneFilePart{{field}, 0, grid.y.size} : PlaneFilePart{};
    reader.read(part, MapView<double>(plane.data(), reads ? 1 : 0, plane.size()));
    std::int64_t found[] = {static_cast<std::int64_t>(AxisEnd::unclear),
                            static_cast<std::int64_t>(AxisEnd::unclear)};
    if (reads) {
      const std::int64_t nx = grid.x.size;
      const std::int64_t ny = grid.y.size;
      found[0] = static_cast<std::int64_t>(end_of_axis({plane.data(), nx, 1, ny, nx}, rounding));
      found[1] = static_cast<std::int64_t>(end_of_axis({plane.data(), ny, nx, nx, 1}, rounding));
    }
    run.comm.broadcast(found, std::int64_t{sizeof found}, 0);
    const auto x_end = static_cast<AxisEnd>(found[0]);
    const auto y_end = static_cast<AxisEnd>(found[1]);
    if (looks_at_x && x_end == AxisEnd::repeats) refuse(job, true);
    if (looks_at_y && y_end == AxisEnd::repeats) refuse(job, false);
    looks_at_x = looks_at_x && x_end == AxisEnd::unclear;
    looks_at_y = looks_at_y && y_end == AxisEnd::unclear;
  }
}

}  // namespace ringweave::detail::inline app
