// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/hdf5/file.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline io {

/// Writes /grid/{theta, phi0, nphi, ringstart, weight}, one entry per ring, and its attribute
/// `name`. Not collective.
void write_hdf5_grid(const Hdf5Handle& file, const std::string& path, const RingGrid& grid);

/// Reads the grid; one whose name RingGrid::from_name knows is rebuilt from the name. Not
/// collective. Error  DataError when arrays and name contradict each other.
std::shared_ptr<const RingGrid> read_hdf5_grid(const Hdf5Handle& file, const std::string& path);

}  // namespace ringweave::detail::inline io
