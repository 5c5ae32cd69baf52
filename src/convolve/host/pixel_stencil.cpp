// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/host/pixel_stencil.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <type_traits>

#include "base/first_error.hpp"
#include "convolve/ring_pair.hpp"
#include "distribute/halo_plan.hpp"

namespace ringweave {

PixelStencil::PixelStencil(const RingConvolutionPlan& plan) : plan_(&plan) {
  const EqualRun& run = plan.equal_run();
  if (run.rings.empty() || !plan.has_stencil(run.rings.begin)) return;
  n_phi_ = plan.grid().ring(RingId{run.rings.begin}).n_phi;
  for (const RingBand& band : plan.own().bands()) cut(intersection(band.rings, run.rings));
  if (!run.is_regular) return;
  for (std::int64_t h = 0; h <= n_phi_; ++h) {
    const double half_phi =
        std::numbers::pi * static_cast<double>(h) / (2 * static_cast<double>(n_phi_));
    sin2_half_.push_back(RingPairChord::square(std::sin(half_phi)));
  }
}

void PixelStencil::cut(RingRange rings) {
  // Rings with the same offset need the same shifts.
  const std::int64_t step = 1;
  constexpr std::int64_t together = stencil::rings_together;
  for (std::int64_t begin = rings.begin; begin < rings.end; begin += step * together) {
    for (std::int64_t phase = 0; phase < step && begin + phase < rings.end; ++phase) {
      Block block;
      for (std::int64_t r = 0; r < together; ++r) {
        const std::int64_t ring = begin + phase + r * step;
        block[to_size(r)] = ring < rings.end ? ring : -1;
      }
      blocks_.push_back(block);
    }
  }
}

/// One thread's part; T is how maps are stored, A how sums are formed.
template <class T, class A>
class PixelStencil::Worker {
 public:
  Worker(const PixelStencil& stencil, const KernelMaps& maps)
      : stencil_(&stencil),
        plan_(stencil.plan_),
        maps_(&maps),
        width_(stencil::pixels_together<A>() *
               std::max<std::int64_t>(1, 512 / stencil::pixels_together<A>())),
        n_phi_(stencil.n_phi_),
        chord_(maps.kernel->chord_squared_cut),
        sums_(to_size(width_ * stencil::rings_together)) {}

  void convolve(const Block& block, const RingSource<T>& in, MapView<T> out) {
    weigh(block);
    for (std::int64_t map = maps_->first_map; map < maps_->first_map + maps_->n_maps; ++map) {
      for (std::int64_t p = 0; p < n_phi_; p += width_) {
        point_to(in, map, p);
        stencil::sum<A>(taps_, weights_.data(), sources_.data(), width_, sums_.data());
        store(block, p, out.component(map));
      }
    }
  }

 private:
  /// Fills taps_ and weights_.
  void weigh(const Block& block);
  /// Weights of one input ring for output ring number r of the block, from tap `first` on.
  void weigh_ring(std::int64_t out, std::int64_t in, std::int64_t first, std::int64_t count,
                  A* weights) const;
  double sin2_half(double pixels) const;
  /// Fills sources_ with where the input begins for the output from pixel p on.
  void point_to(const RingSource<T>& in, std::int64_t map, std::int64_t p);
  void store(const Block& block, std::int64_t p, View<T> out) const;
  const Ring& ring(std::int64_t r) const { return plan_->grid().ring(RingId{r}); }
  double unit() const { return 2 * std::numbers::pi / static_cast<double>(n_phi_); }

  const PixelStencil* stencil_;
  const RingConvolutionPlan* plan_;
  const KernelMaps* maps_;
  std::int64_t width_;
  std::int64_t n_phi_;
  double chord_;
  std::vector<A> sums_;
  std::vector<stencil::Taps> taps_;
  std::vector<std::int64_t> rings_;  ///< input rings, beside taps_
  std::vector<A> weights_;
  std::vector<const A*> sources_;
  std::vector<A> wrapped_;
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
void PixelStencil::Worker<T, A>::weigh(const Block& block) {
  const std::int64_t last = *std::max_element(block.begin(), block.end());
  const RingRange near = intersection(
      rings_within(plan_->grid(), {block[0], last + 1}, maps_->support), plan_->equal_run().rings);
  taps_.clear();
  rings_.clear();
  weights_.clear();
  first_tap_ = last_tap_ = 0;
  for (std::int64_t t = near.begin; t < near.end; ++t) {
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
    const std::size_t at = weights_.size();
    weights_.resize(at + to_size((behind - first) * stencil::rings_together), A{0});
    for (std::size_t r = 0; r < block.size(); ++r) {
      if (begin[r] == end[r]) continue;
      const std::int64_t skipped = (begin[r] - first) * stencil::rings_together;
      weigh_ring(block[r], t, begin[r], end[r] - begin[r],
                 weights_.data() + at + to_size(skipped) + r);
    }
    taps_.push_back({ssize64(rings_), first, behind - first});
    rings_.push_back(t);
    first_tap_ = std::min(first_tap_, first);
    last_tap_ = std::max(last_tap_, behind);
  }
  sources_.resize(rings_.size());
  wrapped_.resize(rings_.size() * to_size(width_ + last_tap_ - first_tap_));
}

template <class T, class A>
void PixelStencil::Worker<T, A>::point_to(const RingSource<T>& in, std::int64_t map,
                                          std::int64_t p) {
  const bool is_inside = p + first_tap_ >= 0 && p + width_ + last_tap_ <= n_phi_;
  const std::int64_t length = width_ + last_tap_ - first_tap_;
  A* to = wrapped_.data();
  for (std::size_t i = 0; i < rings_.size(); ++i, to += length) {
    const T* from = in.pixels(rings_[i], map);
    if constexpr (std::is_same_v<T, A>) {
      if (is_inside) {
        sources_[i] = from + p;
        continue;
      }
    }
    sources_[i] = to - first_tap_;
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
    const A* sums = sums_.data() + static_cast<std::int64_t>(r) * width_;
    std::transform(sums, sums + count, out.data() + plan_->own().first_pixel(local) + p,
                   [](A x) { return static_cast<T>(x); });
  }
}

template <class T, class A>
void PixelStencil::convolve_with(const KernelMaps& maps, const RingSource<T>& in,
                                 MapView<T> out) const {
  using Part = Worker<T, A>;
  FirstError error;
#pragma omp parallel
  {
    std::unique_ptr<Part> worker;
    error.guard([&] { worker = std::make_unique<Part>(*this, maps); });
#pragma omp for schedule(dynamic, 4)
    for (std::int64_t i = 0; i < ssize64(blocks_); ++i)
      error.guard([&] { worker->convolve(blocks_[to_size(i)], in, out); });
  }
  error.rethrow();
}

template <class T>
void PixelStencil::convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out) const {
  // The rounding of a sum of random terms grows like the square root of their number.
  constexpr double most_single = 250;
  const double pixels =
      static_cast<double>(plan_->grid().n_pixels()) *
      RingPairChord::square(std::sin(std::min(maps.support, std::numbers::pi) / 2));
  if constexpr (std::is_same_v<T, float>) {
    if (pixels <= most_single) return convolve_with<T, float>(maps, in, out);
  }
  convolve_with<T, double>(maps, in, out);
}

template void PixelStencil::convolve(const KernelMaps&, const RingSource<double>&,
                                     MapView<double>) const;
template void PixelStencil::convolve(const KernelMaps&, const RingSource<float>&,
                                     MapView<float>) const;

}  // namespace ringweave
