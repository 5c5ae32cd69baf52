// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "io/alm_file.hpp"
#include "io/map_file.hpp"
#include "sphere/spectra.hpp"

namespace ringweave {

/// Content of a file: exactly one of these is set.
struct Content {
  std::unique_ptr<MapReader> map;
  std::unique_ptr<AlmReader> alm;
  std::optional<Spectra> spectra;
};

/// Opens a file as a map, as a_lm, or as spectra, whichever succeeds first. Collective. Error
/// DataError with the reason each attempt failed.
Content open_content(const Communicator& comm, const std::string& path);

}  // namespace ringweave
