// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

/// What all forms of `lens` need.
struct LensJob {
  const LensOptions& options;
  std::shared_ptr<const RingGrid> grid;  ///< of the lensed map, or the one that is moved back
  FieldChoice choice;
  PointSpec spec;  ///< of the a_lm
  Precision precision = Precision::double_;
  std::string unit;
  std::string coordsys{};
  std::optional<std::uint64_t> seed{};
  std::optional<std::string> spectrum_kind{};
  std::optional<int> iterations{};  ///< of the analysis of a map that is moved back
  std::string input{};              ///< the file that outputs are made of
  FileOrigin origin{};
};

/// Returns the origin of outputs of the job.
Provenance provenance_of(const Run& run, const LensJob& job);

/// Writes a map on the job's grid. Collective.
void write_lens_map(Run& run, const LensJob& job, const std::string& path,
                    const std::vector<MapColumn>& columns, const LocalRings& rings,
                    AnyConstMapView<> map);

/// Writes a_lm with the lmax of their layout. Collective.
void write_lens_alm(Run& run, const LensJob& job, const std::string& path,
                    const std::vector<std::string>& components, const std::string& unit,
                    const AlmLayout& layout, AnyConstAlmView<> alm);

}  // namespace ringweave::detail::inline app
