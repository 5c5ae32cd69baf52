// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/cli/options.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {

/// The mask of --mask and --apodise.
struct SkyMask {
  std::shared_ptr<const std::vector<double>> values;  ///< [own pixel], 0 to 1; null: no mask
  SkyFraction fraction{1, 1};
};

/// Checks --mask and --apodise before anything is read, and keeps the mask's file from being an
/// output. Error  UsageError; DataError where the mask is no map on `grid`, the full one.
/// Collective.
void check_mask(Run& run, const AnalysisOptions& options, const MapHeader& map);

/// Reads --mask and lets it fall as --apodise says; prints the sky fraction that is left. No mask
/// without --mask. Collective.
/// Error  DataError for values that are not from 0 to 1, or where all are 0.
SkyMask read_mask(Run& run, const AnalysisOptions& options, const LocalRings& rings);

/// Returns the mask, for MemoryUse::beside; nothing without --mask.
std::vector<MemoryItem> mask_beside(const AnalysisOptions& options);

/// Records the mask of --mask.
void put_mask(const AnalysisOptions& options, const SkyFraction& fraction, Provenance& provenance);

}  // namespace ringweave::detail::inline app
