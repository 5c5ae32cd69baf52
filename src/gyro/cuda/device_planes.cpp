// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/device_planes.hpp"

#include "ringweave/error.hpp"

namespace ringweave::detail::inline gyro {

void DevicePlaneCopies::download(const double* from, const ResultPlanes& planes, Accumulate how) {
  std::visit([&](const auto& to) { download_to(to, from, how); }, planes);
}

void DevicePlaneCopies::download_to(ComponentView<double, MemorySpace::device> planes,
                                    const double* from, Accumulate how) {
  if (how == Accumulate::add) throw InternalError("planes of a device are not added to");
  for (std::int64_t p = 0; p < planes.n_components(); ++p, from += planes.size())
    copy(from, planes.component(p).data(), planes.size());
}

void DevicePlaneCopies::download_to(ComponentView<double> planes, const double* from,
                                    Accumulate how) {
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
