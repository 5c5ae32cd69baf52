// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/spin_pixels.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "convolve/ring/host/kernel_values.hpp"
#include "convolve/ring/host/spin_sum.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Pixels of a ring within reach of a pixel of another ring: `count` from `first` on, around the
/// ring.
struct Reach {
  std::int64_t first = 0;
  std::int64_t count = 0;
  std::int64_t to_nearest = 0;  ///< pixels from the first to the nearest one
  double half_phi = 0;          ///< half the difference of longitudes to the nearest one
};

/// Two rings' pixels in longitude, exact in units of 2 pi / (n_out n_in) where offsets are whole or
/// half pixels.
struct RingPairPixels {
  double n_out;
  double n_in;
  double offset_out;
  double offset_in;

  RingPairPixels(const Ring& out, const Ring& in)
      : n_out(static_cast<double>(out.n_phi)),
        n_in(static_cast<double>(in.n_phi)),
        offset_out(offset_in_pixels(out)),
        offset_in(offset_in_pixels(in)) {}

  Reach reach(std::int64_t pixel, double half_width) const {
    constexpr double generous = 1e-9;
    const double place = (offset_out + static_cast<double>(pixel)) * n_in;
    const double middle = place / n_out - offset_in;
    const double width = half_width / (2 * std::numbers::pi) * n_in + generous;
    const double first = std::ceil(middle - std::min(width, n_in / 2));
    Reach found;
    found.first = static_cast<std::int64_t>(first);
    found.count =
        static_cast<std::int64_t>(std::clamp(std::floor(middle + width) - first + 1, 0.0, n_in));
    const double nearest = std::round(middle);
    found.to_nearest = static_cast<std::int64_t>(nearest - first);
    found.half_phi = (place - (offset_in + nearest) * n_out) * (std::numbers::pi / (n_out * n_in));
    return found;
  }
};

/// Sets cosine and sine of an angle, small ones by series accurate to rounding.
void find_cosine_and_sine(double angle, double& cosine, double& sine) {
  constexpr double small = 1.0 / 32;
  if (std::abs(angle) > small) {
    cosine = std::cos(angle);
    sine = std::sin(angle);
    return;
  }
  const double x = angle * angle;
  cosine = 1 - x * (0.5 - x * (1.0 / 24 - x / 720));
  sine = angle * (1 - x * (1.0 / 6 - x * (1.0 / 120 - x / 5040)));
}

}  // namespace

SpinPixels::SpinPixels(const RingConvolutionPlan& plan, int n_threads, Of of)
    : plan_(&plan),
      n_threads_(n_threads),
      of_(of),
      n_maps_(plan.spec().kernels.size() == 1 ? plan.spec().n_maps : plan.maps_of_field()) {
  const bool are_conjugates = of == Of::conjugates;
  if (plan.spin() == 0 || (are_conjugates && !plan.has_conjugates())) return;
  for (std::int64_t i = 0; i < plan.own().n_rings(); ++i) {
    const std::int64_t ring = index(plan.own().global(LocalRing{i}));
    if (are_conjugates || plan.has_stencil(ring) || plan.has_sectors(ring)) rings_.push_back(ring);
  }
  longest_ = plan.grid().longest_ring();
}

/// The arrays of one worker.
struct SpinPixels::Pieces {
  double* cosines;  ///< [most_apart + k] of half the longitude of k pixels of the other ring
  double* sines;
  double* sin2_half;  ///< [value]
  double* sin_phi;
  double* re;  ///< [value] of the kernel
  double* im;
  Reach* reaches;  ///< [pixel] of those whose values are computed together
  double* sums;    ///< [map][pixel]

  Pieces(const SpinPixels& of, ScratchArena& pieces) {
    for (double** array : {&cosines, &sines, &sin2_half, &sin_phi, &re, &im})
      *array = pieces.allocate<double>(of.longest_ + 2 * spin_sum::padding);
    reaches = pieces.allocate<Reach>(of.longest_);
    sums = pieces.allocate<double>(of.n_maps_ * of.longest_);
  }
};

std::int64_t SpinPixels::worker_size() const {
  ScratchArena pieces;
  const Pieces counted(*this, pieces);
  return pieces.whole_pages();
}

std::int64_t SpinPixels::scratch_size() const { return empty() ? 0 : n_threads_ * worker_size(); }

/// The part of one thread.
template <class T>
class SpinPixels::Worker {
 public:
  Worker(const SpinPixels& of, const KernelMaps& maps, const RingSource<T>& in, ScratchArena pieces)
      : plan_(of.plan_),
        are_conjugates_(of.of_ == Of::conjugates),
        maps_(&maps),
        in_(&in),
        longest_(of.longest_),
        pieces_(of, pieces) {}

  void convolve(std::int64_t ring, MapView<T> out) {
    const std::int64_t n_phi = at(ring).n_phi;
    for (std::int64_t m = 0; m < maps_->n_maps; ++m)
      std::fill_n(pieces_.sums + m * longest_, n_phi, 0.0);
    const RingRange near = are_conjugates_ ? plan_->conjugate_window(ring) : plan_->window(ring);
    for (std::int64_t t = near.begin; t < near.end; ++t) {
      if (are_conjugates_ || plan_->way(ring, t) != RingConvolutionPlan::Way::modes) add(ring, t);
    }
    const bool adds = are_conjugates_ || plan_->has_modes(ring);
    const std::int64_t first = plan_->own().first_pixel(plan_->own().local(RingId{ring}));
    for (std::int64_t m = 0; m < maps_->n_maps; ++m) {
      const double* from = pieces_.sums + m * longest_;
      T* to = out.component(maps_->first_map + m).data() + first;
      // The sums are the conjugates of those of conjugated fields.
      const double sign = are_conjugates_ && m % 2 == 1 ? -1 : 1;
      for (std::int64_t i = 0; i < n_phi; ++i)
        to[i] = static_cast<T>((adds ? static_cast<double>(to[i]) : 0) + sign * from[i]);
    }
  }

 private:
  const Ring& at(std::int64_t r) const { return plan_->grid().ring(RingId{r}); }
  void add(std::int64_t out, std::int64_t in);
  /// Adds the products of consecutive pixels, and of those that rotations take them to.
  void add_pixels(std::int64_t out, std::int64_t in, std::int64_t pixel, std::int64_t n_pixels,
                  std::int64_t most_apart, std::int64_t n_rotations);

  const RingConvolutionPlan* plan_;
  bool are_conjugates_;
  const KernelMaps* maps_;
  const RingSource<T>* in_;
  std::int64_t longest_;
  Pieces pieces_;
};

template <class T>
void SpinPixels::Worker<T>::add(std::int64_t out, std::int64_t in) {
  const Ring& a = at(out);
  const Ring& b = at(in);
  const double width = RingPairChord(a, b).half_width(maps_->kernel->chord_squared_cut);
  if (width < 0) return;
  const RingPairPixels pixels(a, b);
  const double unit = std::numbers::pi / static_cast<double>(b.n_phi);
  // Half of the ring, or the pixels within the width, and one for rounding.
  const std::int64_t most_apart =
      static_cast<std::int64_t>(std::min(width / unit, static_cast<double>(b.n_phi)) / 2) + 2;
  for (std::int64_t k = 0; k <= most_apart; ++k) {
    const double angle = unit * static_cast<double>(k);
    pieces_.cosines[most_apart + k] = pieces_.cosines[most_apart - k] = std::cos(angle);
    pieces_.sines[most_apart + k] = std::sin(angle);
    pieces_.sines[most_apart - k] = -pieces_.sines[most_apart + k];
  }
  const std::int64_t n_rotations = std::gcd(a.n_phi, b.n_phi);
  std::int64_t begin = 0;
  std::int64_t n_values = 0;
  for (std::int64_t pixel = 0; pixel < a.n_phi / n_rotations; ++pixel) {
    const Reach reach = pixels.reach(pixel, width);
    if (n_values + reach.count > longest_) {
      add_pixels(out, in, begin, pixel - begin, most_apart, n_rotations);
      begin = pixel;
      n_values = 0;
    }
    pieces_.reaches[pixel - begin] = reach;
    n_values += reach.count;
  }
  add_pixels(out, in, begin, a.n_phi / n_rotations - begin, most_apart, n_rotations);
}

template <class T>
void SpinPixels::Worker<T>::add_pixels(std::int64_t out, std::int64_t in, std::int64_t pixel,
                                       std::int64_t n_pixels, std::int64_t most_apart,
                                       std::int64_t n_rotations) {
  const Ring& a = at(out);
  const Ring& b = at(in);
  const RingPairChord chord(a, b);
  std::int64_t n_values = 0;
  for (std::int64_t i = 0; i < n_pixels; ++i) {
    const Reach& reach = pieces_.reaches[i];
    spin_sum::Arc arc;
    find_cosine_and_sine(reach.half_phi, arc.cosine, arc.sine);
    arc.cosines = pieces_.cosines + most_apart - reach.to_nearest;
    arc.sines = pieces_.sines + most_apart - reach.to_nearest;
    arc.count = reach.count;
    spin_sum::place(arc, chord, pieces_.sin2_half + n_values, pieces_.sin_phi + n_values,
                    pieces_.re + n_values);
    n_values += reach.count;
  }
  evaluate(*maps_->kernel, pieces_.re, n_values, pieces_.re);
  if (are_conjugates_) {
    spin_sum::turn_conjugate(ConjugateTransport::of(a, b), b.weight, plan_->spin(),
                             pieces_.sin2_half, pieces_.sin_phi, n_values, pieces_.re, pieces_.im);
  } else {
    spin_sum::turn(RingPairTransport::of(a, b), b.weight, plan_->spin(), pieces_.sin2_half,
                   pieces_.sin_phi, n_values, pieces_.re, pieces_.im);
  }
  spin_sum::Products<T> products;
  products.n_in = b.n_phi;
  products.n_rotations = n_rotations;
  products.step_in = b.n_phi / n_rotations;
  products.step_out = a.n_phi / n_rotations;
  for (std::int64_t m = 0; m < maps_->n_maps; m += 2) {
    products.q = in_->pixels(in, maps_->first_map + m);
    products.u = in_->pixels(in, maps_->first_map + m + 1);
    products.re = pieces_.re;
    products.im = pieces_.im;
    double* sum_q = pieces_.sums + m * longest_ + pixel;
    for (std::int64_t i = 0; i < n_pixels; ++i) {
      const Reach& reach = pieces_.reaches[i];
      products.count = reach.count;
      products.first = ((reach.first % b.n_phi) + b.n_phi) % b.n_phi;
      spin_sum::add(products, sum_q + i, sum_q + longest_ + i);
      products.re += reach.count;
      products.im += reach.count;
    }
  }
}

template <class T>
void SpinPixels::convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                          double* scratch) const {
  const std::int64_t size = worker_size();
  // Nothing in the region allocates or throws.
#pragma omp parallel num_threads(n_threads_)
  {
    Worker<T> worker(*this, maps, in, ScratchArena(scratch + omp_get_thread_num() * size));
#pragma omp for schedule(dynamic)
    for (std::int64_t i = 0; i < ssize64(rings_); ++i) worker.convolve(rings_[to_size(i)], out);
  }
}

template void SpinPixels::convolve(const KernelMaps&, const RingSource<double>&, MapView<double>,
                                   double*) const;
template void SpinPixels::convolve(const KernelMaps&, const RingSource<float>&, MapView<float>,
                                   double*) const;

}  // namespace ringweave::detail::inline convolve
