// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/row_modes.hpp"

#include <utility>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave::detail::inline nonuniform {

std::vector<std::int64_t> first_values(const LocalRings& mine,
                                       const std::vector<std::int64_t>& rings,
                                       std::int64_t n_columns) {
  std::vector<std::int64_t> first;
  first.reserve(rings.size());
  for (const std::int64_t ring : rings)
    first.push_back(ring < 0 ? -1 : index(mine.local(RingId{ring})) * n_columns);
  return first;
}

RowModes::RowModes(const Communicator& comm, const TransformSpec& spec,
                   std::optional<View<double>> spare, StageTimes* times)
    : plan_(agreed(comm, [&] { return TransformPlan(spec, comm.rank(), comm.size()); })),
      spare_(spare) {
  SharedStages shared{spec.fields, nullptr, nullptr, times};
  std::int64_t within = 0;
  const int local_rank = spec.backend == Backend::cuda ? comm.node_local().rank() : 0;
  agree(comm, [&] {
    if (spec.backend == Backend::cuda) {
      choose_device(local_rank);
    } else {
      RingFftShape shape = plan_.ring_fft_shape(spec.fields);
      shape.use = RingFftUse::runs;
      ring_fft_ = make_host_ring_fft(std::move(shape));
      shared.ring_fft = ring_fft_;
    }
    within = 2 * plan_.order_passes(plan_.n_passes_within).all_slots() *
             plan_.spec.fields.n_components();
  });
  const bool fits = !spare_ || comm.min(spare_->size() - within) >= 0;
  pipeline_ =
      plan_host_pipeline(comm, plan_, fits ? plan_.n_passes_within : plan_.n_passes, shared);
}

std::vector<std::int64_t> RowModes::rings_of_rows(const PointPlan& points) const {
  std::vector<std::int64_t> rings(to_size(points.rows().n_rows()), -1);
  for (std::int64_t row = 0; row < ssize64(rings); ++row) {
    if (points.exists(row) && plan_.rings.owns(points.ring(row)))
      rings[to_size(row)] = index(points.ring(row));
  }
  return rings;
}

std::int64_t RowModes::n_slots() const {
  return pipeline_->passes().all_slots() * plan_.spec.fields.n_components();
}

void RowModes::allocate() {
  ring_modes_.allocate(plan_.exchange.by_ring.size() * plan_.spec.fields.n_components());
  if (!fits_spare()) slots_.allocate(n_slots());
  pipeline_->allocate();
}

void RowModes::release() noexcept {
  ring_modes_.release();
  slots_.release();
  pipeline_->release();
}

HostStages::Modes RowModes::modes() {
  Complex* slots = fits_spare() ? reinterpret_cast<Complex*>(spare_->data()) : slots_.data();
  return {by_row(), {slots, n_slots()}};
}

template <class T>
void RowModes::synthesize(AlmView<const T> alm) {
  pipeline_->orders_to_rings<T>(alm, modes());
}

template <class T>
void RowModes::adjoint(AlmView<T> alm, Accumulate how) {
  pipeline_->rings_to_orders<T>(modes(), alm, how);
}

std::int64_t RowModes::bytes() const {
  return pipeline_->stages().legendre().bytes() + (ring_fft_ ? ring_fft_->bytes() : 0) +
         plan_.by_ring_bytes() +
         plan_.pass_workspace_bytes(static_cast<int>(ssize64(pipeline_->passes().passes))) -
         (fits_spare() ? n_slots() * std::int64_t{sizeof(Complex)} : 0);
}

template void RowModes::synthesize<double>(AlmView<const double>);
template void RowModes::synthesize<float>(AlmView<const float>);
template void RowModes::adjoint<double>(AlmView<double>, Accumulate);
template void RowModes::adjoint<float>(AlmView<float>, Accumulate);

}  // namespace ringweave::detail::inline nonuniform
