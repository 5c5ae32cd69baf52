// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/row_halo.hpp"

#include "distribute/mpi/agree.hpp"
#include "gyro/row_bands.hpp"

namespace ringweave::detail::inline gyro {

RowHalo::RowHalo(const Communicator& rows, const HaloPlan& plan, std::int64_t most_planes)
    : plan_(&plan), most_planes_(most_planes) {
  agree(rows, [&] { values_.allocate(most_planes * plan.halo_size); });
  exchange_.emplace(rows, plan, most_planes);
  if (most_planes > 1) one_plane_.emplace(rows, plan, 1);
}

void RowHalo::fetch(ComponentView<const double> planes) {
  const ComponentView<double> halo(values_.data(), planes.n_components(), plan_->halo_size);
  const auto fetch_some = [&](HaloExchange& exchange, std::int64_t first, std::int64_t count) {
    exchange.begin<double>(planes.components(first, count), halo.components(first, count));
    exchange.end();
    bytes_sent_ += exchange.bytes_sent();
  };
  if (planes.n_components() == most_planes_) {
    fetch_some(*exchange_, 0, planes.n_components());
  } else {
    for (std::int64_t p = 0; p < planes.n_components(); ++p) fetch_some(*one_plane_, p, 1);
  }
}

const double* RowHalo::row(std::int64_t plane, std::int64_t y) const {
  return values_.data() + plane * plan_->halo_size + plan_->first(RingId{y});
}

SharedRows share_rows(const GyroSpec& spec, const Communicator& rows, const RowShare& share) {
  SharedRows shared{{share.row_begin, share.row_end}, share.part, {}};
  if (share.n_parts == 1) return shared;
  shared.cuts = rows.all_gather(share.row_begin);
  shared.cuts.push_back(spec.grid.y.size);
  return shared;
}

std::optional<HaloPlan> plan_halo(const StencilPlan& plan, const SharedRows& shared) {
  if (shared.cuts.empty()) return std::nullopt;
  return plan_row_halo(plan.rows().boundary, shared.cuts, shared.part, plan.halo, plan.n_x);
}

}  // namespace ringweave::detail::inline gyro
