// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/buffer.hpp"
#include "convolve/host/ring_source.hpp"
#include "convolve/host/sector_sum.hpp"
#include "convolve/ring_convolution_plan.hpp"

namespace ringweave {

/// Input rings turned to [pixel of a sector][lane], the sector's neighbours on either side of it; a
/// lane is a sector of a hemisphere of a map. Keeps the rings of one window.
template <class T>
class SectorRows {
 public:
  SectorRows(const RingConvolutionPlan& plan, const KernelMaps& maps, const RingSource<T>& in);

  std::int64_t n_lanes() const { return n_lanes_; }
  /// Pixel 0 of the sector of a ring (its mirror in the other hemisphere's lanes). Stays until the
  /// rings asked for have moved on by a window.
  const double* row(std::int64_t ring);

 private:
  void fill(std::int64_t ring, double* row) const;
  /// Fills a pixel outside the sector from the one a few sectors away.
  void copy_pixel(std::int64_t pixel, std::int64_t n, double* row) const;
  std::int64_t mirror(std::int64_t ring) const { return plan_->grid().n_rings() - 1 - ring; }

  const RingConvolutionPlan* plan_;
  KernelMaps maps_;
  const RingSource<T>* in_;
  std::int64_t n_lanes_ = 0;
  std::int64_t n_slots_ = 0;
  std::int64_t stride_ = 0;
  std::vector<std::int64_t> pads_;  ///< [ring] pixels before and behind the sector
  std::vector<std::int64_t> held_;  ///< [slot] ring
  HostBuffer<double> rows_;
};

}  // namespace ringweave
