// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/device_planes.hpp"

namespace ringweave::detail::inline gyro {

void DevicePlaneCopies::download(const double* from, ComponentView<double> planes, Accumulate how) {
  const std::int64_t bytes = planes.size() * std::int64_t{sizeof(double)};
  for (std::int64_t p = 0; p < planes.n_components(); ++p, from += planes.size()) {
    double* const to = planes.component(p).data();
    if (how == Accumulate::overwrite) {
      copies_.to_host(from, to, bytes);
      continue;
    }
    double* const added = plane_.data();
    copies_.to_host(from, added, bytes);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < planes.size(); ++i) to[i] += added[i];
  }
}

}  // namespace ringweave::detail::inline gyro
