// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/resampled_modes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "legendre/deconvolved_rows.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline legendre {

bool has_theta_fft(std::int64_t length) {
  for (const int factor : {2, 3, 5, 7}) {
    while (length > 0 && length % factor == 0) length /= factor;
  }
  return length == 1;
}

RingGrid equidistant_rings(std::int64_t degree) {
  if (degree < 0)
    throw UsageError(fmt::format("theta resampling of degree {}; expected 0 or more", degree));
  // Even, so that no ring is on the equator, near which sums need one-degree steps.
  std::int64_t length = std::max<std::int64_t>(degree + 2, 2) / 2 * 2;
  while (!has_theta_fft(length)) length += 2;
  return RingGrid::fejer(length);
}

ResampledModes::ResampledModes(const LegendreShape& shape, const RingGrid& equidistant)
    : limits(equidistant, shape.alm.lmax(), shape.limits.mmax(), shape.fields.max_spin()) {
  for (const FieldSet::Field& field : shape.fields.fields())
    spins.insert(spins.end(), field.spin > 0 ? 2 : 1, field.spin);
  own.resize(spins.size());
  if (shape.fine_rows == nullptr) return;
  const int lmax = shape.alm.lmax();
  const int mmax = shape.limits.mmax();
  shape.fine_rows->check(lmax, mmax);
  std::map<int, std::shared_ptr<const OwnLimits>> of_spin;
  for (std::size_t c = 0; c < spins.size(); ++c) {
    const int spin = spins[c];
    if (spin == shape.fields.max_spin()) continue;
    auto& found = of_spin[spin];
    if (found == nullptr) {
      found = std::make_shared<const OwnLimits>(OwnLimits{
          {equidistant, lmax, mmax, spin},
          ModeLimits::of_fine_rows(*shape.grid, shape.fine_rows->n_rows, lmax, mmax, spin)});
    }
    own[c] = found;
  }
}

}  // namespace ringweave::detail::inline legendre
