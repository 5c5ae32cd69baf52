// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "io/hdf5/rows.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// Returns the rank that owns each order 0..mmax of a layout; -1: none. Collective.
/// Error  UsageError when two ranks own one order.
std::vector<int> order_owners(const Communicator& comm, const AlmLayout& layout);

/// Owners and keys (m and l in one number) of consecutive coefficients of a file.
struct AlmAddresses {
  std::vector<int> owner;
  std::vector<std::int64_t> key;
};

/// Returns the addresses of the file positions of `run`. Coefficients beyond the layout's limits
/// have no owner.
AlmAddresses alm_addresses(const AlmHeader& header, RowRun run, const AlmLayout& layout,
                           const std::vector<int>& owners);

/// Returns the index of a key's coefficient in a rank's layout.
std::int64_t local_alm_index(const AlmLayout& layout, std::int64_t key);

}  // namespace ringweave::detail::inline io
