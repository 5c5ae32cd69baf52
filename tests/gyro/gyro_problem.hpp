// SPDX-License-Identifier: GPL-3.0-or-later
// Gyroaverages of whole planes, whatever the ranks have of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/schemes.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::test {

enum class GyroCall { each, pairs, sum, each_adjoint, pairs_adjoint, sum_adjoint };

constexpr GyroCall all_gyro_calls[] = {GyroCall::each,          GyroCall::pairs,
                                       GyroCall::sum,           GyroCall::each_adjoint,
                                       GyroCall::pairs_adjoint, GyroCall::sum_adjoint};

/// Input or output of a call: whole planes of all ranks.
struct GyroPlanes {
  bool are_fields = true;  ///< on the nodes, not the targets
  bool have_radii = false;
};

inline GyroPlanes input_of(GyroCall call) {
  switch (call) {
    case GyroCall::each: return {true, false};
    case GyroCall::pairs:
    case GyroCall::sum: return {true, true};
    case GyroCall::sum_adjoint: return {false, false};
    default: return {false, true};
  }
}
inline GyroPlanes output_of(GyroCall call) {
  switch (call) {
    case GyroCall::each: return {false, true};
    case GyroCall::pairs: return {false, true};
    case GyroCall::sum: return {false, false};
    case GyroCall::each_adjoint: return {true, false};
    default: return {true, true};
  }
}

inline const PlaneGrid grid_of(const GyroSpec& spec, const GyroPlanes& planes) {
  return planes.are_fields ? spec.grid : targets_of(spec);
}
inline std::int64_t values_of(const GyroSpec& spec, const GyroPlanes& planes) {
  return (planes.have_radii ? ssize64(spec.radii) : 1) * spec.n_fields *
         grid_of(spec, planes).n_nodes();
}

inline std::vector<double> random_values(std::int64_t n, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(to_size(n));
  for (double& value : values) value = uniform(random);
  return values;
}

/// Returns a plane of n x n values moved by one of the eight symmetries of the square, 0 to 7.
inline std::vector<double> moved(const std::vector<double>& plane, std::int64_t n, int symmetry) {
  std::vector<double> result(plane.size());
  for (std::int64_t y = 0; y < n; ++y) {
    for (std::int64_t x = 0; x < n; ++x) {
      std::int64_t to_x = (symmetry & 1) != 0 ? n - 1 - x : x;
      std::int64_t to_y = (symmetry & 2) != 0 ? n - 1 - y : y;
      if ((symmetry & 4) != 0) std::swap(to_x, to_y);
      result[to_size(to_y * n + to_x)] = plane[to_size(y * n + x)];
    }
  }
  return result;
}

inline std::vector<double> weights_of(const GyroSpec& spec) {
  return random_values(ssize64(spec.radii), 99);
}

/// Calls move(global index of the first value, local component, values) for each component of a
/// rank's part.
template <class Move>
void for_components(const GyroSpec& spec, const GyroPart& part, const GyroPlanes& planes,
                    const Move& move) {
  const PlaneGrid grid = grid_of(spec, planes);
  const std::int64_t first_row = planes.are_fields ? part.field_row_begin : part.row_begin;
  const std::int64_t n_rows = planes.are_fields ? part.n_field_rows() : part.n_rows();
  const std::int64_t n_radii = planes.have_radii ? part.n_radii() : 1;
  for (std::int64_t r = 0; r < n_radii; ++r) {
    for (std::int64_t f = 0; f < part.n_fields(); ++f) {
      const std::int64_t radius = planes.have_radii ? part.radius_begin + r : 0;
      const std::int64_t plane = radius * spec.n_fields + part.field_begin + f;
      move(plane * grid.n_nodes() + first_row * grid.x.size, r * part.n_fields() + f,
           n_rows * grid.x.size);
    }
  }
}

template <class T>
ComponentBuffer<T> make_part(const GyroSpec& spec, const GyroPart& part, const GyroPlanes& planes) {
  if (part.is_empty()) return {};
  const std::int64_t rows = planes.are_fields ? part.n_field_rows() : part.n_rows();
  return {part.n_fields() * (planes.have_radii ? part.n_radii() : 1),
          rows * grid_of(spec, planes).x.size};
}

template <class T>
ComponentBuffer<T> part_of(const GyroSpec& spec, const GyroPart& part, const GyroPlanes& planes,
                           const std::vector<double>& whole) {
  ComponentBuffer<T> local = make_part<T>(spec, part, planes);
  for_components(spec, part, planes, [&](std::int64_t at, std::int64_t c, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      local.view().component(c)[i] = static_cast<T>(whole[to_size(at + i)]);
  });
  return local;
}

/// Returns whole planes of all ranks, on every rank. Of copies, those of the first rank.
template <class T>
std::vector<double> whole_of(const Communicator& comm, const GyroSpec& spec, const GyroPart& part,
                             const GyroPlanes& planes, ComponentView<const T> local) {
  std::vector<double> whole(to_size(values_of(spec, planes)), 0.0);
  const std::int64_t n_rows = planes.are_fields ? part.n_field_rows() : part.n_rows();
  const bool is_copy = (!planes.have_radii && part.radius_begin > 0) ||
                       (n_rows == grid_of(spec, planes).y.size && part.row_begin > 0);
  for_components(spec, part, planes, [&](std::int64_t at, std::int64_t c, std::int64_t n) {
    for (std::int64_t i = 0; i < n && !is_copy; ++i)
      whole[to_size(at + i)] = static_cast<double>(local.component(c)[i]);
  });
  comm.sum(whole.data(), ssize64(whole));
  return whole;
}

template <class T, MemorySpace Space = MemorySpace::host>
void call_gyroaverage(Gyroaverage& gyro, GyroCall call, ComponentView<const T, Space> in,
                      ComponentView<T, Space> out, const std::vector<double>& weights) {
  switch (call) {
    case GyroCall::each: return gyro.each(in, out);
    case GyroCall::pairs: return gyro.pairs(in, out);
    case GyroCall::sum: return gyro.sum(in, weights, out);
    case GyroCall::each_adjoint: return gyro.each_adjoint(in, out);
    case GyroCall::pairs_adjoint: return gyro.pairs_adjoint(in, out);
    case GyroCall::sum_adjoint: return gyro.sum_adjoint(in, weights, out);
  }
}

/// Runs a call on whole planes. Collective.
template <class T>
std::vector<double> run_call(const Communicator& comm, Gyroaverage& gyro, GyroCall call,
                             const std::vector<double>& whole) {
  const GyroSpec& spec = gyro.spec();
  const GyroPart& part = gyro.part();
  const ComponentBuffer<T> in = part_of<T>(spec, part, input_of(call), whole);
  ComponentBuffer<T> out = make_part<T>(spec, part, output_of(call));
  call_gyroaverage<T>(gyro, call, in.view(), out.view(), weights_of(spec));
  return whole_of<T>(comm, spec, part, output_of(call), std::as_const(out).view());
}

/// Computes a call on whole planes by rows of the operator.
inline std::vector<double> expected_call(const GyroSpec& spec, GyroCall call,
                                         const std::vector<double>& in) {
  const GyroPlanes input = input_of(call);
  const GyroPlanes output = output_of(call);
  const std::vector<double> weights = weights_of(spec);
  std::vector<double> out(to_size(values_of(spec, output)), 0.0);
  const bool is_weighted = call == GyroCall::sum || call == GyroCall::sum_adjoint;
  const PlaneGrid targets = targets_of(spec);
  const std::int64_t n_in = grid_of(spec, input).n_nodes();
  const std::int64_t n_out = grid_of(spec, output).n_nodes();
  for (std::int64_t r = 0; r < ssize64(spec.radii); ++r) {
    for (std::int64_t target = 0; target < targets.n_nodes(); ++target) {
      const double x = targets.x.node(target % targets.x.size);
      const double y = targets.y.node(target / targets.x.size);
      const double factor = is_weighted ? weights[to_size(r)] : 1;
      for (const GyroWeight& entry :
           circle_row(spec.grid, spec.method, x, y, spec.radii[to_size(r)])) {
        const std::int64_t node = entry.y * spec.grid.x.size + entry.x;
        for (std::int64_t f = 0; f < spec.n_fields; ++f) {
          const std::int64_t from = (input.have_radii ? r : 0) * spec.n_fields + f;
          const std::int64_t to = (output.have_radii ? r : 0) * spec.n_fields + f;
          out[to_size(to * n_out + (output.are_fields ? node : target))] +=
              factor * entry.weight * in[to_size(from * n_in + (input.are_fields ? node : target))];
        }
      }
    }
  }
  return out;
}

/// Returns the largest difference over the largest value.
inline double largest_error(const std::vector<double>& found, const std::vector<double>& expected) {
  double error = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(found[i] - expected[i]);
    error = difference <= error ? error : difference;  // a NaN stays
    largest = std::max(largest, std::abs(expected[i]));
  }
  return error / largest;
}

inline GyroSpec gyro_spec(GyroMethod method, std::int64_t n_x, std::int64_t n_y,
                          std::vector<double> radii, std::int64_t n_fields) {
  GyroSpec spec;
  const PlaneNodes nodes =
      method == GyroMethod::chebyshev ? PlaneNodes::chebyshev : PlaneNodes::equispaced;
  spec.grid.x = {n_x, -1, 1, nodes, PlaneBoundary::zero};
  spec.grid.y = {n_y, -1, 1, nodes, PlaneBoundary::zero};
  spec.method = method;
  spec.radii = std::move(radii);
  spec.n_fields = n_fields;
  return spec;
}

constexpr GyroMethod all_gyro_methods[] = {GyroMethod::bilinear, GyroMethod::bicubic,
                                           GyroMethod::dct, GyroMethod::chebyshev};

}  // namespace ringweave::detail::test
