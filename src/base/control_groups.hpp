// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

namespace ringweave::detail::inline base {

/// Returns the bytes of memory that the control groups of this process (of Linux, versions 1 and 2)
/// leave to it: the least of its group and of all groups around it. Cached files do not count as
/// used, because the system drops them. The largest number without a limit.
///
/// root  a folder that stands for "/", for tests
std::int64_t control_group_bytes(const std::string& root = "");

}  // namespace ringweave::detail::inline base
