// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/sector_rows.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "convolve/ring/ring_pair.hpp"

namespace ringweave::detail::inline convolve {

SectorRowShape::SectorRowShape(const RingConvolutionPlan& plan, std::int64_t n_maps) {
  const SectorRule& rule = plan.sectors();
  const RingGrid& grid = plan.grid();
  const std::int64_t used = rule.n_sectors * rule.n_hemispheres * n_maps;
  n_lanes = (used + sector::lanes - 1) / sector::lanes * sector::lanes;
  std::int64_t longest = 0;
  for (std::int64_t t = 0; t < grid.n_rings(); ++t) {
    const Ring& ring = grid.ring(RingId{t});
    most_rings = std::max(most_rings, plan.window(t).size());
    const double width = widest_longitude(ring, plan.support());
    constexpr std::int64_t spare = 4;
    pads.push_back(spare + static_cast<std::int64_t>(std::ceil(width / (2 * std::numbers::pi) *
                                                               static_cast<double>(ring.n_phi))));
    // Without symmetries first pixels may be anywhere, up to a full circle apart.
    if (!rule.is_mirrored()) pads.back() += ring.n_phi;
    longest = std::max(longest, ring.n_phi / rule.n_sectors + 2 * pads.back());
  }
  row_size = longest * n_lanes;
}

template <class T>
SectorRows<T>::SectorRows(const RingConvolutionPlan& plan, const SectorRowShape& shape,
                          const KernelMaps& maps, const RingSource<T>& in, std::int64_t n_slots,
                          double* rows, std::int64_t* held)
    : plan_(&plan),
      shape_(&shape),
      maps_(maps),
      in_(&in),
      n_lanes_(shape.n_lanes),
      n_slots_(n_slots),
      rows_(rows),
      held_(held) {
  std::fill_n(held_, n_slots_, std::int64_t{-1});
}

template <class T>
const double* SectorRows<T>::row(std::int64_t ring) {
  const std::int64_t slot = ring % n_slots_;
  double* row = rows_ + slot * shape_->row_size + shape_->pads[to_size(ring)] * n_lanes_;
  if (held_[slot] != ring) {
    fill(ring, row);
    held_[slot] = ring;
  }
  return row;
}

template <class T>
void SectorRows<T>::fill(std::int64_t ring, double* row) const {
  const SectorRule& rule = plan_->sectors();
  const std::int64_t n = plan_->grid().ring(RingId{ring}).n_phi / rule.n_sectors;
  const std::int64_t pad = shape_->pads[to_size(ring)];
  std::int64_t lane = 0;
  for (std::int64_t map = 0; map < maps_.n_maps; ++map) {
    for (std::int64_t h = 0; h < rule.n_hemispheres; ++h, lane += rule.n_sectors) {
      const T* pixels = in_->pixels(h == 0 ? ring : mirror(ring), maps_.first_map + map);
      if (rule.n_sectors == 4) {
        for (std::int64_t j = 0; j < n; ++j) {
          double* to = row + j * n_lanes_ + lane;
          for (std::int64_t k = 0; k < 4; ++k) to[k] = static_cast<double>(pixels[k * n + j]);
        }
      } else {
        for (std::int64_t j = 0; j < n; ++j)
          row[j * n_lanes_ + lane] = static_cast<double>(pixels[j]);
      }
    }
  }
  for (; lane < n_lanes_; ++lane) {
    for (std::int64_t j = 0; j < n; ++j) row[j * n_lanes_ + lane] = 0;
  }
  for (std::int64_t j = -pad; j < 0; ++j) copy_pixel(j, n, row);
  for (std::int64_t j = n; j < n + pad; ++j) copy_pixel(j, n, row);
}

template <class T>
void SectorRows<T>::copy_pixel(std::int64_t pixel, std::int64_t n, double* row) const {
  const std::int64_t n_sectors = plan_->sectors().n_sectors;
  const std::int64_t turns = pixel >= 0 ? pixel / n : -((n - 1 - pixel) / n);
  const double* from = row + (pixel - turns * n) * n_lanes_;
  double* to = row + pixel * n_lanes_;
  if (n_sectors == 1) {
    std::copy_n(from, n_lanes_, to);
    return;
  }
  for (std::int64_t lane = 0; lane < n_lanes_; ++lane)
    to[lane] = from[(lane & ~std::int64_t{3}) | ((lane + turns) & 3)];
}

template class SectorRows<double>;
template class SectorRows<float>;

}  // namespace ringweave::detail::inline convolve
