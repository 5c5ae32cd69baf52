// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "gyro/device_radius_field.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/interpolation.hpp"
#include "gyro/target_weights.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Parts of the rows whose transposes are summed separately, in a fixed order.
constexpr std::int64_t n_transposed_parts = 16;
constexpr const char* average_name = "gyroaverage with radii";

/// Returns the interpolation of a method.
/// Error  UsageError unless it is bilinear or bicubic and the nodes of the grid suit it
Interpolation checked_interpolation(const PlaneGrid& grid, GyroMethod method) {
  if (method != GyroMethod::bilinear && method != GyroMethod::bicubic)
    throw UsageError(fmt::format("{}: use method bilinear or bicubic", average_name));
  check_plane_grid(grid, method);
  return method == GyroMethod::bilinear ? Interpolation::bilinear : Interpolation::bicubic;
}

/// The operator of a radius for each node, row by row.
class RadiusField {
 public:
  /// Checks the grid, the method and the radii. Error  UsageError as documented.
  RadiusField(const PlaneGrid& grid, GyroMethod method, std::span<const double> radii,
              std::int64_t row_begin, std::int64_t row_end)
      : grid_(grid),
        radii_(radii),
        row_begin_(row_begin),
        row_end_(row_end),
        interpolation_(checked_interpolation(grid, method)),
        weights_(grid, interpolation_) {
    check_radii();
  }

  std::int64_t n_rows() const { return row_end_ - row_begin_; }
  std::int64_t n_columns() const { return grid_.x.size; }
  std::int64_t n_targets() const { return n_rows() * grid_.x.size; }
  std::int64_t n_nodes() const { return grid_.n_nodes(); }
  RadiusTargets targets() const { return {grid_, interpolation_, radii_, row_begin_, row_end_}; }

  void check_shapes(std::int64_t field_nodes, std::int64_t result_nodes, std::int64_t n_fields,
                    std::int64_t n_results) const {
    require_planned(average_name, field_nodes, n_nodes(), "nodes of a field");
    require_planned(average_name, result_nodes, n_targets(), "nodes of a result");
    require_planned(average_name, n_results, n_fields, "results");
  }

  /// Calls visit(x, node, weight) for the weights of all targets (x, row); row 0 is the first one.
  template <class Visit>
  void visit_row(std::int64_t row, const Visit& visit) const {
    for (std::int64_t x = 0; x < grid_.x.size; ++x) {
      const GridPoint centre{{x, 0}, {row_begin_ + row, 0}};
      const double rho = radii_[to_size(row * grid_.x.size + x)];
      weights_.visit(centre, rho, [&](const ArcWeights& arc) {
        const ArcIndices nodes(weights_, arc);
        for (std::size_t j = 0; j < arc.y_count; ++j) {
          for (std::size_t i = 0; i < arc.x_count; ++i)
            visit(x, nodes.y[j] * grid_.x.size + nodes.x[i], arc.weight[j][i]);
        }
      });
    }
  }

 private:
  void check_radii() const {
    if (row_begin_ < 0 || row_end_ < row_begin_ || row_end_ > grid_.y.size) {
      throw UsageError(fmt::format("{}: rows {} .. {} of a grid that has {}", average_name,
                                   row_begin_, row_end_, grid_.y.size));
    }
    require_planned(average_name, ssize64(radii_), n_targets(), "radii");
    for (std::int64_t k = 0; k < ssize64(radii_); ++k) {
      const double rho = radii_[to_size(k)];
      if (std::isfinite(rho) && rho >= 0) continue;
      throw UsageError(
          fmt::format("{}: radius {} at row {}, column {}; give finite ones that are not negative",
                      average_name, rho, row_begin_ + k / grid_.x.size, k % grid_.x.size));
    }
  }

  const PlaneGrid& grid_;
  std::span<const double> radii_;
  std::int64_t row_begin_;
  std::int64_t row_end_;
  Interpolation interpolation_;
  TargetWeights weights_;
};

/// Counts the work of all threads; the calling one reports it.
class SharedProgress {
 public:
  SharedProgress(const GyroProgress& progress, std::int64_t total)
      : progress_(progress), total_(total) {}

  void add(std::int64_t n) {
    const std::int64_t done = done_ += n;
    if (progress_ && omp_get_thread_num() == 0) progress_(done, total_);
  }

 private:
  const GyroProgress& progress_;
  std::int64_t total_;
  std::atomic<std::int64_t> done_{0};
};

/// Averages all fields over the circles of one row.
/// sums  scratch, [field][x]
template <class T>
void average_row(const RadiusField& operators, std::int64_t row, ComponentView<const T> fields,
                 ComponentView<T> results, std::vector<double>& sums) {
  const std::int64_t n_x = operators.n_columns();
  const std::int64_t n_fields = fields.n_components();
  sums.assign(to_size(n_fields * n_x), 0.0);
  operators.visit_row(row, [&](std::int64_t x, std::int64_t node, double weight) {
    for (std::int64_t f = 0; f < n_fields; ++f) {
      sums[to_size(f * n_x + x)] += weight * static_cast<double>(fields.component(f)[node]);
    }
  });
  for (std::int64_t f = 0; f < n_fields; ++f) {
    for (std::int64_t x = 0; x < n_x; ++x)
      results.component(f)[row * n_x + x] = static_cast<T>(sums[to_size(f * n_x + x)]);
  }
}

/// Overwrites planes with the transpose of rows [begin, end).
template <class T>
void spread_rows(const RadiusField& operators, std::int64_t begin, std::int64_t end,
                 ComponentView<const T> results, ComponentView<double> planes) {
  const std::int64_t n_x = operators.n_columns();
  const std::int64_t n_fields = results.n_components();
  std::fill_n(planes.data(), n_fields * planes.size(), 0.0);
  for (std::int64_t row = begin; row < end; ++row) {
    operators.visit_row(row, [&](std::int64_t x, std::int64_t node, double weight) {
      for (std::int64_t f = 0; f < n_fields; ++f) {
        planes.component(f)[node] +=
            weight * static_cast<double>(results.component(f)[row * n_x + x]);
      }
    });
  }
}

/// Adds the planes of all parts, [part][field][node].
template <class T>
void add_parts(const HostBuffer<double>& parts, std::int64_t n_parts, ComponentView<T> fields) {
  const std::int64_t part_size = fields.n_components() * fields.size();
  for (std::int64_t f = 0; f < fields.n_components(); ++f) {
    const View<T> field = fields.component(f);
    const double* first = parts.data() + f * fields.size();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < fields.size(); ++i) {
      double sum = static_cast<double>(field[i]);
      for (std::int64_t part = 0; part < n_parts; ++part) sum += first[part * part_size + i];
      field[i] = static_cast<T>(sum);
    }
  }
}

}  // namespace

template <class T>
void gyroaverage_with_radii(const PlaneGrid& grid, GyroMethod method, std::span<const double> radii,
                            std::int64_t row_begin, std::int64_t row_end,
                            ComponentView<const T> fields, ComponentView<T> results,
                            Backend backend, const GyroProgress& progress) {
  const RadiusField operators(grid, method, radii, row_begin, row_end);
  operators.check_shapes(fields.size(), results.size(), fields.n_components(),
                         results.n_components());
  if (backend == Backend::cuda)
    return average_on_device(operators.targets(), fields, results, progress);
  FirstError error;
  SharedProgress shared(progress, operators.n_rows());
#pragma omp parallel
  {
    std::vector<double> sums;
#pragma omp for schedule(dynamic)
    for (std::int64_t row = 0; row < operators.n_rows(); ++row) {
      error.guard([&] { average_row(operators, row, fields, results, sums); });
      shared.add(1);
    }
  }
  error.rethrow();
}

template <class T>
void gyroaverage_with_radii_adjoint(const PlaneGrid& grid, GyroMethod method,
                                    std::span<const double> radii, std::int64_t row_begin,
                                    std::int64_t row_end, ComponentView<const T> results,
                                    ComponentView<T> fields, Backend backend,
                                    const GyroProgress& progress) {
  const RadiusField operators(grid, method, radii, row_begin, row_end);
  operators.check_shapes(fields.size(), results.size(), fields.n_components(),
                         results.n_components());
  if (backend == Backend::cuda)
    return transpose_on_device(operators.targets(), results, fields, progress);
  const std::int64_t n_rows = operators.n_rows();
  const std::int64_t n_parts = std::min(n_transposed_parts, n_rows);
  const std::int64_t n_fields = fields.n_components();
  const std::int64_t part_size = n_fields * fields.size();
  HostBuffer<double> parts(n_parts * part_size);
  FirstError error;
  SharedProgress shared(progress, n_rows);
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t part = 0; part < n_parts; ++part) {
    const std::int64_t begin = part * n_rows / n_parts;
    const std::int64_t end = (part + 1) * n_rows / n_parts;
    error.guard([&] {
      spread_rows(operators, begin, end, results,
                  {parts.data() + part * part_size, n_fields, fields.size()});
    });
    shared.add(end - begin);
  }
  error.rethrow();
  add_parts(parts, n_parts, fields);
}

template void gyroaverage_with_radii(const PlaneGrid&, GyroMethod, std::span<const double>,
                                     std::int64_t, std::int64_t, ComponentView<const float>,
                                     ComponentView<float>, Backend, const GyroProgress&);
template void gyroaverage_with_radii(const PlaneGrid&, GyroMethod, std::span<const double>,
                                     std::int64_t, std::int64_t, ComponentView<const double>,
                                     ComponentView<double>, Backend, const GyroProgress&);
template void gyroaverage_with_radii_adjoint(const PlaneGrid&, GyroMethod, std::span<const double>,
                                             std::int64_t, std::int64_t, ComponentView<const float>,
                                             ComponentView<float>, Backend, const GyroProgress&);
template void gyroaverage_with_radii_adjoint(const PlaneGrid&, GyroMethod, std::span<const double>,
                                             std::int64_t, std::int64_t,
                                             ComponentView<const double>, ComponentView<double>,
                                             Backend, const GyroProgress&);

}  // namespace ringweave
