// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/mode_view.hpp"
#include "convolve/ring/host/mode_samples.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_source.hpp"
#include "convolve/ring/row_fft.hpp"

namespace ringweave::detail::inline convolve {

/// Tables of a rule, [k] at pi k / around, k <= around.
struct ModeTables {
  std::vector<double> cosine;
  std::vector<double> sine;  ///< for spin
};

/// Some orders of the rings of a part, one per lane, [ring][view, map, re or im][order]. The second
/// view has the rings from south to north.
///
/// Of a field of spin, P = Q + i U, there are two such arrays: the modes of P and those of its
/// conjugate, which are multiplied by the kernel's modes of order m and -m. They change places in
/// the second view, where the kernel of the mirror images is conjugate.
class ModeBlock {
 public:
  using Complex = std::complex<double>;

  ModeBlock(const RingConvolutionPlan& plan, const ModeSamples& samples)
      : plan_(&plan),
        samples_(&samples),
        zone_(plan.modes().zone),
        n_arrays_(plan.maps_of_field()) {}
  /// maps     a range of the maps held in the modes
  /// scratch  scratch_size() doubles
  void place(const KernelMaps& maps, double* scratch);

  /// Returns how many rings' modes stay in the L2 cache and within most_scratch doubles, with a
  /// small minimum.
  static std::int64_t rings_at_once(const RingConvolutionPlan& plan, std::int64_t n_maps,
                                    std::int64_t most_scratch);
  /// Returns the doubles for n_maps maps: of a block, and of the rings it carries to the next part.
  static std::int64_t scratch_size(const RingConvolutionPlan& plan, const ModeSamples& samples,
                                   std::int64_t n_maps);
  static std::int64_t carried_size(const RingConvolutionPlan& plan, const ModeSamples& samples,
                                   std::int64_t n_maps);

  /// `carried` holds the first n_carried rings of the part.
  void load(const OrderSet& set, const ModeSamples::Part& part, const Complex* modes,
            std::int64_t n_carried, const double* carried);
  /// Pairs of rings and their rows made by FFT, `apart` doubles from one to the next.
  struct Pairs {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    const double* rows = nullptr;
    std::int64_t apart = 0;
  };
  /// Adds the products of pairs of the part. tables  [rule]
  void add(const Pairs& pairs, const double* samples, const std::vector<ModeTables>& tables);
  /// Writes the part's rings that no later part touches, and carries the others to the next part.
  void store(Complex* modes, double* carried) const;

 private:
  /// Consecutive rings of the zone with one order, in one view.
  struct Run {
    RingRange rings;
    std::int64_t view = 0;
    std::int64_t lane = 0;
    std::int64_t order = 0;
    std::int64_t position = 0;  ///< of the first ring's mode
  };

  static std::int64_t n_views(const RingConvolutionPlan& plan) {
    return plan.is_symmetric() ? 2 : 1;
  }
  static std::int64_t row_size(const RingConvolutionPlan& plan, std::int64_t n_maps) {
    return n_views(plan) * n_maps * 2 * mode_sum::orders;
  }
  std::int64_t n_maps() const { return plan_->maps_together(); }
  bool has_spin() const { return n_arrays_ == 2; }
  std::int64_t mirror(std::int64_t ring) const { return zone_.size() - 1 - ring; }
  /// Returns the ring at a position of a view.
  std::int64_t seen(std::int64_t ring, std::int64_t view) const {
    return view == 0 ? ring : mirror(ring);
  }
  std::int64_t at(std::int64_t ring, std::int64_t view, std::int64_t map, std::int64_t lane) const {
    return (seen(ring, view) - part_.first_ring) * row_ +
           (view * n_channels_ + map) * 2 * mode_sum::orders + lane;
  }
  /// Returns the sum of both views of a ring in the arrays of P and of its conjugate, or the array
  /// of a scalar map. array  of the first view
  Complex sum_of_views(std::int64_t ring, std::int64_t view, std::int64_t channel,
                       std::int64_t lane, std::int64_t array, bool is_seen_twice) const;
  void load_fields(const Run& run, const Complex* from);
  void add_spin(const ModePairs& pairs, const mode_sum::Tile& tile);
  /// Runs work(run) for the modes in a layout of the rings at [begin, end) of a view.
  template <class Work>
  void for_each_run(const ModeLayout& layout, RingRange places, const Work& work) const;
  void halve_nyquist(const Run& run, Complex* modes) const;

  const RingConvolutionPlan* plan_;
  const ModeSamples* samples_;
  KernelMaps maps_;
  RingRange zone_;
  std::int64_t n_arrays_;
  std::int64_t n_channels_ = 0;  ///< maps, or fields of spin
  std::int64_t row_ = 0;
  std::int64_t array_size_ = 0;
  ModeSamples::Part part_;
  OrderSet set_;
  std::int64_t rule_ = -1;  ///< of the current cosines
  double* in_ = nullptr;
  double* out_ = nullptr;
  double* cosines_ = nullptr;  ///< [half][sample][order]
  double* sines_ = nullptr;    ///< the same, for spin
  double* rows_ = nullptr;     ///< cosine and sine sums [2][pair][order], for spin
};

/// Samples along a ring: the number of every half-step, and the room reserved for them.
struct SampleShape {
  std::int64_t n_halves = 1;
  std::int64_t n = 0;
  std::int64_t room = 0;
};

/// Sets cosines[half][sample][lane] = cos(pi m (2 sample + half) / around), with room for
/// samples.room of a half-step; or sines.
///
/// table        [k] cos(pi k / around) or sin(pi k / around), k <= around
/// beyond_half  factor of an entry that stands for 2 around - k: 1, of sines -1
void find_cosines(const OrderSet& set, const std::vector<double>& table, const SampleShape& samples,
                  double* cosines, double beyond_half = 1);

}  // namespace ringweave::detail::inline convolve
