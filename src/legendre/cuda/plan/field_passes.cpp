// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/plan/field_passes.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"

namespace ringweave::detail::gpu {

FieldPasses::FieldPasses(const LegendreShape& shape) : degree(shape.alm.lmax()) {
  std::vector<SweptMap> maps;
  for (const FieldSet::Field& field : shape.fields.fields()) {
    if (field.spin == 0) continue;
    const std::int64_t number = ssize64(spin_fields);
    const SpinField& made = spin_fields.emplace_back(field, *shape.grid, shape.alm.lmax());
    if (made.n_wigner_pairs() > 0) passes.push_back({number, {}});
    if (!made.laddered()) continue;
    degree = std::max(degree, shape.alm.lmax() + field.spin);
    maps.push_back({field.first_component, number});
    maps.push_back({field.first_component + 1, number});
  }
  for (const FieldSet::Field& field : shape.fields.fields()) {
    if (field.spin == 0) maps.push_back({field.first_component, -1});
  }
  // Pairs (Q, U) come first and fill whole passes, so that none is split.
  static_assert(most_maps % 2 == 0);
  for (std::int64_t first = 0; first < ssize64(maps); first += most_maps) {
    const std::int64_t end = std::min(first + most_maps, ssize64(maps));
    passes.push_back({-1, {maps.begin() + first, maps.begin() + end}});
  }
}

}  // namespace ringweave::detail::gpu
