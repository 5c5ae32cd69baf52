// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "legendre/legendre_stage.hpp"
#include "legendre/shared/spin_field.hpp"

namespace ringweave::gpu {

/// Scalar maps that share one sweep.
inline constexpr int most_maps = 4;

/// A map that is swept as a scalar: a scalar field, or Q or U of a spin field.
struct SweptMap {
  std::int64_t component;
  std::int64_t spin_field;  ///< -1: a scalar field. Q is followed by its U
};

/// What goes through a sweep together: some scalar maps, or one spin field by Wigner's functions.
struct FieldPass {
  std::int64_t wigner_field;  ///< -1: scalar maps
  std::vector<SweptMap> maps;
};

/// How the fields of a stage are swept, as on the host (OrderSweep): pairs next to the pole by
/// Wigner's functions, first; then all that goes as scalars.
struct FieldPasses {
  explicit FieldPasses(const LegendreShape& shape);
  bool has_scalars() const { return !passes.empty() && passes.back().wigner_field < 0; }

  std::vector<SpinField> spin_fields;
  std::vector<FieldPass> passes;
  int degree;  ///< the highest that scalar maps reach
};

}  // namespace ringweave::gpu
