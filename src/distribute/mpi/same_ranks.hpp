// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Throws UsageError on all ranks of `comm` unless `other` has the same ranks in the same order on
/// each of them. Collective over `comm`; not over `other`.
///
/// what  was made with `other`, e.g. "points"
void require_same_ranks(const Communicator& comm, const Communicator& other,
                        const std::string& what);

}  // namespace ringweave::detail::inline distribute
