// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "distribute/points/point_order.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// Throws DataError on all ranks, naming the first point, when angles are not finite or theta is
/// outside [0, pi]. Collective.
void require_angles(const Communicator& comm, const PointAngles& listed);
/// Throws DataError likewise when values are not finite. T is float or double. Collective.
template <class T>
void require_finite_values(const Communicator& comm, ComponentView<const T> values);

}  // namespace ringweave::detail::inline distribute
