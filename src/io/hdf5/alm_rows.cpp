// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/alm_rows.hpp"

#include "base/checked_cast.hpp"
#include "io/pixel_owners.hpp"
#include "io/row_redistribution.hpp"

namespace ringweave::detail::inline io {

std::vector<int> order_owners(const Communicator& comm, const AlmLayout& layout) {
  const std::vector<std::int64_t> mine(layout.orders().begin(), layout.orders().end());
  return agree_on_owners(comm, mine, layout.mmax() + std::int64_t{1}, "order");
}

AlmAddresses alm_addresses(const AlmHeader& header, RowRun run, const AlmLayout& layout,
                           const std::vector<int>& owners) {
  AlmAddresses result;
  if (run.count == 0) return result;
  result.owner.reserve(to_size(run.count));
  result.key.reserve(to_size(run.count));
  const auto begin_of = [&](int m) { return AlmLayout::full_index(header.lmax, m, m); };
  int m = 0;
  for (int step = 1 << 24; step > 0; step /= 2) {
    if (m + step <= header.mmax && begin_of(m + step) <= run.first) m += step;
  }
  int l = m + static_cast<int>(run.first - begin_of(m));
  for (std::int64_t i = 0; i < run.count; ++i, ++l) {
    if (l > header.lmax) l = ++m;
    const bool wanted = m <= layout.mmax() && l <= layout.lmax();
    result.owner.push_back(wanted ? owners[to_size(m)] : RowRedistribution::nobody);
    result.key.push_back((static_cast<std::int64_t>(m) << 32) | l);
  }
  return result;
}

std::int64_t local_alm_index(const AlmLayout& layout, std::int64_t key) {
  const int m = static_cast<int>(key >> 32);
  const int l = static_cast<int>(key & 0xffffffff);
  return layout.index(layout.row_of(m), l);
}

}  // namespace ringweave::detail::inline io
