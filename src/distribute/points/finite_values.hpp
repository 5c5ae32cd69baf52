// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// Throws DataError on all ranks, naming the first point, when values, [component][point], are not
/// finite. T is float or double. Collective.
template <class T>
void require_finite_values(const Communicator& comm, ComponentView<const T> values);

}  // namespace ringweave::detail::inline distribute
