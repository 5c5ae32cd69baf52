// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>

namespace ringweave {

/// Where the stages of a plan run. Chosen once, when the plan is made.
enum class Backend { host, cuda };

/// Where the sums over degrees are formed: on the rings of the grid, or on lmax + 1 equidistant
/// rings from which those of the grid are interpolated, to 1e-13 and with an exact transpose.
/// `automatic` takes the one with the smaller estimated cost.
enum class ThetaRoute { automatic, direct, resampled };

/// Tells whether orders that are aliases on the longest run of equal rings, and live on one rank,
/// are summed before they are sent.
enum class Folding { fold, keep };

/// When modes are exchanged. `whole`: between the stages, as one MPI_Alltoallv, or in passes of
/// some orders each where memory is short. `overlapped`: in passes, one of which is exchanged while
/// the Legendre stage works on the next. Results are the same bit by bit.
enum class ExchangeSchedule { whole, overlapped };

/// Precision of the modes that are exchanged. `single_` sends complex<float>, in passes: half the
/// bytes. Every mode is rounded, also those that stay on their rank, so results do not depend on
/// the number of ranks. Maps and a_lm then have relative rms errors of about 3e-8, below 1e-6 in
/// any case. Modes above 3e38 are refused (DataError); a field whose modes are all below 1e-37
/// loses its digits.
enum class ModePrecision { double_, single_ };

/// How ring modes move between ranks.
struct ExchangeOptions {
  Folding folding = Folding::fold;
  ExchangeSchedule schedule = ExchangeSchedule::whole;
  ModePrecision precision = ModePrecision::double_;
  /// Largest count or displacement handed to MPI. More modes are packed and go in passes. Tests
  /// make it small.
  std::int64_t mpi_count_limit = std::numeric_limits<int>::max();
};

}  // namespace ringweave
