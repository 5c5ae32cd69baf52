// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/hdf5/rows.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Opens the one dataset of /alm: complex (components, coefficients), m-major. The file is closed
/// between calls. Collective. Error  DataError, agreed.
std::unique_ptr<AlmReader> open_hdf5_alm(const Communicator& comm, const std::string& path,
                                         const Hdf5Limits& limits = {});

/// Writes /alm/alm to `path` itself (AtomicOutput's temporary name). Collective.
/// Error  UsageError for shapes that do not match and for orders that no rank or two ranks own;
/// ResourceError; agreed.
template <class T>
void write_hdf5_alm(const Communicator& comm, const std::string& path, const AlmHeader& header,
                    const Provenance& provenance, const AlmLayout& layout, AlmView<const T> alm,
                    const Hdf5Limits& limits = {});

}  // namespace ringweave::detail::inline io
