// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <vector>

#include <ringweave/points.hpp>

namespace ringweave::python {

/// Makes the specification of a transform to points of what Python gives.
/// Error  UsageError for impossible spins.
inline PointSpec point_spec(int lmax, int mmax, const std::vector<int>& spins, double epsilon,
                            bool is_cuda, bool sends_single) {
  PointSpec spec;
  spec.lmax = lmax;
  spec.mmax = mmax;
  spec.fields = FieldSet(spins);
  spec.epsilon = epsilon;
  spec.backend = is_cuda ? Backend::cuda : Backend::host;
  spec.exchange.precision = sends_single ? ModePrecision::single_ : ModePrecision::double_;
  return spec;
}

}  // namespace ringweave::python
