// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/gyroaverage.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/gyro_loops.hpp"
#include "gyro/gyro_plan.hpp"
#include "gyro/gyro_setup.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr const char* where = "gyroaverage";

/// Tells whether a view has one component for each field, or one for each field and radius.
enum class Components { of_fields, of_every_radius };

}  // namespace

struct Gyroaverage::Impl {
  Impl(const Communicator& communicator, const GyroSpec& specification,
       const GyroProgress& progress)
      : Impl(communicator, specification, set_up(communicator, specification), progress) {}
  Impl(const Communicator& communicator, const GyroSpec& specification, GyroSetup setup,
       const GyroProgress& progress)
      : comm(communicator),
        spec(specification),
        plan(setup.plan),
        part(plan.part(comm.rank())),
        calls_may_fail(setup.loops.calls_may_fail) {
    agree(comm, [&] {
      if (setup.scheme)
        loops.emplace(plan, setup.loops, std::move(setup.scheme), setup.radius_group, progress);
    });
  }

  GyroRows rows_of_fields() const {
    return {spec.grid.x.size, spec.grid.y.size, part.field_row_begin, part.field_row_end};
  }
  GyroRows rows_of_results() const {
    return {plan.targets.x.size, plan.targets.y.size, part.row_begin, part.row_end};
  }
  std::int64_t n_components(Components components) const {
    return part.n_fields() * (components == Components::of_fields ? 1 : part.n_radii());
  }

  template <class T, MemorySpace Space>
  void require_shape(const char* place, ComponentView<T, Space> planes, Components components,
                     const GyroRows& rows) const {
    require_planned(place, planes.n_components(), n_components(components), "components");
    require_planned(place, part.is_empty() ? 0 : planes.size(), part.is_empty() ? 0 : rows.size(),
                    "values of a component");
  }

  void require_data(MemorySpace space) const {
    if (space == spec.data) return;
    throw UsageError(fmt::format(
        "gyroaverage: views of {} memory, and the specification says that fields and results are "
        "in {}; correct one of them (data in GyroSpec)",
        space == MemorySpace::host ? "the host's" : "a device's",
        space == MemorySpace::host ? "a device's" : "the host's"));
  }

  template <class T>
  void require_numbers() const {
    if (std::is_same_v<T, double> || plan.takes_floats) return;
    throw UsageError(
        "gyroaverage: views of floats, and the specification says that all numbers are doubles; "
        "leave its numbers at GyroNumbers::any");
  }

  void require_weights(std::span<const double> weights) const {
    require_planned("gyroaverage, weights", ssize64(weights), ssize64(spec.radii), "weights");
    for (std::int64_t r = 0; r < ssize64(weights); ++r) {
      if (std::isfinite(weights[to_size(r)])) continue;
      throw UsageError(fmt::format("{}: weight {} (from 0) is {}; weights are finite; correct it",
                                   where, r, weights[to_size(r)]));
    }
  }

  void require_sums() const {
    if (plan.forms_sums) return;
    throw UsageError(
        "gyroaverage: a sum over radii is asked for, and the specification says that none is "
        "formed; leave its sums at GyroSums::formed");
  }

  template <class T, MemorySpace Space>
  void require_finite(ComponentView<const T, Space> planes, Components components,
                      const GyroRows& rows) {
    const int rank = comm.rank();
    PlaneComponents numbers{part.radius_begin, part.field_begin, part.n_fields(), spec.n_fields};
    numbers.has_radii = components == Components::of_every_radius;
    const bool is_whole = rows.row_end - rows.row_begin == rows.n_y;
    numbers.is_first_copy = (numbers.has_radii || plan.radius_part(rank) == 0) &&
                            (!is_whole || plan.row_part(rank) == 0);
    NotFinite found;
    if constexpr (Space == MemorySpace::host) {
      found = not_finite(rows, numbers, planes);
    } else {
      agree(comm, [&] {
        if (loops) found = loops->not_finite(rows, numbers, planes);
      });
    }
    require_finite_planes(comm, rows, numbers, found);
  }

  /// Checks a call and runs it in one direction: inputs are fields of average, and results of the
  /// transpose.
  template <class T, MemorySpace Space, class Run>
  void call(Direction direction, ComponentView<const T, Space> in, Components of_in,
            ComponentView<T, Space> out, Components of_out, std::span<const double> weights,
            bool has_weights, const Run& run) {
    const bool is_average = direction == Direction::average;
    const GyroRows in_rows = is_average ? rows_of_fields() : rows_of_results();
    const GyroRows out_rows = is_average ? rows_of_results() : rows_of_fields();
    const char* const fields = "gyroaverage, fields";
    const char* const results = "gyroaverage, results";
    agree(comm, [&] {
      require_data(Space);
      require_numbers<T>();
      require_shape(is_average ? fields : results, in, of_in, in_rows);
      require_shape(is_average ? results : fields, out, of_out, out_rows);
      if (has_weights) require_weights(weights);
    });
    require_finite(in, of_in, in_rows);
    const auto run_loops = [&] {
      if (loops) run(*loops);
    };
    // Memory that lacks on one rank is an error of all.
    calls_may_fail ? agree(comm, run_loops) : run_loops();
  }

  // The calls.

  template <class T, MemorySpace Space>
  void each(ComponentView<const T, Space> fields, ComponentView<T, Space> results) {
    call(Direction::average, fields, Components::of_fields, results, Components::of_every_radius,
         {}, false, [&](GyroLoops& all) { all.spread(Direction::average, fields, {}, results); });
  }
  template <class T, MemorySpace Space>
  void pairs(Direction direction, ComponentView<const T, Space> in, ComponentView<T, Space> out) {
    call(direction, in, Components::of_every_radius, out, Components::of_every_radius, {}, false,
         [&](GyroLoops& all) { all.pairs(direction, in, out); });
  }
  template <class T, MemorySpace Space>
  void sum(ComponentView<const T, Space> fields, std::span<const double> weights,
           ComponentView<T, Space> results) {
    require_sums();
    call(Direction::average, fields, Components::of_every_radius, results, Components::of_fields,
         weights, true,
         [&](GyroLoops& all) { all.sum(Direction::average, fields, weights, results); });
  }
  template <class T, MemorySpace Space>
  void each_adjoint(ComponentView<const T, Space> results, ComponentView<T, Space> fields) {
    require_sums();
    call(Direction::transpose, results, Components::of_every_radius, fields, Components::of_fields,
         {}, false, [&](GyroLoops& all) { all.sum(Direction::transpose, results, {}, fields); });
  }
  template <class T, MemorySpace Space>
  void sum_adjoint(ComponentView<const T, Space> results, std::span<const double> weights,
                   ComponentView<T, Space> fields) {
    call(Direction::transpose, results, Components::of_fields, fields, Components::of_every_radius,
         weights, true,
         [&](GyroLoops& all) { all.spread(Direction::transpose, results, weights, fields); });
  }

  Communicator comm;
  GyroSpec spec;
  GyroPlan plan;
  GyroPart part;
  bool calls_may_fail;             ///< see LoopPlan
  std::optional<GyroLoops> loops;  ///< none on an idle rank
  StageTimes idle_times;
};

Gyroaverage::Gyroaverage(const Communicator& comm, const GyroSpec& spec,
                         const GyroProgress& progress)
    : impl_(std::make_unique<Impl>(comm, spec, progress)) {}
Gyroaverage::~Gyroaverage() = default;
Gyroaverage::Gyroaverage(Gyroaverage&&) noexcept = default;
Gyroaverage& Gyroaverage::operator=(Gyroaverage&&) noexcept = default;

void Gyroaverage::on_progress(GyroProgress progress) {
  if (impl_->loops) impl_->loops->on_progress(std::move(progress));
}

const GyroSpec& Gyroaverage::spec() const { return impl_->spec; }
const GyroPart& Gyroaverage::part() const { return impl_->part; }
const PlaneGrid& Gyroaverage::targets() const { return impl_->plan.targets; }

template <class T>
void Gyroaverage::each(ComponentView<const T> fields, ComponentView<T> results) {
  impl_->each(fields, results);
}
template <class T>
void Gyroaverage::pairs(ComponentView<const T> fields, ComponentView<T> results) {
  impl_->pairs(Direction::average, fields, results);
}
template <class T>
void Gyroaverage::sum(ComponentView<const T> fields, std::span<const double> weights,
                      ComponentView<T> results) {
  impl_->sum(fields, weights, results);
}
template <class T>
void Gyroaverage::each_adjoint(ComponentView<const T> results, ComponentView<T> fields) {
  impl_->each_adjoint(results, fields);
}
template <class T>
void Gyroaverage::pairs_adjoint(ComponentView<const T> results, ComponentView<T> fields) {
  impl_->pairs(Direction::transpose, results, fields);
}
template <class T>
void Gyroaverage::sum_adjoint(ComponentView<const T> results, std::span<const double> weights,
                              ComponentView<T> fields) {
  impl_->sum_adjoint(results, weights, fields);
}

template <class T>
void Gyroaverage::each(ComponentView<const T, MemorySpace::device> fields,
                       ComponentView<T, MemorySpace::device> results) {
  impl_->each(fields, results);
}
template <class T>
void Gyroaverage::pairs(ComponentView<const T, MemorySpace::device> fields,
                        ComponentView<T, MemorySpace::device> results) {
  impl_->pairs(Direction::average, fields, results);
}
template <class T>
void Gyroaverage::sum(ComponentView<const T, MemorySpace::device> fields,
                      std::span<const double> weights,
                      ComponentView<T, MemorySpace::device> results) {
  impl_->sum(fields, weights, results);
}
template <class T>
void Gyroaverage::each_adjoint(ComponentView<const T, MemorySpace::device> results,
                               ComponentView<T, MemorySpace::device> fields) {
  impl_->each_adjoint(results, fields);
}
template <class T>
void Gyroaverage::pairs_adjoint(ComponentView<const T, MemorySpace::device> results,
                                ComponentView<T, MemorySpace::device> fields) {
  impl_->pairs(Direction::transpose, results, fields);
}
template <class T>
void Gyroaverage::sum_adjoint(ComponentView<const T, MemorySpace::device> results,
                              std::span<const double> weights,
                              ComponentView<T, MemorySpace::device> fields) {
  impl_->sum_adjoint(results, weights, fields);
}

double Gyroaverage::indicator() const { return impl_->loops ? impl_->loops->indicator() : 0; }
StageTimes& Gyroaverage::times() {
  return impl_->loops ? impl_->loops->times() : impl_->idle_times;
}
std::int64_t Gyroaverage::bytes() const { return impl_->loops ? impl_->loops->bytes() : 0; }
std::int64_t Gyroaverage::halo_bytes_sent() const {
  return impl_->loops ? impl_->loops->bytes_sent() : 0;
}

#define RINGWEAVE_INSTANTIATE(T, Space)                                                            \
  template void Gyroaverage::each(ComponentView<const T, Space>, ComponentView<T, Space>);         \
  template void Gyroaverage::pairs(ComponentView<const T, Space>, ComponentView<T, Space>);        \
  template void Gyroaverage::sum(ComponentView<const T, Space>, std::span<const double>,           \
                                 ComponentView<T, Space>);                                         \
  template void Gyroaverage::each_adjoint(ComponentView<const T, Space>, ComponentView<T, Space>); \
  template void Gyroaverage::pairs_adjoint(ComponentView<const T, Space>,                          \
                                           ComponentView<T, Space>);                               \
  template void Gyroaverage::sum_adjoint(ComponentView<const T, Space>, std::span<const double>,   \
                                         ComponentView<T, Space>)
RINGWEAVE_INSTANTIATE(double, MemorySpace::host);
RINGWEAVE_INSTANTIATE(float, MemorySpace::host);
RINGWEAVE_INSTANTIATE(double, MemorySpace::device);
RINGWEAVE_INSTANTIATE(float, MemorySpace::device);
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave
