// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "convolve/ring/host/sector_sum.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"

namespace ringweave::detail::inline convolve {

/// Layout of input rings as [pixel of a sector][lane], padded with the sector's neighbours on
/// either side; a lane is a sector of a hemisphere of a map. The same for all threads and kernels.
struct SectorRowShape {
  /// n_maps  number of maps that share a kernel
  SectorRowShape(const RingConvolutionPlan& plan, std::int64_t n_maps);

  std::int64_t n_lanes = 0;
  std::int64_t most_rings = 0;     ///< input rings an output ring needs
  std::int64_t row_size = 0;       ///< doubles of the longest ring
  std::vector<std::int64_t> pads;  ///< [ring] pixels stored before and behind its sector
};

/// Rows of some rings, kept until their slots are needed for others.
template <class T>
class SectorRows {
 public:
  /// rows  room for n_slots rings
  /// held  [n_slots]
  SectorRows(const RingConvolutionPlan& plan, const SectorRowShape& shape, const KernelMaps& maps,
             const RingSource<T>& in, std::int64_t n_slots, double* rows, std::int64_t* held);

  /// Returns pixel 0 of the sector of a ring (its mirror in the other hemisphere's lanes). Valid
  /// until a ring n_slots away is requested.
  const double* row(std::int64_t ring);

 private:
  void fill(std::int64_t ring, double* row) const;
  /// Fills a pixel outside the sector with the equal one a few sectors away.
  void copy_pixel(std::int64_t pixel, std::int64_t n, double* row) const;
  std::int64_t mirror(std::int64_t ring) const { return plan_->grid().n_rings() - 1 - ring; }

  const RingConvolutionPlan* plan_;
  const SectorRowShape* shape_;
  KernelMaps maps_;
  const RingSource<T>* in_;
  std::int64_t n_lanes_;
  std::int64_t n_slots_;
  double* rows_;
  std::int64_t* held_;  ///< [slot] ring
};

}  // namespace ringweave::detail::inline convolve
