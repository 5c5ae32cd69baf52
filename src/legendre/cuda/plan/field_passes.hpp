// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "legendre/legendre_stage.hpp"
#include "legendre/shared/spin_field.hpp"

namespace ringweave::detail::gpu {

/// Scalar maps per sweep, at most.
inline constexpr int most_maps = 4;

/// A map summed as a scalar: a scalar field, or Q or U of a spin field.
struct SweptMap {
  std::int64_t component;
  std::int64_t spin_field;  ///< -1: a scalar field; Q is followed by its U
};

/// Fields summed in one sweep: some scalar maps, or one spin field with Wigner's d functions.
struct FieldPass {
  std::int64_t wigner_field;  ///< -1: scalar maps
  std::vector<SweptMap> maps;
};

/// Passes of a stage in order, as on the host (OrderSweep): Wigner's d functions for pairs near the
/// poles first, then all scalar sums.
struct FieldPasses {
  explicit FieldPasses(const LegendreShape& shape);
  bool has_scalars() const { return !passes.empty() && passes.back().wigner_field < 0; }

  std::vector<SpinField> spin_fields;
  std::vector<FieldPass> passes;
  int degree;  ///< highest degree of scalar maps
};

}  // namespace ringweave::detail::gpu
