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
#include "gyro/gyro_checks.hpp"
#include "gyro/gyro_setup.hpp"
#include "gyro/interpolation.hpp"
#include "ringweave/error.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Sums of a rank at once. More gain nothing but fewer tables.
constexpr std::int64_t usual_sum_bytes = std::int64_t{256} << 20;

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

/// The grids whose averages are compared.
PlaneGrid grid_of_all(const GyroJob& job) {
  return {all_nodes(job.spec.grid.x), all_nodes(job.spec.grid.y)};
}
PlaneGrid grid_of_second(const PlaneGrid& all) {
  return {second_nodes(all.x), second_nodes(all.y)};
}

/// Averages of one field over one radius, within all memory that there is.
GyroSpec spec_of(const GyroJob& job, const PlaneGrid& grid, double radius) {
  GyroSpec spec = job.spec;
  spec.grid = grid;
  spec.radii = {radius};
  spec.n_fields = 1;
  spec.most_bytes = 0;
  return spec;
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
  const double* of(const double* plane, std::int64_t n_x, std::int64_t stride) {
    const PlaneGrid& grid = gyroaverage_.spec().grid;
    double* field = field_.view().data();
    for (std::int64_t y = 0; y < grid.y.size; ++y) {
      for (std::int64_t x = 0; x < grid.x.size; ++x)
        field[y * grid.x.size + x] = plane[y * stride * n_x + x * stride];
    }
    gyroaverage_.each<double>(std::as_const(field_).view(), result_.view());
    if (combination_ == GyroCombination::twice)
      gyroaverage_.pairs<double>(std::as_const(result_).view(), result_.view());
    return result_.view().data();
  }

 private:
  GyroCombination combination_;
  Gyroaverage gyroaverage_;
  ComponentBuffer<double> field_;
  ComponentBuffer<double> result_;
};

/// Averages of a field from all nodes, and from every second.
struct TwoAverages {
  const double* all = nullptr;
  const double* second = nullptr;
};

/// Makes those of one radius.
class AveragePair {
 public:
  AveragePair(const GyroJob& job, const PlaneGrid& grid, double radius)
      : n_x_(job.spec.grid.x.size),
        plane_(job.spec.grid.n_nodes()),
        all_(job, grid, radius),
        second_(job, grid_of_second(grid), radius) {}

  MapView<double> plane() { return {plane_.data(), 1, plane_.size()}; }
  TwoAverages averages() {
    return {all_.of(plane_.data(), n_x_, 1), second_.of(plane_.data(), n_x_, 2)};
  }

 private:
  std::int64_t n_x_;
  HostBuffer<double> plane_;
  PlaneAverage all_;
  PlaneAverage second_;
};

/// The difference of averages of every second node from those of all nodes.
struct Distance {
  double largest = 0;  ///< of the averages
  double difference = 0;

  void compare(const PlaneGrid& grid, const TwoAverages& averages) {
    const std::int64_t n_second = (grid.x.size + 1) / 2;
    for (std::int64_t i = 0; i < grid_of_second(grid).n_nodes(); ++i) {
      const std::int64_t at = i / n_second * 2 * grid.x.size + i % n_second * 2;
      difference = std::max(difference, std::abs(averages.all[at] - averages.second[i]));
    }
    for (std::int64_t i = 0; i < grid.n_nodes(); ++i)
      largest = std::max(largest, std::abs(averages.all[i]));
  }
};

/// Weighted sums over radii, of some fields.
class WeightedSums {
 public:
  WeightedSums(std::int64_t n_fields, const PlaneGrid& grid)
      : all_(n_fields, grid.n_nodes()), second_(n_fields, grid_of_second(grid).n_nodes()) {}

  void clear() {
    for (ComponentBuffer<double>* sums : {&all_, &second_})
      std::fill_n(sums->view().data(), sums->n_components() * sums->view().size(), 0.0);
  }
  void add(std::int64_t field, double weight, const TwoAverages& averages) {
    add_to(all_.view().component(field), weight, averages.all);
    add_to(second_.view().component(field), weight, averages.second);
  }
  /// Sums over ranks. Collective.
  TwoAverages total(const Communicator& comm, std::int64_t field) {
    for (ComponentBuffer<double>* sums : {&all_, &second_}) {
      const View<double> sum = sums->view().component(field);
      comm.sum(sum.data(), sum.size());
    }
    return {all_.view().component(field).data(), second_.view().component(field).data()};
  }

 private:
  static void add_to(View<double> sum, double weight, const double* averages) {
    for (std::int64_t i = 0; i < sum.size(); ++i) sum[i] += weight * averages[i];
  }

  ComponentBuffer<double> all_;
  ComponentBuffer<double> second_;
};

/// Goes through radii, which ranks share, and fields. Members are collective.
class Estimation {
 public:
  Estimation(Run& run, const GyroJob& job, std::int64_t fields_at_once,
             const PlaneFileReader& reader)
      : run_(run), job_(job), reader_(reader), grid_(grid_of_all(job)) {
    agree(run.comm, [&] {
      if (job.combination == GyroCombination::sum) sums_.emplace(fields_at_once, grid_);
    });
  }

  void compare(std::int64_t first_field, std::int64_t end_field) {
    if (sums_) sums_->clear();
    const std::int64_t n_radii = ssize64(job_.spec.radii);
    for (std::int64_t first = 0; first < n_radii; first += run_.comm.size()) {
      average(first + run_.comm.rank(), first_field, end_field);
      const std::int64_t end = std::min<std::int64_t>(first + run_.comm.size(), n_radii);
      run_.progress.step(first_field * n_radii + end * (end_field - first_field),
                         job_.n_fields * n_radii);
    }
    for (std::int64_t field = first_field; sums_ && field < end_field; ++field)
      distance_.compare(grid_, sums_->total(run_.comm, field - first_field));
  }

  double result() const {
    const double largest = run_.comm.max(distance_.largest);
    const double difference = run_.comm.max(distance_.difference);
    const double of_order = job_.spec.method == GyroMethod::bilinear ? 3 : 15;
    return largest > 0 ? difference / of_order / largest : 0;
  }

 private:
  /// Averages fields over a radius, which only some ranks have.
  void average(std::int64_t radius, std::int64_t first_field, std::int64_t end_field) {
    std::optional<AveragePair> averages;
    agree(run_.comm, [&] {
      if (radius < ssize64(job_.spec.radii))
        averages.emplace(job_, grid_, job_.spec.radii[to_size(radius)]);
    });
    for (std::int64_t field = first_field; field < end_field; ++field) {
      PlaneFilePart part;
      if (averages) part = {{job_.numbers_in.number(radius, field)}, 0, job_.spec.grid.y.size};
      reader_.read(part, averages ? averages->plane() : MapView<double>());
      const StageTimer timer(&run_.times, "estimate");
      agree(run_.comm, [&] {
        if (!averages) return;
        if (!sums_) return distance_.compare(grid_, averages->averages());
        sums_->add(field - first_field, job_.weights[to_size(radius)], averages->averages());
      });
    }
  }

  Run& run_;
  const GyroJob& job_;
  const PlaneFileReader& reader_;
  PlaneGrid grid_;
  std::optional<WeightedSums> sums_{};  ///< with --combine sum
  Distance distance_{};
};

/// Returns the bytes of averages of one field over one radius, in addition to its planes.
GyroBytes bytes_of_average(const GyroJob& job, const PlaneGrid& grid, double radius) {
  GyroBytes bytes = least_bytes(Communicator::self(), spec_of(job, grid, radius));
  bytes.scratch = std::max(bytes.scratch, bytes.making);
  return bytes;
}

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

EstimatePlan plan_estimate(const Run& run, const GyroJob& job, std::int64_t most_fields) {
  const PlaneGrid grid = grid_of_all(job);
  const std::int64_t n_compared = grid.n_nodes() + grid_of_second(grid).n_nodes();
  constexpr std::int64_t of_number = sizeof(double);
  EstimatePlan plan{job.n_fields};
  std::int64_t of_sums = 0;
  if (job.combination == GyroCombination::sum) {
    plan.fields_at_once =
        std::clamp<std::int64_t>(usual_sum_bytes / (of_number * n_compared), 1, most_fields);
    of_sums = plan.fields_at_once * of_number * n_compared;
  }
  double radius = 0;
  for (const double r : job.spec.radii) {
    if (!is_beyond(grid, r)) radius = std::max(radius, r);
  }
  GyroBytes of_all;
  GyroBytes of_second;
  agree(run.comm, [&] {
    if (run.comm.rank() >= ssize64(job.spec.radii)) return;
    of_all = bytes_of_average(job, grid, radius);
    of_second = bytes_of_average(job, grid_of_second(grid), radius);
  });
  const bool averages = run.comm.rank() < ssize64(job.spec.radii);
  const std::int64_t n_values = job.spec.grid.n_nodes() + 2 * n_compared;
  plan.memory = {{"estimate: planes", averages ? n_values * of_number : 0},
                 {"estimate: sums", of_sums},
                 {"estimate: tables", of_all.tables + of_second.tables},
                 {"estimate: scratch", of_all.scratch + of_second.scratch}};
  return plan;
}

double estimate_error(Run& run, const GyroJob& job, const EstimatePlan& plan,
                      const PlaneFileReader& reader) {
  run.progress.stage("estimating the error");
  Estimation estimation(run, job, plan.fields_at_once, reader);
  for (std::int64_t first = 0; first < job.n_fields; first += plan.fields_at_once)
    estimation.compare(first, std::min(first + plan.fields_at_once, job.n_fields));
  return estimation.result();
}

}  // namespace ringweave::detail::inline app
