// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/hdf5/rows.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Opens a map in Ringweave's schema or TOAST3's. The file is closed between calls, so the reader's
/// lifetime does not matter. Collective. Error  DataError, agreed.
std::unique_ptr<MapReader> open_hdf5_map(const Communicator& comm, const std::string& path,
                                         const Hdf5Limits& limits = {});

/// Writes to `path` itself; for a file that appears whole or not at all, pass AtomicOutput's
/// temporary name. A partial map lists the pixels of `rings` in which at least one component is not
/// UNSEEN. Collective. Error  UsageError for shapes that do not match or NESTED on other grids;
/// ResourceError; agreed.
template <class T>
void write_hdf5_map(const Communicator& comm, const std::string& path, const MapHeader& header,
                    const Provenance& provenance, const LocalRings& rings, MapView<const T> map,
                    const Hdf5Limits& limits = {});

}  // namespace ringweave::detail::inline io
