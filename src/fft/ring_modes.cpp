// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/ring_modes.hpp"

#include <numeric>
#include <string>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {
namespace {

/// Returns the first ring >= start whose entry is not set; follows and shortens the chains of
/// `next`.
std::int64_t next_unset(std::vector<std::int64_t>& next, std::int64_t start) {
  while (next[to_size(start)] != start) {
    next[to_size(start)] = next[to_size(next[to_size(start)])];
    start = next[to_size(start)];
  }
  return start;
}

void check(const RingFftShape& shape) {
  if (shape.n_components < 1) {
    throw UsageError("ring FFT: n_components = " + std::to_string(shape.n_components) +
                     ", expected at least 1");
  }
  int previous = -1;
  for (const ModeLayout::Row& row : shape.rows.rows()) {
    if (row.m <= previous) {
      throw UsageError("ring FFT: the row of order " + std::to_string(row.m) +
                       " follows that of order " + std::to_string(previous) +
                       ", expected ascending orders");
    }
    previous = row.m;
    for (const RowSegment& segment : shape.rows.segments(row)) {
      if (segment.first < 0 || segment.first + segment.rings.size() > shape.rows.size()) {
        throw UsageError("ring FFT: the row of order " + std::to_string(row.m) +
                         " reaches position " +
                         std::to_string(segment.first + segment.rings.size()) + " of a layout of " +
                         std::to_string(shape.rows.size()) + " positions");
      }
    }
  }
}

}  // namespace

std::vector<ModeCount> modes_of_rings(const RingFftShape& shape) {
  check(shape);
  const std::int64_t n_rings = shape.rings.n_rings();
  std::vector<ModeCount> rings(to_size(n_rings));
  std::vector<std::int64_t> next(to_size(n_rings) + 1);
  std::iota(next.begin(), next.end(), 0);
  // Change of n_present from one ring to the next.
  std::vector<std::int64_t> change(to_size(n_rings) + 1, 0);
  const auto rows = shape.rows.rows();
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    for (const RowSegment& segment : shape.rows.segments(*row)) {
      for (const RingBand& band : shape.rings.bands()) {
        const RingRange common = intersection(segment.rings, band.rings);
        if (common.empty()) continue;
        const std::int64_t begin = index(band.local(common.begin));
        const std::int64_t end = begin + common.size();
        ++change[to_size(begin)];
        --change[to_size(end)];
        for (std::int64_t i = next_unset(next, begin); i < end; i = next_unset(next, i)) {
          rings[to_size(i)].n_modes = row->m + std::int64_t{1};
          next[to_size(i)] = i + 1;
        }
      }
    }
  }
  std::int64_t present = 0;
  for (std::int64_t i = 0; i < n_rings; ++i) {
    present += change[to_size(i)];
    rings[to_size(i)].n_present = present;
  }
  return rings;
}

}  // namespace ringweave::detail::inline fft
