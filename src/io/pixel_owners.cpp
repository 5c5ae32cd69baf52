// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/pixel_owners.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

std::vector<int> agree_on_owners(const Communicator& comm, const std::vector<std::int64_t>& mine,
                                 std::int64_t count, const char* what) {
  // Claims and the sum of the claimants' numbers, in doubles because the communicator adds doubles;
  // both are exact.
  std::vector<double> claims(to_size(2 * count), 0.0);
  agree(comm, [&] {
    for (const std::int64_t i : mine) {
      if (i < 0 || i >= count)
        throw UsageError(fmt::format("{} {} is outside 0..{}", what, i, count - 1));
      claims[to_size(2 * i)] += 1;
      claims[to_size(2 * i + 1)] += comm.rank();
    }
  });
  comm.sum(claims.data(), 2 * count);
  std::vector<int> owner(to_size(count), -1);
  for (std::int64_t i = 0; i < count; ++i) {
    if (claims[to_size(2 * i)] > 1)
      throw UsageError(fmt::format("{} {} is owned by more than one rank", what, i));
    if (claims[to_size(2 * i)] > 0)
      owner[to_size(i)] = static_cast<int>(claims[to_size(2 * i + 1)]);
  }
  return owner;
}

PixelOwners::PixelOwners(const Communicator& comm, const LocalRings& rings)
    : grid_(rings.shared_grid()) {
  std::vector<std::int64_t> mine;
  for (std::int64_t r = 0; r < rings.n_rings(); ++r)
    mine.push_back(index(rings.global(LocalRing{r})));
  ring_owner_ = agree_on_owners(comm, mine, grid_->n_rings(), "ring");
}

int PixelOwners::owner(std::int64_t ring_pixel) const {
  const auto all = grid_->rings();
  const auto after = std::upper_bound(
      all.begin(), all.end(), ring_pixel,
      [](std::int64_t pixel, const Ring& ring) { return pixel < ring.source_pixel; });
  if (after == all.begin()) return -1;
  const Ring& ring = *(after - 1);
  if (ring_pixel >= ring.source_pixel + ring.n_phi) return -1;
  return ring_owner_[to_size(after - 1 - all.begin())];
}

}  // namespace ringweave::detail::inline io
