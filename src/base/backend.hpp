// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave {

/// Where a plan's stages run; chosen once, when the plan is made.
enum class Backend { host, cuda };

}  // namespace ringweave
