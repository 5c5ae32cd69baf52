// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// Copies a_lm into the orders that each rank has in another layout of the same degrees, for
/// example that of a transform on another grid. T is float or double. Each order is one message.
/// from, to  [component][coefficient]; together the ranks' layouts hold every order once
/// Collective. An MPI failure ends the job. Error  UsageError where the layouts differ in their
/// degrees, or an order is not on exactly one rank.
template <class T>
void move_orders(const Communicator& comm, const AlmLayout& from_layout, AlmView<const T> from,
                 const AlmLayout& to_layout, AlmView<T> to);

}  // namespace ringweave::detail::inline distribute
