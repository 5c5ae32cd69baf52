// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "nonuniform/deflection_data.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// The vectors at the pixels n' that lead to the n with exp_n(d(n)) = n'.
struct InverseVectors {
  MapBuffer<double> vectors;            ///< [to the south, to the east][pixel], radians
  std::vector<std::int64_t> not_found;  ///< this rank's pixels without one, ascending
  std::int64_t lost = 0;                ///< such pixels on all ranks
  int evaluations = 0;                  ///< of d, beyond that at the pixels
};

/// Solves for the vectors by Broyden's method in each pixel, from the identity on.
/// d    [to the south, to the east][pixel], the deflection that `source` has at the pixels
/// rms  of |d|
/// Collective. OpenMP.
InverseVectors invert(const Communicator& comm, const LocalRings& rings,
                      const DeflectionSource& source, MapView<const double> d, double rms);

/// Throws the DataError for pixels that were not found, on all ranks. `area` is |A| at the pixels.
/// Collective.
void refuse_lost_pixels(const Communicator& comm, const LocalRings& rings,
                        const InverseVectors& found, View<const double> area);

}  // namespace ringweave::detail::inline nonuniform
