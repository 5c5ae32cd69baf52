// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "convolve/host/mode_samples.hpp"
#include "convolve/host/ring_source.hpp"
#include "convolve/ring_convolution_plan.hpp"

namespace ringweave {

/// The product of kernel modes and ring modes: mode_m(t0) = sum_t K_m(t0, t) mode_m(t), in place.
/// K_m is a sum of kernel samples times cosines, for the kernel covers a small part of a ring.
///
/// Bands of rings are taken from north to south, all orders of one before the next, so that its
/// kernel samples are made once; what a band adds to rings of later ones is carried along.
class ModeProduct {
 public:
  /// Keeps a reference to the plan. most_scratch  doubles scratch_size() should stay within
  ModeProduct(const RingConvolutionPlan& plan, int n_threads, std::int64_t most_scratch);

  bool empty() const { return plan_->modes().zone.empty(); }
  std::int64_t scratch_size() const;  ///< doubles
  std::int64_t table_bytes() const;
  /// modes    as plan.rows() lays them out, [position][map], times the weights of their rings
  /// scratch  scratch_size() doubles
  void apply(const KernelMaps& maps, ModeView<double> modes, double* scratch) const;

 private:
  struct Scratch {
    double* samples;
    double* carried;  ///< [block held]
    double* blocks;   ///< [thread]
    std::int64_t size;
  };

  std::int64_t n_blocks() const { return plan_->modes().mmax() / mode_sum::orders + 1; }
  Scratch place(double* scratch) const;
  struct BlockRange {
    std::int64_t begin;
    std::int64_t end;
  };
  /// The orders of some blocks.
  void multiply(const KernelMaps& maps, BlockRange blocks, ModeView<double> modes,
                const Scratch& scratch) const;

  const RingConvolutionPlan* plan_;
  int n_threads_;
  std::int64_t n_maps_;  ///< multiplied together
  ModeSamples samples_;
  std::int64_t block_size_ = 0;    ///< doubles
  std::int64_t carried_size_ = 0;  ///< doubles
  std::int64_t n_held_ = 0;        ///< blocks of orders, for which the samples are made once
  std::vector<std::vector<double>> cosines_;  ///< [rule][k] cos(pi k / around), k <= around
};

}  // namespace ringweave
