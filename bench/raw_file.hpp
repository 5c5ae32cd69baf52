// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail {

/// Writes map and a_lm of all ranks as plain doubles without a header, for a driver on the same
/// file system (numpy.fromfile): [component][pixel of the whole grid], and complex numbers
/// [component][m][l = m..lmax], healpy's order. Collective. Error  ResourceError.
template <class T>
void write_raw_map(const Communicator& comm, const std::string& path, const LocalRings& rings,
                   MapView<const T> map);
template <class T>
void write_raw_alm(const Communicator& comm, const std::string& path, const AlmLayout& layout,
                   AlmView<const T> alm);

}  // namespace ringweave::detail
