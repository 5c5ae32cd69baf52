// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/finite_values.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

#include "distribute/points/offences.hpp"

namespace ringweave::detail::inline distribute {

template <class T>
void require_finite_values(const Communicator& comm, ComponentView<const T> values) {
  const auto wrong_component = [&](std::int64_t point) {
    std::int64_t c = 0;
    while (c < values.n_components() && std::isfinite(values.component(c)[point])) ++c;
    return c;
  };
  const Offences found = find_offences(values.size(), [&](std::int64_t point) {
    return wrong_component(point) < values.n_components();
  });
  std::string first;
  if (found.count > 0) {
    const std::int64_t c = wrong_component(found.first);
    first = fmt::format("component {} = {}", c, values.component(c)[found.first]);
  }
  refuse_offences(comm, found, "values that are NaN or infinite", first,
                  "replace the values or leave the points out");
}

template void require_finite_values<double>(const Communicator&, ComponentView<const double>);
template void require_finite_values<float>(const Communicator&, ComponentView<const float>);

}  // namespace ringweave::detail::inline distribute
