// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/pixel_stencil.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "distribute/halo/halo_plan.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// The taps of a block should stay within this many doubles, so that they fit an L2 cache.
constexpr std::int64_t most_taps_together = std::int64_t{1} << 16;

/// Number of pixels summed before they are stored.
template <class A>
std::int64_t pixels_stored() {
  const std::int64_t together = stencil::sums<A>().pixels_together;
  return together * std::max<std::int64_t>(1, 512 / together);
}

}  // namespace

PixelStencil::PixelStencil(const RingConvolutionPlan& plan, int n_threads)
    : plan_(&plan), n_threads_(n_threads) {
  const EqualRun& run = plan.equal_run();
  if (plan.spin() > 0 || run.rings.empty() || !plan.has_stencil(run.rings.begin)) return;
  n_phi_ = plan.grid().ring(RingId{run.rings.begin}).n_phi;
  for (const RingBand& band : plan.own().bands()) cut(intersection(band.rings, run.rings));
  find_room();
  if (!run.is_regular) return;
  for (std::int64_t h = 0; h <= n_phi_; ++h) {
    const double half_phi =
        std::numbers::pi * static_cast<double>(h) / (2 * static_cast<double>(n_phi_));
    sin2_half_.push_back(RingPairChord::square(std::sin(half_phi)));
  }
}

void PixelStencil::cut(RingRange rings) {
  constexpr std::int64_t together = stencil::rings_together;
  for (std::int64_t begin = rings.begin; begin < rings.end; begin += together) {
    Block block;
    for (std::int64_t r = 0; r < together; ++r)
      block[to_size(r)] = begin + r < rings.end ? begin + r : -1;
    blocks_.push_back(block);
  }
}

void PixelStencil::find_room() {
  const RingRange run = plan_->equal_run().rings;
  double least = 0;
  double most = 0;
  double widest = 0;
  std::int64_t n_near = 0;
  for (std::int64_t t = run.begin; t < run.end; ++t) {
    const Ring& ring = plan_->grid().ring(RingId{t});
    const double offset = offset_in_pixels(ring);
    least = t == run.begin ? offset : std::min(least, offset);
    most = t == run.begin ? offset : std::max(most, offset);
    widest = std::max(widest, widest_longitude(ring, plan_->support()));
    n_near = std::max(n_near, intersection(plan_->window(t), run).size());
  }
  n_near += stencil::rings_together;
  const double half = std::min(widest / (2 * std::numbers::pi), 0.5) * static_cast<double>(n_phi_);
  constexpr std::int64_t rounding = 4;
  const auto shift = static_cast<std::int64_t>(std::ceil(most - least));
  room_.taps = static_cast<std::int64_t>(2 * half) + shift + rounding;
  room_.reach = static_cast<std::int64_t>(2 * half) + 2 * shift + rounding;
  const std::int64_t a_ring =
      room_.taps * stencil::rings_together + room_.reach + pixels_stored<double>();
  room_.rings = std::clamp<std::int64_t>(most_taps_together / a_ring, 1, n_near);
  room_.takes_all = room_.rings == n_near;
}

/// The arrays of one worker; A is the type of the sums.
template <class A>
struct PixelStencil::Pieces {
  A* sums;              ///< [ring of the block][pixel]
  A* totals;            ///< [map][ring of the block][pixel], for input rings processed in parts
  stencil::Taps* taps;  ///< [input ring]
  std::int64_t* rings;  ///< [input ring]
  const A** sources;    ///< [input ring]
  A* weights;           ///< [tap][ring of the block]
  A* wrapped;           ///< [input ring][pixel]

  Pieces(const PixelStencil& stencil, ScratchArena& pieces) {
    constexpr std::int64_t together = stencil::rings_together;
    const Room& room = stencil.room_;
    const std::int64_t width = pixels_stored<A>();
    sums = pieces.allocate<A>(together * width);
    totals = pieces.allocate<A>(
        room.takes_all ? 0 : stencil.plan_->spec().n_maps * together * stencil.n_phi_);
    taps = pieces.allocate<stencil::Taps>(room.rings);
    rings = pieces.allocate<std::int64_t>(room.rings);
    sources = pieces.allocate<const A*>(room.rings);
    weights = pieces.allocate<A>(room.rings * room.taps * together);
    wrapped = pieces.allocate<A>(room.rings * (width + room.reach));
  }
};

template <class A>
std::int64_t PixelStencil::worker_size() const {
  ScratchArena pieces;
  const Pieces<A> counted(*this, pieces);
  return pieces.whole_pages();
}

std::int64_t PixelStencil::scratch_size() const {
  return empty() ? 0 : n_threads_ * std::max(worker_size<double>(), worker_size<float>());
}

/// The part of one thread; T is the storage type of maps, A the type of the sums.
template <class T, class A>
class PixelStencil::Worker {
 public:
  Worker(const PixelStencil& stencil, const KernelMaps& maps, ScratchArena pieces)
      : stencil_(&stencil),
        plan_(stencil.plan_),
        maps_(&maps),
        width_(pixels_stored<A>()),
        n_phi_(stencil.n_phi_),
        chord_(maps.kernel->chord_squared_cut),
        pieces_(stencil, pieces) {}

  void convolve(const Block& block, const RingSource<T>& in, MapView<T> out) {
    const std::int64_t last = *std::max_element(block.begin(), block.end());
    const RingRange near =
        intersection(rings_within(plan_->grid(), {block[0], last + 1}, maps_->support),
                     plan_->equal_run().rings);
    for (RingRange some{near.begin, near.begin}; some.end < near.end; some.begin = some.end) {
      some.end = std::min(some.begin + stencil_->room_.rings, near.end);
      weigh(block, some);
      const bool is_first = some.begin == near.begin;
      const bool is_last = some.end == near.end;
      for (std::int64_t map = 0; map < maps_->n_maps; ++map) {
        for (std::int64_t p = 0; p < n_phi_; p += width_) {
          point_to(in, maps_->first_map + map, p);
          stencil::sums<A>().sum({pieces_.taps, to_size(n_rings_)}, pieces_.weights,
                                 pieces_.sources, width_, pieces_.sums);
          if (!(is_first && is_last)) add_up(map, p, is_first);
          if (is_last) store(block, p, out.component(maps_->first_map + map));
        }
      }
    }
  }

 private:
  /// Computes taps and weights of some input rings.
  void weigh(const Block& block, RingRange inputs);
  /// Computes weights of one input ring for output ring number r of the block, from tap `first` on.
  void weigh_ring(std::int64_t out, std::int64_t in, std::int64_t first, std::int64_t count,
                  A* weights) const;
  double sin2_half(double pixels) const;
  /// Sets `sources` to the start of the input for output pixels from p on.
  void point_to(const RingSource<T>& in, std::int64_t map, std::int64_t p);
  /// Accumulates the sums of all input rings so far.
  void add_up(std::int64_t map, std::int64_t p, bool is_first);
  void store(const Block& block, std::int64_t p, View<T> out) const;
  const Ring& ring(std::int64_t r) const { return plan_->grid().ring(RingId{r}); }
  double unit() const { return 2 * std::numbers::pi / static_cast<double>(n_phi_); }

  const PixelStencil* stencil_;
  const RingConvolutionPlan* plan_;
  const KernelMaps* maps_;
  std::int64_t width_;
  std::int64_t n_phi_;
  double chord_;
  Pieces<A> pieces_;
  std::int64_t n_rings_ = 0;  ///< input rings with taps
  std::int64_t first_tap_ = 0;
  std::int64_t last_tap_ = 0;
};

template <class T, class A>
double PixelStencil::Worker<T, A>::sin2_half(double pixels) const {
  if (!stencil_->sin2_half_.empty()) {
    auto halves = static_cast<std::int64_t>(std::abs(2 * pixels));
    if (halves > n_phi_) halves = 2 * n_phi_ - halves;
    return stencil_->sin2_half_[to_size(halves)];
  }
  return RingPairChord::square(std::sin(pixels * unit() / 2));
}

template <class T, class A>
void PixelStencil::Worker<T, A>::weigh_ring(std::int64_t out, std::int64_t in, std::int64_t first,
                                            std::int64_t count, A* weights) const {
  const RingPairChord chord(ring(out), ring(in));
  const double shift = offset_in_pixels(ring(out)) - offset_in_pixels(ring(in));
  for (std::int64_t k = 0; k < count; ++k) {
    const double away = static_cast<double>(first + k) - shift;
    const double value = maps_->kernel->evaluate(chord.squared(sin2_half(away)));
    weights[k * stencil::rings_together] = static_cast<A>(ring(in).weight * value);
  }
}

template <class T, class A>
void PixelStencil::Worker<T, A>::weigh(const Block& block, RingRange inputs) {
  n_rings_ = 0;
  first_tap_ = last_tap_ = 0;
  A* weights = pieces_.weights;
  for (std::int64_t t = inputs.begin; t < inputs.end; ++t) {
    std::array<std::int64_t, stencil::rings_together> begin{};
    std::array<std::int64_t, stencil::rings_together> end{};
    std::int64_t first = n_phi_;
    std::int64_t behind = -n_phi_;
    for (std::size_t r = 0; r < block.size(); ++r) {
      if (block[r] < 0) continue;
      const double half = RingPairChord(ring(block[r]), ring(t)).half_width(chord_) / unit();
      if (half < 0) continue;
      const double shift = offset_in_pixels(ring(block[r])) - offset_in_pixels(ring(t));
      constexpr double generous = 1e-9;
      begin[r] = static_cast<std::int64_t>(std::ceil(shift - half - generous));
      end[r] = static_cast<std::int64_t>(std::floor(shift + half + generous)) + 1;
      end[r] = std::min(end[r], begin[r] + n_phi_);
      first = std::min(first, begin[r]);
      behind = std::max(behind, end[r]);
    }
    if (behind <= first) continue;
    const std::int64_t n_taps = behind - first;
    std::fill_n(weights, n_taps * stencil::rings_together, A{0});
    for (std::size_t r = 0; r < block.size(); ++r) {
      if (begin[r] == end[r]) continue;
      const std::int64_t skipped = (begin[r] - first) * stencil::rings_together;
      weigh_ring(block[r], t, begin[r], end[r] - begin[r], weights + skipped + r);
    }
    weights += n_taps * stencil::rings_together;
    pieces_.taps[n_rings_] = {n_rings_, first, n_taps};
    pieces_.rings[n_rings_++] = t;
    first_tap_ = std::min(first_tap_, first);
    last_tap_ = std::max(last_tap_, behind);
  }
}

template <class T, class A>
void PixelStencil::Worker<T, A>::add_up(std::int64_t map, std::int64_t p, bool is_first) {
  const std::int64_t count = std::min(width_, n_phi_ - p);
  for (std::int64_t r = 0; r < stencil::rings_together; ++r) {
    A* sums = pieces_.sums + r * width_;
    A* total = pieces_.totals + (map * stencil::rings_together + r) * n_phi_ + p;
    for (std::int64_t i = 0; i < count && !is_first; ++i) sums[i] += total[i];
    std::copy_n(sums, count, total);
  }
}

template <class T, class A>
void PixelStencil::Worker<T, A>::point_to(const RingSource<T>& in, std::int64_t map,
                                          std::int64_t p) {
  const bool is_inside = p + first_tap_ >= 0 && p + width_ + last_tap_ <= n_phi_;
  const std::int64_t length = width_ + last_tap_ - first_tap_;
  A* to = pieces_.wrapped;
  for (std::int64_t i = 0; i < n_rings_; ++i, to += length) {
    const T* from = in.pixels(pieces_.rings[i], map);
    if constexpr (std::is_same_v<T, A>) {
      if (is_inside) {
        pieces_.sources[i] = from + p;
        continue;
      }
    }
    pieces_.sources[i] = to - first_tap_;
    std::int64_t j = (p + first_tap_) % n_phi_;
    if (j < 0) j += n_phi_;
    for (std::int64_t k = 0; k < length;) {
      const std::int64_t piece = std::min(length - k, n_phi_ - j);
      std::transform(from + j, from + j + piece, to + k, [](T x) { return static_cast<A>(x); });
      k += piece;
      j = 0;
    }
  }
}

template <class T, class A>
void PixelStencil::Worker<T, A>::store(const Block& block, std::int64_t p, View<T> out) const {
  const std::int64_t count = std::min(width_, n_phi_ - p);
  for (std::size_t r = 0; r < block.size() && block[r] >= 0; ++r) {
    const LocalRing local = plan_->own().local(RingId{block[r]});
    const A* sums = pieces_.sums + static_cast<std::int64_t>(r) * width_;
    std::transform(sums, sums + count, out.data() + plan_->own().first_pixel(local) + p,
                   [](A x) { return static_cast<T>(x); });
  }
}

template <class T, class A>
void PixelStencil::convolve_with(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                                 double* scratch) const {
  const std::int64_t size = worker_size<A>();
  // Nothing in the region allocates or throws.
#pragma omp parallel num_threads(n_threads_)
  {
    Worker<T, A> worker(*this, maps, ScratchArena(scratch + omp_get_thread_num() * size));
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < ssize64(blocks_); ++i)
      worker.convolve(blocks_[to_size(i)], in, out);
  }
}

template <class T>
void PixelStencil::convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                            double* scratch) const {
  // The rounding error of a sum of random terms grows like the square root of their number.
  constexpr double most_single = 250;
  const double pixels =
      static_cast<double>(plan_->grid().n_pixels()) *
      RingPairChord::square(std::sin(std::min(maps.support, std::numbers::pi) / 2));
  if constexpr (std::is_same_v<T, float>) {
    if (pixels <= most_single) return convolve_with<T, float>(maps, in, out, scratch);
  }
  convolve_with<T, double>(maps, in, out, scratch);
}

template void PixelStencil::convolve(const KernelMaps&, const RingSource<double>&, MapView<double>,
                                     double*) const;
template void PixelStencil::convolve(const KernelMaps&, const RingSource<float>&, MapView<float>,
                                     double*) const;

}  // namespace ringweave::detail::inline convolve
