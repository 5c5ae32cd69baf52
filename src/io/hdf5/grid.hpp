// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "io/hdf5/file.hpp"
#include "sphere/ring_grid.hpp"

namespace ringweave {

/// /grid/{theta, phi0, nphi, ringstart, weight}, one entry a ring, and its attribute `name`. Not
/// collective.
void write_hdf5_grid(const Hdf5Handle& file, const std::string& path, const RingGrid& grid);

/// The grid those tell; a name that RingGrid::from_name knows is rebuilt from it. Not collective.
/// Error  DataError when arrays and name contradict each other.
std::shared_ptr<const RingGrid> read_hdf5_grid(const Hdf5Handle& file, const std::string& path);

/// A full grid as text for the other ranks: its name where that tells all, else its rings.
nlohmann::json encode_grid(const RingGrid& grid);
std::shared_ptr<const RingGrid> decode_grid(const nlohmann::json& encoded);

}  // namespace ringweave
