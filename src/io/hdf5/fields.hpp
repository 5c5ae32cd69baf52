// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/hdf5/rows.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

// Maps and a_lm in HDF5 files. Readers close the file between calls, so their lifetimes do not
// matter. Files are written to `path` itself; for one that appears whole or not at all, pass
// AtomicOutput's temporary name. All collective.

/// Opens a map in Ringweave's schema or TOAST3's, or in variables over latitude and longitude, of
/// which `variable` chooses one. Error  DataError; UsageError for a variable that is not there;
/// agreed.
std::unique_ptr<MapReader> open_hdf5_map(const Communicator& comm, const std::string& path,
                                         const Hdf5Limits& limits = {},
                                         const std::string& variable = "");

/// Writes a map; a partial one lists the pixels of `rings` in which at least one component is not
/// UNSEEN. Error  UsageError for shapes that do not match or NESTED on other grids; ResourceError;
/// agreed.
template <class T>
void write_hdf5_map(const Communicator& comm, const std::string& path, const MapHeader& header,
                    const Provenance& provenance, const LocalRings& rings, MapView<const T> map,
                    const Hdf5Limits& limits = {});

/// Opens the one dataset of /alm: complex (components, coefficients), m-major. Error  DataError,
/// agreed.
std::unique_ptr<AlmReader> open_hdf5_alm(const Communicator& comm, const std::string& path,
                                         const Hdf5Limits& limits = {});

/// Writes /alm/alm. Error  UsageError for shapes that do not match and for orders that no rank or
/// two ranks own; ResourceError; agreed.
template <class T>
void write_hdf5_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm,
                    const Hdf5Limits& limits = {});

}  // namespace ringweave::detail::inline io
