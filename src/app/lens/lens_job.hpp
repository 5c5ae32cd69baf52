// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/cli/options.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline app {

/// Options, grid and fields, which all forms of `lens` need.
struct LensJob {
  const LensOptions& options;
  std::shared_ptr<const RingGrid> grid;  ///< of the lensed map, or the one that is moved back
  FieldChoice choice;
  PointSpec spec;  ///< of the a_lm
  Precision precision = Precision::double_;
  std::string unit;
  Provenance provenance;  ///< of its outputs; of the input it names they are made
  std::string coordsys{};
};

/// Tells whether Q and U turn.
FrameRotation rotation_of(const LensOptions& options);

/// Returns how the command analyses a map.
AnalysisOptions analysis_options(const LensOptions& options);

/// Writes a map on the job's grid. Collective.
void write_lens_map(Run& run, const LensJob& job, const std::string& path,
                    const std::vector<MapColumn>& columns, const LocalRings& rings,
                    AnyConstMapView<> map);

/// Writes a_lm with the lmax of their layout. Collective.
void write_lens_alm(Run& run, const LensJob& job, const std::string& path,
                    const std::vector<std::string>& components, const std::string& unit,
                    const AlmLayout& layout, AnyConstAlmView<> alm);

}  // namespace ringweave::detail::inline app
