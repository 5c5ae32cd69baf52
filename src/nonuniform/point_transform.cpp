// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "distribute/mpi/same_ranks.hpp"
#include "nonuniform/planned_points.hpp"
#include "nonuniform/point_rows.hpp"
#include "nonuniform/row_modes.hpp"
#include "nonuniform/row_sweep.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr const char* in_transform = "transform to points";

}  // namespace

struct PointTransform::Impl {
  Impl(const Communicator& communicator, const PointSet& set)
      : comm(communicator),
        points(set),
        planned(*set.planned_),
        modes(comm, planned.taps()->transform_spec(planned.spec(), planned.plan().rings()),
              planned.reusable_memory(), &times) {
    require_memory();
    const PointPlan& plan = planned.plan();
    const std::vector<std::int64_t> rings = agreed(comm, [&] {
      modes.allocate();
      return modes.rings_of_rows(plan);
    });
    touches_all_rows = plan.n_points() > 0 && plan.rows().untouched == UntouchedRows::left_out;
    if (is_on_device()) {
      rows = make_cuda_point_rows(comm, planned, modes.plan().ring_fft_shape(planned.spec().fields),
                                  rings);
    } else {
      rows = agreed(comm, [&] { return std::make_unique<RowSweep>(planned, rings, modes.runs()); });
    }
  }

  bool is_on_device() const { return planned.spec().backend == Backend::cuda; }

  /// Throws on all ranks where one lacks the memory for modes and rows.
  void require_memory() const {
    const std::int64_t of_threads =
        is_on_device()
            ? 0
            : RowSweep::bytes_of_threads(planned.taps()->grid, planned.spec().fields.n_components(),
                                         modes.runs().n_threads(), planned.most_rows());
    require_memory_of_ranks(comm, modes.bytes() + of_threads, of_threads,
                            "ring modes and fine rows");
  }

  void require_shapes(std::int64_t alm_components, std::int64_t alm_size,
                      std::int64_t value_components, std::int64_t value_size) const {
    const TransformPlan& plan = modes.plan();
    require_planned(in_transform, alm_components, plan.spec.fields.n_components(),
                    "components of a_lm");
    require_planned(in_transform, alm_size, plan.alm.size(), "coefficients of a component");
    require_planned(in_transform, value_components, points.n_components(), "components of values");
    require_planned(in_transform, value_size, points.size(), "points of a component");
  }

  Communicator comm;
  PointSet points;
  PlannedPoints& planned;
  StageTimes times;
  RowModes modes;
  std::unique_ptr<PointRows> rows;
  bool touches_all_rows = false;
};

PointTransform::PointTransform(const Communicator& comm, const PointSpec& spec,
                               const PointSet& points) {
  require_same_ranks(comm, points.planned_->comm(), "points");
  agree(comm, [&] {
    if (spec.checked().digest() != points.planned_->spec().digest())
      throw UsageError("the points were planned for another specification of the transform");
  });
  impl_ = std::make_unique<Impl>(comm, points);
}
PointTransform::~PointTransform() = default;
PointTransform::PointTransform(PointTransform&&) noexcept = default;
PointTransform& PointTransform::operator=(PointTransform&&) noexcept = default;

const AlmLayout& PointTransform::alm_layout() const { return impl_->modes.plan().alm; }
const PointSet& PointTransform::points() const { return impl_->points; }
const TransformPlan& PointTransform::plan() const { return impl_->modes.plan(); }
StageTimes& PointTransform::times() { return impl_->times; }
std::int64_t PointTransform::n_alm_components() const {
  return impl_->planned.spec().fields.n_components();
}

std::int64_t PointTransform::bytes() const {
  return impl_->points.bytes() + impl_->modes.bytes() + impl_->rows->bytes();
}

template <class T>
void PointTransform::evaluate(AlmView<const T> alm, ComponentView<T> values) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    own.require_shapes(alm.n_components(), alm.size(), values.n_components(), values.size());
  });
  own.modes.synthesize<T>(alm);
  own.rows->interpolate(own.modes.by_row(), values, own.times);
  const StageTimer timer(&own.times, "value_exchange");
  own.planned.gather(values);
}

template <class T>
void PointTransform::adjoint(ComponentView<const T> values, AlmView<T> alm, Accumulate how) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    own.require_shapes(alm.n_components(), alm.size(), values.n_components(), values.size());
  });
  {
    const StageTimer timer(&own.times, "value_exchange");
    own.planned.scatter(values);
  }
  const ModeView<double> modes = own.modes.by_row();
  if (!own.touches_all_rows) std::fill_n(modes.data(), modes.size(), 0.0);
  own.rows->spread(values, modes, own.times);
  own.modes.adjoint<T>(alm, how);
}

template void PointTransform::evaluate(AlmView<const double>, ComponentView<double>);
template void PointTransform::evaluate(AlmView<const float>, ComponentView<float>);
template void PointTransform::adjoint(ComponentView<const double>, AlmView<double>, Accumulate);
template void PointTransform::adjoint(ComponentView<const float>, AlmView<float>, Accumulate);

}  // namespace ringweave
