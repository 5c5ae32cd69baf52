// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/spin_pixels.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <numeric>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "convolve/ring/host/kernel_values.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Pixels of a ring within reach of a pixel of another ring: `count` from `first` on, around the
/// ring.
struct Reach {
  std::int64_t first = 0;
  std::int64_t count = 0;
  double half_phi = 0;  ///< half the difference of longitudes to the first
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
    found.count = static_cast<std::int64_t>(std::min(std::floor(middle + width) - first + 1, n_in));
    found.half_phi = (place - (offset_in + first) * n_out) * (std::numbers::pi / (n_out * n_in));
    return found;
  }
};

/// Adds kernel values times a field's pixels to the sums of Q and U.
template <class T>
void add_products(const double* re, const double* im, const T* q, const T* u, std::int64_t n,
                  double& sum_q, double& sum_u) {
  double of_q = 0;
  double of_u = 0;
#pragma omp simd reduction(+ : of_q, of_u)
  for (std::int64_t k = 0; k < n; ++k) {
    const double x = static_cast<double>(q[k]);
    const double y = static_cast<double>(u[k]);
    of_q += re[k] * x - im[k] * y;
    of_u += re[k] * y + im[k] * x;
  }
  sum_q += of_q;
  sum_u += of_u;
}

}  // namespace

SpinPixels::SpinPixels(const RingConvolutionPlan& plan, int n_threads)
    : plan_(&plan),
      n_threads_(n_threads),
      n_maps_(plan.spec().kernels.size() == 1 ? plan.spec().n_maps : plan.maps_of_field()) {
  if (plan.spin() == 0) return;
  for (std::int64_t i = 0; i < plan.own().n_rings(); ++i) {
    const std::int64_t ring = index(plan.own().global(LocalRing{i}));
    if (plan.has_stencil(ring) || plan.has_sectors(ring)) rings_.push_back(ring);
  }
  longest_ = plan.grid().longest_ring();
}

/// The arrays of one worker.
struct SpinPixels::Pieces {
  double* cosines;  ///< [k] of half the longitude of k pixels of the other ring
  double* sines;
  double* sin2_half;  ///< [k], for a pixel
  double* sin_phi;
  double* re;  ///< [k] of the kernel
  double* im;
  double* sums;  ///< [map][pixel]

  Pieces(const SpinPixels& of, ScratchArena& pieces) {
    for (double** array : {&cosines, &sines, &sin2_half, &sin_phi, &re, &im})
      *array = pieces.take<double>(of.longest_);
    sums = pieces.take<double>(of.n_maps_ * of.longest_);
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
      : plan_(of.plan_), maps_(&maps), in_(&in), longest_(of.longest_), pieces_(of, pieces) {}

  void convolve(std::int64_t ring, MapView<T> out) {
    const std::int64_t n_phi = at(ring).n_phi;
    for (std::int64_t m = 0; m < maps_->n_maps; ++m)
      std::fill_n(pieces_.sums + m * longest_, n_phi, 0.0);
    const RingRange near = plan_->window(ring);
    for (std::int64_t t = near.begin; t < near.end; ++t) {
      if (plan_->way(ring, t) != RingConvolutionPlan::Way::modes) add(ring, t);
    }
    const bool adds = plan_->has_modes(ring);
    const std::int64_t first = plan_->own().first_pixel(plan_->own().local(RingId{ring}));
    for (std::int64_t m = 0; m < maps_->n_maps; ++m) {
      const double* from = pieces_.sums + m * longest_;
      T* to = out.component(maps_->first_map + m).data() + first;
      for (std::int64_t i = 0; i < n_phi; ++i)
        to[i] = static_cast<T>((adds ? static_cast<double>(to[i]) : 0) + from[i]);
    }
  }

 private:
  const Ring& at(std::int64_t r) const { return plan_->grid().ring(RingId{r}); }
  void add(std::int64_t out, std::int64_t in);
  /// Computes the kernel's values for a pixel.
  void evaluate(const Ring& out, const Ring& in, const Reach& reach);
  /// Adds the products of a pixel and of those that rotations take it to.
  void multiply(const Ring& out, std::int64_t in, std::int64_t pixel, const Reach& reach,
                std::int64_t n_rotations);

  const RingConvolutionPlan* plan_;
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
  const std::int64_t most = std::min(static_cast<std::int64_t>(width / unit) + 2, b.n_phi);
  for (std::int64_t k = 0; k < most; ++k) {
    pieces_.cosines[k] = std::cos(unit * static_cast<double>(k));
    pieces_.sines[k] = std::sin(unit * static_cast<double>(k));
  }
  const std::int64_t n_rotations = std::gcd(a.n_phi, b.n_phi);
  for (std::int64_t pixel = 0; pixel < a.n_phi / n_rotations; ++pixel) {
    const Reach reach = pixels.reach(pixel, width);
    if (reach.count <= 0) continue;
    evaluate(a, b, reach);
    multiply(a, in, pixel, reach, n_rotations);
  }
}

template <class T>
void SpinPixels::Worker<T>::evaluate(const Ring& out, const Ring& in, const Reach& reach) {
  const double cosine = std::cos(reach.half_phi);
  const double sine = std::sin(reach.half_phi);
  const RingPairChord chord(out, in);
  for (std::int64_t k = 0; k < reach.count; ++k) {
    const double c = cosine * pieces_.cosines[k] + sine * pieces_.sines[k];
    const double s = sine * pieces_.cosines[k] - cosine * pieces_.sines[k];
    pieces_.sin2_half[k] = s * s;
    pieces_.sin_phi[k] = 2 * s * c;
    pieces_.re[k] = chord.squared(s * s);
  }
  convolve::evaluate(*maps_->kernel, pieces_.re, reach.count, pieces_.re);
  const RingPairTransport transport(out, in);
  for (std::int64_t k = 0; k < reach.count; ++k) {
    const double value = in.weight * pieces_.re[k];
    const std::complex<double> turned =
        value * transport.factor(pieces_.sin2_half[k], pieces_.sin_phi[k], plan_->spin());
    pieces_.re[k] = turned.real();
    pieces_.im[k] = turned.imag();
  }
}

template <class T>
void SpinPixels::Worker<T>::multiply(const Ring& out, std::int64_t in, std::int64_t pixel,
                                     const Reach& reach, std::int64_t n_rotations) {
  const std::int64_t n_in = at(in).n_phi;
  const std::int64_t step_out = out.n_phi / n_rotations;
  const std::int64_t step_in = n_in / n_rotations;
  for (std::int64_t m = 0; m < maps_->n_maps; m += 2) {
    const T* q = in_->pixels(in, maps_->first_map + m);
    const T* u = in_->pixels(in, maps_->first_map + m + 1);
    double* sum_q = pieces_.sums + m * longest_ + pixel;
    double* sum_u = sum_q + longest_;
    std::int64_t first = ((reach.first % n_in) + n_in) % n_in;
    for (std::int64_t r = 0; r < n_rotations; ++r) {
      // Around the ring.
      const std::int64_t n = std::min(reach.count, n_in - first);
      add_products(pieces_.re, pieces_.im, q + first, u + first, n, *sum_q, *sum_u);
      add_products(pieces_.re + n, pieces_.im + n, q, u, reach.count - n, *sum_q, *sum_u);
      sum_q += step_out;
      sum_u += step_out;
      first += step_in;
      if (first >= n_in) first -= n_in;
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
