// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/error_estimate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "gyro/interpolation.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

/// The nodes of an axis that have every second one among them, with both ends.
PlaneAxis all_nodes(PlaneAxis axis) {
  if (axis.boundary == PlaneBoundary::periodic || axis.size % 2 == 1) return axis;
  axis.last = axis.node(axis.size - 2);
  --axis.size;
  return axis;
}

PlaneAxis second_nodes(PlaneAxis axis) {
  if (axis.boundary == PlaneBoundary::periodic) axis.last -= axis.spacing();
  axis.size = (axis.size + 1) / 2;
  return axis;
}

void require_axis(const PlaneAxis& axis, const GyroJob& job, char name) {
  const bool is_periodic = axis.boundary == PlaneBoundary::periodic;
  if (is_periodic && axis.size % 2 == 1) {
    throw UsageError(
        fmt::format("--estimate: the periodic axis {} has {} nodes; expected an even number, of "
                    "which every second one is periodic too",
                    name, axis.size));
  }
  const Interpolation interpolation =
      job.spec.method == GyroMethod::bilinear ? Interpolation::bilinear : Interpolation::bicubic;
  const std::int64_t least =
      axis.boundary == PlaneBoundary::zero ? 2 * least_nodes(interpolation) - 1 : 5;
  if (axis.size >= least) return;
  throw UsageError(
      fmt::format("--estimate: the axis {} has {} nodes; expected {} or more, so that "
                  "every second one suffices for --method {}",
                  name, axis.size, least, word_of(job.spec.method)));
}

/// The averages of one plane over one radius, from all nodes or from every second.
class PlaneAverage {
 public:
  PlaneAverage(const GyroJob& job, const PlaneGrid& grid, double radius)
      : combination_(job.combination),
        gyroaverage_(Communicator::self(), spec_of(job, grid, radius)),
        field_(1, grid.n_nodes()),
        result_(1, grid.n_nodes()) {}

  /// Takes every `stride`th node of rows that are n_x long.
  ComponentView<const double> of(const double* plane, std::int64_t n_x, std::int64_t stride) {
    const PlaneGrid& grid = gyroaverage_.spec().grid;
    double* field = field_.view().data();
    for (std::int64_t y = 0; y < grid.y.size; ++y) {
      for (std::int64_t x = 0; x < grid.x.size; ++x)
        field[y * grid.x.size + x] = plane[y * stride * n_x + x * stride];
    }
    gyroaverage_.each<double>(std::as_const(field_).view(), result_.view());
    if (combination_ == GyroCombination::twice)
      gyroaverage_.pairs<double>(std::as_const(result_).view(), result_.view());
    return std::as_const(result_).view();
  }

 private:
  static GyroSpec spec_of(const GyroJob& job, const PlaneGrid& grid, double radius) {
    GyroSpec spec = job.spec;
    spec.grid = grid;
    spec.radii = {radius};
    spec.n_fields = 1;
    return spec;
  }

  GyroCombination combination_;
  Gyroaverage gyroaverage_;
  ComponentBuffer<double> field_;
  ComponentBuffer<double> result_;
};

/// The averages of one radius, and how far they are apart.
class AveragePair {
 public:
  AveragePair(const GyroJob& job, double radius)
      : n_x_(job.spec.grid.x.size),
        plane_(job.spec.grid.n_nodes()),
        grid_{all_nodes(job.spec.grid.x), all_nodes(job.spec.grid.y)},
        all_(job, grid_, radius),
        second_(job, {second_nodes(grid_.x), second_nodes(grid_.y)}, radius) {}

  MapView<double> plane() { return {plane_.data(), 1, plane_.size()}; }
  double largest() const { return largest_; }
  double difference() const { return difference_; }

  void compare() {
    const ComponentView<const double> all = all_.of(plane_.data(), n_x_, 1);
    const ComponentView<const double> second = second_.of(plane_.data(), n_x_, 2);
    const std::int64_t n_second = (grid_.x.size + 1) / 2;
    for (std::int64_t i = 0; i < second.size(); ++i) {
      const std::int64_t at = i / n_second * 2 * grid_.x.size + i % n_second * 2;
      difference_ = std::max(difference_, std::abs(all.data()[at] - second.data()[i]));
    }
    for (std::int64_t i = 0; i < all.size(); ++i)
      largest_ = std::max(largest_, std::abs(all.data()[i]));
  }

 private:
  std::int64_t n_x_;
  HostBuffer<double> plane_;
  PlaneGrid grid_;
  PlaneAverage all_;
  PlaneAverage second_;
  double largest_ = 0;
  double difference_ = 0;
};

}  // namespace

void require_second_nodes(const GyroJob& job) {
  if (job.spec.method != GyroMethod::bilinear && job.spec.method != GyroMethod::bicubic) {
    throw UsageError(
        "--estimate belongs to --method bilinear and bicubic; leave it out: chebyshev always gives "
        "an error to expect");
  }
  require_axis(job.spec.grid.x, job, 'x');
  require_axis(job.spec.grid.y, job, 'y');
}

double estimate_error(Run& run, const GyroJob& job, const PlaneFileReader& reader) {
  run.progress.stage("estimating the error");
  const std::int64_t n_radii = ssize64(job.spec.radii);
  const std::int64_t n_rounds = (n_radii + run.comm.size() - 1) / run.comm.size();
  double largest = 0;
  double difference = 0;
  for (std::int64_t round = 0; round < n_rounds; ++round) {
    const std::int64_t radius = round * run.comm.size() + run.comm.rank();
    std::optional<AveragePair> averages;
    agree(run.comm, [&] {
      if (radius < n_radii) averages.emplace(job, job.spec.radii[to_size(radius)]);
    });
    for (std::int64_t field = 0; field < job.n_fields; ++field) {
      PlaneFilePart part;
      if (averages) part = {{job.numbers_in.number(radius, field)}, 0, job.spec.grid.y.size};
      reader.read(part, averages ? averages->plane() : MapView<double>());
      const StageTimer timer(&run.times, "estimate");
      agree(run.comm, [&] {
        if (averages) averages->compare();
      });
    }
    if (averages) {
      largest = std::max(largest, averages->largest());
      difference = std::max(difference, averages->difference());
    }
    run.progress.step(checked_cast<int>(round + 1, "rounds"),
                      checked_cast<int>(n_rounds, "rounds"));
  }
  largest = run.comm.max(largest);
  difference = run.comm.max(difference);
  const double of_order = job.spec.method == GyroMethod::bilinear ? 3 : 15;
  return largest > 0 ? difference / of_order / largest : 0;
}

}  // namespace ringweave::detail::inline app
