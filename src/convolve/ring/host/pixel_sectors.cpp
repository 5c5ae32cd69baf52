// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/pixel_sectors.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "convolve/ring/host/sector_sum.hpp"
#include "distribute/halo/halo_plan.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Values held at a time: for a narrow kernel those of all rings, within the L1 cache.
constexpr std::int64_t most_taps = 256;

/// Allowed error of a kernel value relative to the largest one, where only rounding is accepted.
constexpr double value_rounding = 2e-15;

/// The most a table's own rounding may add to a value, with a margin of four: no feature of a
/// kernel.
constexpr double roughness = 4e-14;

/// Allowed error of a kernel value relative to the largest one, no less than `least`.
double allowed_error(const RingConvolutionPlan& plan, double least) {
  return std::max(least, 0.03 * plan.spec().error);
}

std::int64_t sector_size(const RingConvolutionPlan& plan, std::int64_t ring) {
  return plan.grid().ring(RingId{ring}).n_phi / plan.sectors().n_sectors;
}
std::int64_t mirror_of_zero(const RingConvolutionPlan& plan, std::int64_t ring) {
  return sector_size(plan, ring) -
         static_cast<std::int64_t>(2 * offset_in_pixels(plan.grid().ring(RingId{ring})));
}
/// Number of pixels of a sector that are not mirrors of others.
std::int64_t n_pixels(const RingConvolutionPlan& plan, std::int64_t ring) {
  return plan.sectors().is_mirrored() ? mirror_of_zero(plan, ring) / 2 + 1
                                      : sector_size(plan, ring);
}

}  // namespace

PixelSectors::PixelSectors(const RingConvolutionPlan& plan, int n_threads,
                           std::int64_t most_scratch)
    : plan_(&plan),
      n_threads_(n_threads),
      shape_(plan, plan.spec().kernels.size() == 1 ? plan.spec().n_maps : 1) {
  if (plan.spin() > 0) return;
  const std::int64_t last = plan.grid().n_rings() - 1;
  std::int64_t longest = 0;
  for (std::int64_t i = 0; i < plan.own().n_rings(); ++i) {
    const std::int64_t ring = index(plan.own().global(LocalRing{i}));
    const bool is_mirror = plan.sectors().n_hemispheres == 2 && ring > last - ring;
    if (is_mirror || !plan.has_sectors(ring)) continue;
    rings_.push_back(ring);
    longest = std::max(longest, n_pixels(plan, ring));
  }
  if (empty()) return;
  for (const RadialKernel& kernel : plan.spec().kernels) {
    narrowest_.push_back(
        narrowest_bump(kernel.table(), allowed_error(plan, roughness) * kernel.bound()));
  }
  n_slots_ = 1;
  most_pixels_ = longest + sector::pixels_together;
  const std::int64_t room = most_scratch / n_threads - worker_size();
  n_slots_ = std::clamp<std::int64_t>(1 + room / shape_.row_size, 1, shape_.most_rings);
  if (n_slots_ == shape_.most_rings) most_pixels_ = sector::pixels_together;
}

/// The arrays of one worker.
struct PixelSectors::Pieces {
  double* rows;           ///< [slot]
  std::int64_t* held;     ///< [slot]
  sector::Pair* pairs;    ///< [slot]
  std::int64_t* inputs;   ///< [slot] input ring of each pair
  RingPairChord* chords;  ///< [slot]
  double* coefficients;   ///< [slot]
  sector::Part* parts;
  double* values;  ///< [tap][pixel]
  double* sums;    ///< [pixel][direct, mirrored][lane]

  Pieces(const PixelSectors& sectors, ScratchArena& pieces) {
    const std::int64_t n = sectors.n_slots_;
    rows = pieces.allocate<double>(n * sectors.shape_.row_size);
    held = pieces.allocate<std::int64_t>(n);
    pairs = pieces.allocate<sector::Pair>(n);
    inputs = pieces.allocate<std::int64_t>(n);
    chords = pieces.allocate<RingPairChord>(n);
    coefficients = pieces.allocate<double>(n * ProfileFitter::most_coefficients);
    parts = pieces.allocate<sector::Part>(most_taps);
    values = pieces.allocate<double>(most_taps * sector::pixels_together);
    sums = pieces.allocate<double>(2 * sectors.most_pixels_ * sectors.shape_.n_lanes);
  }
};

std::int64_t PixelSectors::worker_size() const {
  ScratchArena pieces;
  const Pieces counted(*this, pieces);
  return pieces.whole_pages();
}

/// The part of one thread.
template <class T>
class PixelSectors::Worker {
 public:
  /// narrowest  narrowest_bump() of the kernel
  Worker(const PixelSectors& sectors, const KernelMaps& maps, double narrowest,
         const RingSource<T>& in, ScratchArena pieces)
      : sectors_(&sectors),
        plan_(sectors.plan_),
        maps_(&maps),
        chord_(maps.kernel->chord_squared_cut),
        n_lanes_(sectors.shape_.n_lanes),
        pieces_(sectors, pieces),
        rows_(*plan_, sectors.shape_, maps, in, sectors.n_slots_, pieces_.rows, pieces_.held),
        fitter_(sectors.rules_, allowed_error(*plan_, value_rounding) * maps.bound, narrowest) {}

  void convolve(std::int64_t ring, MapView<T> out) {
    const RingRange near = rings_within(plan_->grid(), {ring, ring + 1}, maps_->support);
    const bool takes_all = near.size() <= sectors_->n_slots_;
    const std::int64_t kept = takes_all ? 0 : 2 * n_lanes_;  // doubles of a pixel
    if (!takes_all) std::fill_n(pieces_.sums, sectors_->most_pixels_ * 2 * n_lanes_, 0.0);
    const std::int64_t n = n_pixels(*plan_, ring);
    for (RingRange some{near.begin, near.begin}; some.end < near.end; some.begin = some.end) {
      some.end = std::min(some.begin + sectors_->n_slots_, near.end);
      prepare(ring, some);
      for (std::int64_t pixel = 0; pixel < n; pixel += sector::pixels_together) {
        const std::int64_t count = std::min(sector::pixels_together, n - pixel);
        double* sums = pieces_.sums + pixel * kept;
        if (takes_all) std::fill_n(sums, sector::pixels_together * 2 * n_lanes_, 0.0);
        sum(pixel, count, sums);
        if (some.end == near.end) store(ring, pixel, count, sums, out);
      }
    }
  }

 private:
  const Ring& ring(std::int64_t r) const { return plan_->grid().ring(RingId{r}); }
  /// Prepares the pairs of an output ring with some input rings.
  void prepare(std::int64_t out, RingRange inputs);
  void sum(std::int64_t pixel, std::int64_t count, double* sums);
  void evaluate(std::int64_t pair, std::int64_t pixel, const sector::Part& part, double* values);
  void store(std::int64_t out, std::int64_t pixel, std::int64_t count, const double* sums,
             MapView<T> map) const;

  const PixelSectors* sectors_;
  const RingConvolutionPlan* plan_;
  const KernelMaps* maps_;
  double chord_;
  std::int64_t n_lanes_;
  Pieces pieces_;
  SectorRows<T> rows_;
  ProfileFitter fitter_;
  std::int64_t n_pairs_ = 0;
};

template <class T>
void PixelSectors::Worker<T>::prepare(std::int64_t out, RingRange inputs) {
  n_pairs_ = 0;
  double* coefficients = pieces_.coefficients;
  for (std::int64_t t = inputs.begin; t < inputs.end; ++t) {
    if (plan_->way(out, t) != RingConvolutionPlan::Way::sectors) continue;
    const RingPairChord chord(ring(out), ring(t));
    const double width = chord.half_width(chord_);
    if (width < 0) continue;
    sector::Pair pair;
    pair.n_out = static_cast<double>(ring(out).n_phi);
    pair.n_in = static_cast<double>(ring(t).n_phi);
    pair.twice_offset_out = 2 * offset_in_pixels(ring(out));
    pair.twice_offset_in = 2 * offset_in_pixels(ring(t));
    pair.unit = std::numbers::pi / (pair.n_out * pair.n_in);
    pair.half_width = width;
    const double n_values =
        static_cast<double>(n_pixels(*plan_, out)) * width / std::numbers::pi * pair.n_in;
    // A series pays if it replaces more values than it costs.
    constexpr double worth_a_series = 64;
    if (n_values > worth_a_series) {
      const PairSeries series =
          fitter_.fit(*maps_->kernel, chord, width, ring(t).weight, coefficients);
      pair.n_coefficients = series.n_coefficients;
      pair.is_monomial = series.is_monomial;
      pair.coefficients = coefficients;
      coefficients += pair.n_coefficients;
    }
    pair.row = rows_.row(t);
    pair.mirror = mirror_of_zero(*plan_, t);
    pieces_.inputs[n_pairs_] = t;
    pieces_.chords[n_pairs_] = chord;
    pieces_.pairs[n_pairs_++] = pair;
  }
}

template <class T>
void PixelSectors::Worker<T>::evaluate(std::int64_t pair, std::int64_t pixel,
                                       const sector::Part& part, double* values) {
  const sector::Pair& of = pieces_.pairs[pair];
  if (of.n_coefficients > 0)
    return sector::evaluate(of, pixel, part.window, part.begin, part.end, values);
  const double weight = ring(pieces_.inputs[pair]).weight;
  for (std::int64_t tap = part.begin; tap < part.end; ++tap) {
    for (std::int64_t i = 0; i < sector::pixels_together; ++i, ++values) {
      const double phi = sector::longitude(of, pixel + i, part.window.first[to_size(i)] + tap);
      *values = weight * maps_->kernel->evaluate(pieces_.chords[pair].squared_at(phi));
    }
  }
}

template <class T>
void PixelSectors::Worker<T>::sum(std::int64_t pixel, std::int64_t count, double* sums) {
  const bool with_mirrors = plan_->sectors().is_mirrored();
  std::int64_t room = most_taps;
  std::int64_t n_parts = 0;
  const auto flush = [&] {
    sector::add({pieces_.parts, to_size(n_parts)}, n_lanes_, with_mirrors, sums);
    n_parts = 0;
    room = most_taps;
  };
  for (std::int64_t p = 0; p < n_pairs_; ++p) {
    sector::Part part;
    part.pair = &pieces_.pairs[p];
    part.window = sector::place(*part.pair, pixel);
    for (std::int64_t i = count; i < sector::pixels_together; ++i)
      part.window.first[to_size(i)] = part.window.first[to_size(count - 1)];
    for (std::int64_t begin = 0; begin < part.window.n_taps; begin = part.end) {
      if (room == 0) flush();
      part.begin = begin;
      part.end = std::min(part.window.n_taps, begin + room);
      double* values = pieces_.values + (most_taps - room) * sector::pixels_together;
      part.values = values;
      evaluate(p, pixel, part, values);
      pieces_.parts[n_parts++] = part;
      room -= part.end - part.begin;
    }
  }
  flush();
}

template <class T>
void PixelSectors::Worker<T>::store(std::int64_t out, std::int64_t pixel, std::int64_t count,
                                    const double* sums, MapView<T> map) const {
  const SectorRule& rule = plan_->sectors();
  const LocalRings& own = plan_->own();
  const bool adds = plan_->has_modes(out) || plan_->has_stencil(out);
  const std::int64_t size = sector_size(*plan_, out);
  const std::int64_t mirrored_ring = plan_->grid().n_rings() - 1 - out;
  const auto put = [adds](T* to, std::int64_t step, const double* from, std::int64_t from_step,
                          std::int64_t n) {
    if (adds) {
      for (std::int64_t i = 0; i < n; ++i)
        to[i * step] = static_cast<T>(static_cast<double>(to[i * step]) + from[i * from_step]);
    } else {
      for (std::int64_t i = 0; i < n; ++i) to[i * step] = static_cast<T>(from[i * from_step]);
    }
  };
  // Pixels that are their own mirrors are at the ends of the sector or in its middle.
  const std::int64_t zeroth = mirror_of_zero(*plan_, out);
  const std::int64_t skipped = pixel == 0 && zeroth == size ? 1 : 0;
  const std::int64_t n_mirrored = count - (2 * (pixel + count - 1) == zeroth ? 1 : 0) - skipped;
  std::int64_t lane = 0;
  for (std::int64_t m = 0; m < maps_->n_maps; ++m) {
    for (std::int64_t h = 0; h < rule.n_hemispheres; ++h) {
      // The equator is its own mirror.
      const bool is_equator = h == 1 && mirrored_ring == out;
      const RingId id{h == 0 ? out : mirrored_ring};
      T* pixels = map.component(maps_->first_map + m).data() + own.first_pixel(own.local(id));
      for (std::int64_t k = 0; k < rule.n_sectors; ++k, ++lane, pixels += size) {
        if (is_equator) continue;
        put(pixels + pixel, 1, sums + lane, 2 * n_lanes_, count);
        if (!rule.is_mirrored()) continue;
        put(pixels + zeroth - pixel - skipped, -1, sums + (2 * skipped + 1) * n_lanes_ + lane,
            2 * n_lanes_, n_mirrored);
      }
    }
  }
}

template <class T>
void PixelSectors::convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out,
                            double* scratch) const {
  // Consecutive rings share their neighbours' rows.
  constexpr std::int64_t together = 64;
  const std::int64_t n_runs = (ssize64(rings_) + together - 1) / together;
  const std::int64_t size = worker_size();
  const double narrowest = narrowest_[narrowest_.size() == 1 ? 0 : to_size(maps.first_map)];
  // Nothing in the region allocates or throws.
#pragma omp parallel num_threads(n_threads_)
  {
    Worker<T> worker(*this, maps, narrowest, in,
                     ScratchArena(scratch + omp_get_thread_num() * size));
#pragma omp for schedule(dynamic)
    for (std::int64_t run = 0; run < n_runs; ++run) {
      const std::int64_t end = std::min((run + 1) * together, ssize64(rings_));
      for (std::int64_t i = run * together; i < end; ++i) worker.convolve(rings_[to_size(i)], out);
    }
  }
}

template void PixelSectors::convolve(const KernelMaps&, const RingSource<double>&, MapView<double>,
                                     double*) const;
template void PixelSectors::convolve(const KernelMaps&, const RingSource<float>&, MapView<float>,
                                     double*) const;

}  // namespace ringweave::detail::inline convolve
