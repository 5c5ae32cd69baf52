// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/mode_view.hpp"
#include "convolve/ring/host/mode_block.hpp"
#include "convolve/ring/host/mode_samples.hpp"
#include "convolve/ring/host/row_transform.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"
#include "convolve/ring/row_fft.hpp"

namespace ringweave::detail::inline convolve {

/// Multiplies ring modes by kernel modes: mode_m(t0) = sum_t K_m(t0, t) mode_m(t), in place. K_m is
/// a sum of kernel samples times cosines where the kernel covers a small part of a ring, and an FFT
/// of the samples where it covers more.
///
/// Bands of rings are processed from north to south, all orders of one before the next, so that its
/// kernel samples are computed once; contributions of a band to rings of later ones are carried
/// along. Threads share the blocks of orders. With FFTs there are few blocks, and threads share the
/// work on one.
class ModeProduct {
 public:
  /// Keeps a reference to the plan. most_scratch  doubles scratch_size() should not exceed
  ModeProduct(const RingConvolutionPlan& plan, int n_threads, std::int64_t most_scratch);

  ModeProduct(const ModeProduct&) = delete;
  ModeProduct& operator=(const ModeProduct&) = delete;

  bool empty() const { return plan_->modes().zone.empty(); }
  std::int64_t scratch_size() const;  ///< doubles
  std::int64_t table_bytes() const;
  /// modes    in the layout of plan.rows(), [position][map], times the weights of their rings
  /// scratch  scratch_size() doubles
  void apply(const KernelMaps& maps, ModeView<double> modes, double* scratch);

 private:
  struct Scratch {
    double* samples;
    double* carried;  ///< [block held][set]
    double* blocks;   ///< [blocks_]
    // Used for rows made by FFT.
    double* factors;  ///< [half][sample]
    double* cosines;  ///< [set other than by FFT][half][sample][lane]
    double* rows;     ///< [pair of a group][set]
    double* threads;  ///< [thread]
    std::int64_t size;
  };

  std::int64_t n_blocks() const { return static_cast<std::int64_t>(orders_.size()); }
  Scratch place(double* scratch) const;
  struct BlockRange {
    std::int64_t begin;
    std::int64_t end;
  };
  /// Processes the orders of some blocks.
  void multiply(const KernelMaps& maps, BlockRange blocks, ModeView<double> modes,
                const Scratch& scratch);
  /// Multiplies blocks of orders of a part, one block per thread.
  void multiply_by_sums(const ModeSamples::Part& part, BlockRange blocks, ModeView<double> modes,
                        std::int64_t n_carried, const Scratch& scratch);
  /// The same, with all threads on one block.
  void multiply_by_fft(const ModeSamples::Part& part, const OrderBlock& block,
                       ModeView<double> modes, std::int64_t n_carried, double* carried,
                       const Scratch& scratch);
  /// Computes the tables of a block.
  void find_factors(const OrderBlock& block, const Scratch& scratch) const;
  /// Makes the rows of a group of pairs for all sets of a block.
  void make_rows(const ModePairs& pairs, const OrderBlock& block, const Scratch& scratch,
                 double* thread, double* rows) const;

  const RingConvolutionPlan* plan_;
  int n_threads_;
  std::int64_t n_maps_;  ///< multiplied together
  ModeSamples samples_;
  std::int64_t block_size_ = 0;    ///< doubles
  std::int64_t carried_size_ = 0;  ///< doubles
  std::int64_t n_held_ = 0;        ///< blocks of orders that share one computation of the samples
  std::vector<OrderBlock> orders_;
  std::int64_t most_sets_ = 0;   ///< in a block
  std::int64_t n_together_ = 0;  ///< groups of pairs whose rows are held
  std::optional<RowTransform> transform_;
  std::vector<ModeBlock> blocks_;   ///< one per thread, or per set with rows by FFT
  std::vector<ModeTables> tables_;  ///< [rule]
};

}  // namespace ringweave::detail::inline convolve
