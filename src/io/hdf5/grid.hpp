// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
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

/// Encodes a full grid as text for the other ranks: its name where that suffices, else its rings.
nlohmann::json encode_grid(const RingGrid& grid);
std::shared_ptr<const RingGrid> decode_grid(const nlohmann::json& encoded);

}  // namespace ringweave::detail::inline io
