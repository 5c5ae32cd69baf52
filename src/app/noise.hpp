// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/cli/options.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// White noise of a map: the rms of each own pixel.
struct PixelNoise {
  std::vector<std::vector<double>> rms;  ///< [component or one for all][own pixel]; none: no noise
};

/// Checks --noise, --noise-column and --noise-per-hit, and keeps the file from being an output.
/// Collective. Error  UsageError; DataError where the file is no map on `grid`, the full one, or
/// lacks a column of the fields.
void check_noise(Run& run, const SynthesizeOptions& options, const RingGrid& grid,
                 const FieldChoice& choice);

/// Reads --noise for a map of these fields in `unit`; no noise without. Collective. Error
/// DataError for negative numbers and where columns are missing, UsageError where units do not go
/// together.
PixelNoise read_noise(Run& run, const SynthesizeOptions& options, const LocalRings& rings,
                      const FieldChoice& choice, const std::string& unit);

/// Returns the rms of the noise, for MemoryUse::beside; nothing without --noise.
std::vector<MemoryItem> noise_beside(const SynthesizeOptions& options, std::int64_t n_components);

/// Adds the noise of a realisation to a map. Pixels without a finite rms become UNSEEN. The numbers
/// depend on seed, component and pixel alone. T is float or double.
template <class T>
void add_noise(const PixelNoise& noise, std::uint64_t seed, const LocalRings& rings,
               MapView<T> map);

}  // namespace ringweave::detail::inline app
