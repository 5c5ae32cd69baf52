// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "base/stage_timer.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/kernel.hpp"
#include "ringweave/views.hpp"

struct fftw_plan_s;

namespace ringweave::detail {

/// The algorithm as in the paper, for one thread of a CPU and in double: the reference
/// RingConvolution is compared with. For every pair of rings within the support the kernel is
/// interpolated linearly along the whole ring and transformed by its own FFT; north and south share
/// it; rings keep the modes up to their own Nyquist. The result equals that of
/// ConvolutionMode::plain up to the interpolation.
///
/// Cost  pairs of rings x (interpolation + FFT of the longest ring + 4 FMA per mode)
/// From  Elsner & Wandelt (2011), A&A 532, A35, Sects. 4.1 and 4.2
class OriginalConvolution {
 public:
  /// Needs a HEALPix grid: symmetric about the equator, rings no longer than the equator's.
  OriginalConvolution(std::shared_ptr<const RingGrid> grid, const RadialKernel& kernel);

  /// Whole maps, ring after ring.
  void convolve(std::span<const double> in, std::span<double> out);

  /// Number of pairs of rings whose kernel is transformed.
  std::int64_t n_kernel_rows() const;
  /// Seconds of "ring_fft", "kernel", "kernel_fft", "products".
  StageTimes& times() { return times_; }

 private:
  using Complex = std::complex<double>;
  struct Destroy {
    void operator()(fftw_plan_s* plan) const;
  };
  using Plan = std::unique_ptr<fftw_plan_s, Destroy>;
  struct RingPlans {
    Plan forward;
    Plan backward;
  };

  RingRange window(std::int64_t ring) const;
  Complex* modes(HostBuffer<Complex>& of, std::int64_t ring) { return &of[ring * row_length()]; }
  std::int64_t row_length() const { return longest_ / 2 + 1; }
  double kernel_at(double chord_squared) const;
  void rings_to_modes(std::span<const double> in);
  void interpolate(std::int64_t t0, RingRange rows);
  void multiply(std::int64_t t0, RingRange rows);
  void modes_to_rings(std::span<double> out);

  std::shared_ptr<const RingGrid> grid_;
  std::int64_t longest_ = 0;  ///< pixels of the longest ring
  double support_ = 0;
  double chord_squared_cut_ = 0;
  std::vector<double> table_;      ///< K over chord^2 in equal steps from 0 to the cut
  std::vector<double> sin2_half_;  ///< [sample of half a ring]
  std::map<std::int64_t, RingPlans> ring_plans_;  ///< by length
  Plan kernel_plan_;
  HostBuffer<double> samples_;        ///< [row of a batch][sample]
  HostBuffer<Complex> kernel_modes_;  ///< [row of a batch][m]
  HostBuffer<double> ring_;
  HostBuffer<Complex> ring_modes_;
  HostBuffer<Complex> in_modes_;   ///< [ring][m], zero above its Nyquist
  HostBuffer<Complex> out_modes_;  ///< [ring][m]
  StageTimes times_;
};

}  // namespace ringweave::detail
