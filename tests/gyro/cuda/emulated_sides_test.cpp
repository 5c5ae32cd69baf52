// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/plane_filter.hpp"
#include "gyro/cuda/side_sequence.hpp"
#include "gyro/radius_tables.hpp"
#include "gyro/side_sums.hpp"
#include "gyro/stencil_plan.hpp"
#include "gyro/stencil_problem.hpp"
#include "support/emulated_block.hpp"
#include "support/tolerance.hpp"

// The launches of bilinear and bicubic averages as loops, with filters of the host, against the
// host's averages.
namespace ringweave::detail::test {
namespace {

constexpr std::int64_t n_planes = 2;
constexpr std::int64_t first_result = 1;  ///< after another one, which stays zero

double weight_of(std::int64_t radius) { return 0.5 + 0.25 * static_cast<double>(radius % 3); }

/// Adds weight times what a filter makes of the planes that are held.
void add_filtered(const StencilPlan& plan, const StencilFilter& planned, Direction direction,
                  const double* multiplier, double weight, const gpu::StencilPlanes& planes) {
  const PlaneFilter filter(planned.x, planned.y);
  HostBuffer<std::complex<double>> spectrum(filter.spectrum_size());
  HostBuffer<double> scratch(filter.scratch_size(1));
  const FilterWindow window = direction == Direction::average
                                  ? plan.whole_sources(planned.first_row)
                                  : FilterWindow{0, plan.n_x, 0, planned.y.size};
  for (std::int64_t p = 0; p < n_planes; ++p) {
    const double* const held =
        planes.held + (p * plan.rows().size() + planned.first_row) * plan.n_x;
    filter.forward(held, plan.n_x, window, spectrum.data(), scratch.data(), 1);
    filter.multiply({multiplier, MultiplierForm::whole}, weight, spectrum.data(), spectrum.data(),
                    Accumulate::overwrite, scratch.data(), 1);
    filter.backward(spectrum.data(), planes.sums + p * plan.rows().own.size() * plan.n_x, plan.n_x,
                    Accumulate::add, scratch.data(), 1);
  }
}

/// Returns the sums over all radii in some rows, [plane][row][x].
Plane emulated(const GyroSpec& spec, RowRange own, Direction direction, const Plane& in) {
  const StencilPlan plan = plan_stencil(spec, own);
  const HeldRows& rows = plan.rows();
  const SideSums sides(plan.sides);
  gpu::EmulatedMachine machine;
  gpu::SideSequence sequence(sides, n_planes, (first_result + 1) * n_planes, machine);
  const gpu::StencilPlanes planes = sequence.planes(first_result * n_planes);
  for (std::int64_t i = 0; i < n_planes * rows.size(); ++i) {
    const std::int64_t row = i / rows.size() * plan.n_y + rows.row(i % rows.size());
    std::copy_n(in.data() + row * plan.n_x, plan.n_x, planes.held + i * plan.n_x);
  }
  sequence.load(direction, n_planes);
  for (std::int64_t result = 0; result <= first_result; ++result)
    sequence.clear(direction, n_planes, result * n_planes);
  for (std::int64_t r = 0; r < ssize64(plan.radii); ++r) {
    const RadiusTables tables = make_radius_tables(plan, r, MultiplierForm::whole);
    sequence.add_tables(tables.sides);
    const StencilPlan::Radius& radius = plan.radii[to_size(r)];
    if (radius.is_beyond) continue;
    if (radius.filter < 0) {
      FilterWindow window = plan.whole_sources(rows.own.begin - rows.positions.begin);
      window.y_end = std::min(window.y_end, rows.own.size());
      sequence.add_identity(window, weight_of(r), n_planes, first_result * n_planes);
    } else {
      add_filtered(plan, plan.filters[to_size(radius.filter)], direction, tables.multiplier.data(),
                   weight_of(r), planes);
    }
    sequence.add(direction, r, weight_of(r), n_planes, first_result * n_planes);
  }
  sequence.finish(direction, (first_result + 1) * n_planes);
  return {planes.sums, planes.sums + n_planes * own.size() * plan.n_x};
}

Plane on_the_host(const GyroSpec& spec, Direction direction, const Plane& in) {
  WholePlanes planes(spec, n_planes);
  const std::int64_t n_nodes = spec.grid.n_nodes();
  Plane sums(in.size());
  planes.scheme->clear(*planes.work, direction);
  planes.scheme->load(*planes.work, {in.data(), n_planes, n_nodes});
  for (std::int64_t r = 0; r < ssize64(spec.radii); ++r)
    planes.scheme->add(*planes.work, r, weight_of(r));
  planes.scheme->store(*planes.work, {sums.data(), n_planes, n_nodes}, Accumulate::overwrite);
  return sums;
}

/// Compares the sums of both directions, of all rows and of bands.
void expect_as_the_host(const GyroSpec& spec) {
  const std::int64_t n_x = spec.grid.x.size;
  const std::int64_t n_y = spec.grid.y.size;
  const Plane in = random_plane(n_planes * spec.grid.n_nodes(), 1);
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const Plane expected = on_the_host(spec, direction, in);
    for (const RowRange own : {RowRange{0, n_y}, RowRange{0, n_y / 3}, RowRange{n_y / 3, n_y - 2},
                               RowRange{n_y - 2, n_y}}) {
      const Plane found = emulated(spec, own, direction, in);
      Plane rows;
      for (std::int64_t p = 0; p < n_planes; ++p) {
        const auto first = expected.begin() + (p * n_y + own.begin) * n_x;
        rows.insert(rows.end(), first, first + own.size() * n_x);
      }
      EXPECT_LT(largest_difference(found, rows), tolerance::max_over_rms * tolerance::direct_sum)
          << "rows " << own.begin << " to " << own.end
          << (direction == Direction::average ? ", averages" : ", transposes");
    }
  }
}

TEST(EmulatedSides, AreTheHosts) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic}) {
    for (const PlaneBoundary x : boundaries) {
      for (const PlaneBoundary y : boundaries) {
        SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(method) << ", boundaries "
                                        << static_cast<int>(x) << static_cast<int>(y));
        const PlaneGrid grid{plane_axis(15, x, 0, 14), plane_axis(12, y, -1, 7.8)};
        expect_as_the_host(stencil_spec(grid, method, {0, 0.4, 2, 5.7, 11.9, 1e3}));
      }
    }
  }
}

TEST(EmulatedSides, AreTheHostsInLargerPlanes) {
  const PlaneAxis axis = plane_axis(40, PlaneBoundary::zero, 0, 39);
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic})
    expect_as_the_host(stencil_spec({axis, axis}, method, {1, 3.3, 17}));
}

}  // namespace
}  // namespace ringweave::detail::test
