// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave {

/// The value HEALPix gives to pixels that were not observed; is_unseen() allows for float storage.
constexpr double unseen = -1.6375e30;
constexpr bool is_unseen(double value) { return value < -1.6374e30 && value > -1.6376e30; }

}  // namespace ringweave
