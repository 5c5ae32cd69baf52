// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "app/run.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {

/// The tables that HEALPix has in its folder data/, one for each nside.
enum class HealpixTable { pixel_window, ring_weights, pixel_weights };

/// Value of an option: look for the table where HEALPix keeps it.
inline constexpr const char* where_healpix_is = "auto";

/// Returns the file that the value of an option means: of a folder, or of its folder data/, the one
/// with HEALPix's name for this nside; with "auto" that of ., $HEALPIX/data or $HEALPIX; any other
/// value is the file. Rank 0 looks. Collective. Error  DataError that names the file that is
/// missing, and where it was looked for.
std::string healpix_file(const Communicator& comm, HealpixTable table, const std::string& option,
                         const std::string& value, std::int64_t nside);

/// Returns the file of a pixel window for maps on `grid`, which no output may replace; empty for an
/// empty value. Collective. Error  UsageError where the grid is not HEALPix; DataError.
std::string window_file(Run& run, const std::string& option, const std::string& value,
                        const RingGrid& grid);

}  // namespace ringweave::detail::inline app
