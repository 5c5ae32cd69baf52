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

/// Returns the specification of d at points, from which the inverse is found, and so the rows of
/// its field.
/// rms  of |d|, radians
PointSpec spec_of_inverse(int lmax, int mmax, const ExchangeOptions& exchange, double rms);
/// Returns the number of points at which d is evaluated, about.
std::int64_t points_of_inverse(std::int64_t n_pixels);

/// Returns into how many parts, one searched after the other, the pixels of a rank go where a rank
/// has so many at most.
std::int64_t parts_of_inverse(std::int64_t n_pixels);
/// Returns the bytes of a search at so many pixels, without their points.
std::int64_t bytes_of_search(std::int64_t n_pixels);

/// Solves for the vectors by Broyden's method in each pixel, from the identity on.
/// d    [to the south, to the east][pixel], the deflection that `source` has at the pixels
/// rms  of |d|
/// Collective. OpenMP.
///
/// From  Broyden (1965), Math. Comput. 19, 577
InverseVectors invert(const Communicator& comm, const LocalRings& rings,
                      const DeflectionSource& source, MapView<const double> d, double rms);

/// Throws the DataError for pixels that were not found, on all ranks. `area` is |A| at the pixels.
/// Collective.
void refuse_lost_pixels(const Communicator& comm, const LocalRings& rings,
                        const InverseVectors& found, View<const double> area);

}  // namespace ringweave::detail::inline nonuniform
