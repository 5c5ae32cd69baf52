// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

/// Tags of messages between two ranks: one for each kind, so that kinds under way at the same time
/// do not meet.
namespace ringweave::detail::message_tag {

inline constexpr int halo_rings = 4;
inline constexpr int transferred_rings = 5;
inline constexpr int modes = 6;
inline constexpr int orders = 7;
inline constexpr int points = 8;

}  // namespace ringweave::detail::message_tag
