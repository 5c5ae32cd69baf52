// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/planned_points.hpp"
#include "nonuniform/row_tasks.hpp"
#include "ringweave/error.hpp"
#include "transform/host_stages.hpp"
#include "transform/pipeline.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

using namespace detail;

namespace {

using HostPipeline = Pipeline<HostStages>;
using Modes = HostStages::Modes;
using Complex = std::complex<double>;

constexpr const char* where = "transform to points";

/// Returns the factors that make up for the taps.
std::shared_ptr<const DeconvolvedRows> deconvolution(const PlannedPoints& points) {
  auto rows = std::make_shared<DeconvolvedRows>();
  rows->n_rows = points.grid.n_rows;
  const auto inverse = [](const TapKernel& kernel, std::int64_t k, std::int64_t samples) {
    return 1 / kernel.transform(static_cast<double>(k) / static_cast<double>(samples));
  };
  for (int k = 0; k <= points.spec.lmax; ++k)
    rows->theta_factors.push_back(inverse(points.theta_kernel, k, 2 * points.grid.n_rows));
  for (int m = 0; m <= points.spec.mmax; ++m)
    rows->order_factors.push_back(inverse(points.phi_kernel, m, points.grid.n_columns));
  return rows;
}

TransformSpec transform_spec(const PlannedPoints& points) {
  const RingDistribution& rows = points.exchange.plan().rings();
  TransformSpec spec;
  spec.grid = rows.grid();
  spec.lmax = points.spec.lmax;
  spec.mmax = points.spec.mmax;
  spec.fields = points.spec.fields;
  spec.backend = points.spec.backend;
  spec.exchange = points.spec.exchange;
  spec.ring_bands = std::make_shared<const RingDistribution>(rows);
  spec.fine_rows = deconvolution(points);
  return spec;
}

/// Returns, for every fine row, the place of its first value among those of this rank.
std::vector<std::int64_t> first_values(const PointPlan& plan, const LocalRings& mine) {
  std::vector<std::int64_t> first(to_size(plan.rows().n_rows()), -1);
  for (std::int64_t row = 0; row < ssize64(first); ++row) {
    if (!plan.exists(row) || !mine.owns(plan.ring(row))) continue;
    first[to_size(row)] = mine.first_pixel(mine.local(plan.ring(row)));
  }
  return first;
}

/// Returns (-1)^spin of every component.
std::vector<double> signs_beyond_pole(const FieldSet& fields) {
  std::vector<double> signs;
  for (const FieldSet::Field& field : fields.fields())
    signs.insert(signs.end(), field.spin > 0 ? 2 : 1, field.spin % 2 == 0 ? 1.0 : -1.0);
  return signs;
}

}  // namespace

struct PointTransform::Impl {
  Impl(const Communicator& communicator, const PointSet& set)
      : comm(communicator),
        points(set),
        shared(*set.planned_),
        plan(agreed(
            comm, [&] { return TransformPlan(transform_spec(shared), comm.rank(), comm.size()); })),
        first_value(first_values(shared.exchange.plan(), plan.rings)),
        beyond_pole(signs_beyond_pole(plan.spec.fields)),
        tasks(cut_rows(shared.exchange.summed(), tasks_per_thread * omp_get_max_threads())),
        pipeline(plan_pipeline()) {
    agree(comm, [&] {
      const std::int64_t n_components = plan.spec.fields.n_components();
      ring_modes.allocate(plan.exchange.by_ring.size() * n_components);
      rows = MapBuffer<double>(n_components, plan.rings.n_pixels());
      sums = ComponentBuffer<double>(n_components, shared.exchange.summed().size());
      // The rows hold no values while modes are exchanged.
      const std::int64_t n_slots = pipeline->passes().all_slots() * n_components;
      if (2 * n_slots > n_components * plan.rings.n_pixels()) own_slots.allocate(n_slots);
      slots = {
          own_slots.size() > 0 ? own_slots.data() : reinterpret_cast<Complex*>(rows.view().data()),
          n_slots};
      pipeline->allocate();
    });
  }

  std::unique_ptr<HostPipeline> plan_pipeline() {
    const FieldSet& fields = plan.spec.fields;
    OrderPasses passes;
    std::shared_ptr<LegendreStage> legendre;
    std::shared_ptr<RingFft> ring_fft;
    agree(comm, [&] {
      passes = plan.order_passes(plan.n_passes_within, plan.n_host_parts(plan.n_passes_within));
      legendre =
          make_legendre_stage(plan.legendre_shape(fields, passes.by_order), plan.spec.backend);
      ring_fft = make_ring_fft(plan.ring_fft_shape(fields), plan.spec.backend);
    });
    const ExchangeOptions& options = plan.spec.exchange;
    auto exchange =
        std::make_unique<ModeExchange>(comm, passes, fields.n_components(), options,
                                       make_host_transport(options.precision, plan.countable()));
    return std::make_unique<HostPipeline>(
        comm, std::move(passes),
        HostStages(std::move(legendre), std::move(ring_fft), plan.spec.backend, &times),
        std::move(exchange));
  }

  Modes modes() { return {{ring_modes.data(), ring_modes.size()}, slots}; }
  RowTaps taps() const {
    return {shared.grid, shared.theta_kernel.polynomials(), shared.phi_kernel.polynomials(),
            first_value, beyond_pole};
  }
  PointSpan span(std::int64_t begin, std::int64_t end) const {
    const PointOrder& order = shared.exchange.summed();
    return {order.theta.data() + begin, order.phi.data() + begin, end - begin};
  }

  void require_shapes(std::int64_t alm_components, std::int64_t alm_size,
                      std::int64_t value_components, std::int64_t value_size) const {
    require_planned(where, alm_components, plan.spec.fields.n_components(), "components of a_lm");
    require_planned(where, alm_size, plan.alm.size(), "coefficients of a component");
    require_planned(where, value_components, points.n_components(), "components of values");
    require_planned(where, value_size, points.size(), "points of a component");
  }

  /// Computes sums over this rank's rows from them.
  void interpolate() {
    constexpr std::int64_t points_at_once = 1024;
    const RowTaps with = taps();
    const std::int64_t n = sums.size();
    double* to = sums.view().data();
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = 0; begin < n; begin += points_at_once) {
      interpolate_points(with, rows.view().data(), rows.size(),
                         span(begin, std::min(begin + points_at_once, n)), to + begin, n);
    }
  }
  /// Overwrites the rows by the transpose.
  void spread() {
    const RowTaps with = taps();
    const std::int64_t n = sums.size();
    double* row_values = rows.view().data();
    const std::int64_t n_values = rows.n_components() * rows.size();
#pragma omp parallel
    {
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < n_values; ++i) row_values[i] = 0;
#pragma omp for schedule(dynamic)
      for (std::int64_t t = 0; t < ssize64(tasks); ++t) {
        const RowTask& task = tasks[to_size(t)];
        spread_points(with, span(task.points.begin, task.points.end),
                      sums.view().data() + task.points.begin, n, task.rows, row_values,
                      rows.size());
      }
    }
  }

  /// Computes the detectors' values, T + Q cos(2 psi) + U sin(2 psi), in component 0.
  void detect() {
    double* t = sums.view().data();
    const std::int64_t n = sums.size();
    const std::int64_t q = (sums.n_components() - 2) * n;
    const double* psi = shared.exchange.summed().psi.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      const double seen = t[q + i] * std::cos(2 * psi[i]) + t[q + n + i] * std::sin(2 * psi[i]);
      t[i] = q > 0 ? t[i] + seen : seen;
    }
  }
  /// Applies the transpose of detect().
  void emit() {
    double* t = sums.view().data();
    const std::int64_t n = sums.size();
    const std::int64_t q = (sums.n_components() - 2) * n;
    const double* psi = shared.exchange.summed().psi.data();
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < n; ++i) {
      const double value = t[i];
      t[q + n + i] = value * std::sin(2 * psi[i]);
      t[q + i] = value * std::cos(2 * psi[i]);
    }
  }
  ComponentView<double> seen() { return sums.view().components(0, points.n_components()); }

  static constexpr std::int64_t tasks_per_thread = 8;

  Communicator comm;
  PointSet points;
  PlannedPoints& shared;
  TransformPlan plan;
  std::vector<std::int64_t> first_value;  ///< [fine row], -1: another rank's or none
  std::vector<double> beyond_pole;        ///< [component]
  std::vector<RowTask> tasks;
  StageTimes times;
  std::unique_ptr<HostPipeline> pipeline;
  HostBuffer<Complex> ring_modes;
  HostBuffer<Complex> own_slots;
  ModeView<double> slots;
  MapBuffer<double> rows;        ///< [component][value], as the plan's rings have them
  ComponentBuffer<double> sums;  ///< [component][point of this rank's rows]
};

PointTransform::PointTransform(const Communicator& comm, const PointSpec& spec,
                               const PointSet& points) {
  agree(comm, [&] {
    if (spec.checked().digest() != points.planned_->spec.digest())
      throw UsageError("the points were planned for another specification of the transform");
  });
  impl_ = std::make_unique<Impl>(comm, points);
}
PointTransform::~PointTransform() = default;
PointTransform::PointTransform(PointTransform&&) noexcept = default;
PointTransform& PointTransform::operator=(PointTransform&&) noexcept = default;

const AlmLayout& PointTransform::alm_layout() const { return impl_->plan.alm; }
const PointSet& PointTransform::points() const { return impl_->points; }
const TransformPlan& PointTransform::plan() const { return impl_->plan; }
StageTimes& PointTransform::times() { return impl_->times; }
std::int64_t PointTransform::n_alm_components() const {
  return impl_->plan.spec.fields.n_components();
}

std::int64_t PointTransform::bytes() const {
  const Impl& own = *impl_;
  const HostStages& stages = own.pipeline->stages();
  return own.points.bytes() + stages.legendre().bytes() + stages.ring_fft().bytes() +
         held_bytes(own.first_value, own.beyond_pole, own.tasks, own.ring_modes, own.own_slots) +
         8 * own.rows.n_components() * own.rows.size() +
         8 * own.sums.n_components() * own.sums.size();
}

template <class T>
void PointTransform::evaluate(AlmView<const T> alm, ComponentView<T> values) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    own.require_shapes(alm.n_components(), alm.size(), values.n_components(), values.size());
  });
  const Modes modes = own.modes();
  own.pipeline->orders_to_rings<T>(alm, modes);
  {
    const StageTimer timer(&own.times, "rows");
    own.pipeline->stages().ring_fft().synthesize(modes.first(), own.rows.view());
  }
  {
    const StageTimer timer(&own.times, "points");
    own.interpolate();
    if (own.shared.has_psi) own.detect();
  }
  const StageTimer timer(&own.times, "value_exchange");
  own.shared.exchange.gather<T>(own.seen(), values);
}

template <class T>
void PointTransform::adjoint(ComponentView<const T> values, AlmView<T> alm, Accumulate how) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    own.require_shapes(alm.n_components(), alm.size(), values.n_components(), values.size());
  });
  {
    const StageTimer timer(&own.times, "value_exchange");
    own.shared.exchange.scatter<T>(values, own.seen());
  }
  {
    const StageTimer timer(&own.times, "points");
    if (own.shared.has_psi) own.emit();
    own.spread();
  }
  const Modes modes = own.modes();
  {
    const StageTimer timer(&own.times, "rows");
    own.pipeline->stages().ring_fft().adjoint(std::as_const(own.rows).view(), {}, modes.first());
  }
  own.pipeline->rings_to_orders<T>(modes, alm, how);
}

template void PointTransform::evaluate(AlmView<const double>, ComponentView<double>);
template void PointTransform::evaluate(AlmView<const float>, ComponentView<float>);
template void PointTransform::adjoint(ComponentView<const double>, AlmView<double>, Accumulate);
template void PointTransform::adjoint(ComponentView<const float>, AlmView<float>, Accumulate);

}  // namespace ringweave
