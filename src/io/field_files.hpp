// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "io/atomic_output.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Throws a UsageError where the kind of file cannot hold maps on the full grid. Not collective.
void require_map_file(const std::string& path, const RingGrid& grid);

// Write maps and a_lm to the temporary name of `output`, which the caller commits (with others).
// Collective; arguments as those of the functions in ringweave/files.hpp.
void write_map(const AtomicOutput& output, const MapHeader& header, const Provenance& provenance,
               const LocalRings& rings, AnyConstMapView<> map);
void write_alm(const AtomicOutput& output, const AlmHeader& header, const Provenance& provenance,
               const AlmLayout& layout, AnyConstAlmView<> alm);

}  // namespace ringweave::detail::inline io
