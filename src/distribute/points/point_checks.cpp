// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_checks.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "base/checked_cast.hpp"
#include "distribute/points/invalid_points.hpp"
#include "sphere/fine_position.hpp"

namespace ringweave::detail::inline distribute {
namespace {

template <class T>
bool are_finite(ComponentView<const T> values) {
  constexpr T largest = std::numeric_limits<T>::max();
  std::int64_t others = 0;
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    const T* const value = values.component(c).data();
#pragma omp parallel for schedule(static) reduction(+ : others)
    for (std::int64_t i = 0; i < values.size(); ++i)
      others += std::abs(value[i]) <= largest ? 0 : 1;
  }
  return others == 0;
}

}  // namespace

void require_angles(const Communicator& comm, const PointAngles& listed) {
  const InvalidPoints found = find_invalid_points(ssize64(listed.theta), [&](std::int64_t point) {
    const std::size_t i = to_size(point);
    const bool has_finite_psi = listed.psi.empty() || std::isfinite(listed.psi[i]);
    return !(listed.theta[i] >= 0 && listed.theta[i] <= fine::pi && std::isfinite(listed.phi[i]) &&
             has_finite_psi);
  });
  std::string first;
  if (found.count > 0) {
    const std::size_t i = to_size(found.first);
    first = fmt::format("theta = {}, phi = {}", listed.theta[i], listed.phi[i]);
    if (!listed.psi.empty()) first += fmt::format(", psi = {}", listed.psi[i]);
  }
  throw_on_invalid_points(comm, found, "angles that are NaN or infinite, or theta outside [0, pi],",
                          first, "give all angles in radians, theta from the north pole");
}

template <class T>
void require_finite_values(const Communicator& comm, ComponentView<const T> values) {
  const auto wrong_component = [&](std::int64_t point) {
    std::int64_t c = 0;
    while (c < values.n_components() && std::isfinite(values.component(c)[point])) ++c;
    return c;
  };
  InvalidPoints found;
  if (!are_finite(values)) {
    found = find_invalid_points(values.size(), [&](std::int64_t point) {
      return wrong_component(point) < values.n_components();
    });
  }
  std::string first;
  if (found.count > 0) {
    const std::int64_t c = wrong_component(found.first);
    first = fmt::format("component {} = {}", c, values.component(c)[found.first]);
  }
  throw_on_invalid_points(comm, found, "values that are NaN or infinite", first,
                          "replace the values or leave the points out");
}

template void require_finite_values<float>(const Communicator&, ComponentView<const float>);
template void require_finite_values<double>(const Communicator&, ComponentView<const double>);

}  // namespace ringweave::detail::inline distribute
