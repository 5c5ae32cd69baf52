// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/alm_file.hpp"
#include "io/map_file.hpp"
#include "sphere/spectra.hpp"

namespace ringweave {

/// What a file holds: exactly one of these is set.
struct Content {
  std::unique_ptr<MapReader> map;
  std::unique_ptr<AlmReader> alm;
  std::optional<Spectra> spectra;
};

/// Finds out by trying a map, a_lm, spectra in turn. Collective.
/// Error  DataError with what each attempt found wrong.
Content open_content(const Communicator& comm, const std::string& path);

}  // namespace ringweave
