// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/host/pixel_sectors.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>
#include <span>

#include "base/first_error.hpp"
#include "convolve/host/pair_profile.hpp"
#include "convolve/host/sector_rows.hpp"
#include "convolve/host/sector_sum.hpp"
#include "distribute/halo_plan.hpp"

namespace ringweave {
namespace {

/// Values held at a time: of a narrow kernel those of all rings, within the first cache.
constexpr std::int64_t most_taps = 256;

/// Error of a kernel value relative to its largest, where only rounding is allowed.
constexpr double rounding = 2e-15;

}  // namespace

PixelSectors::PixelSectors(const RingConvolutionPlan& plan) : plan_(&plan) {
  const std::int64_t last = plan.grid().n_rings() - 1;
  for (std::int64_t i = 0; i < plan.own().n_rings(); ++i) {
    const std::int64_t ring = index(plan.own().global(LocalRing{i}));
    const bool is_mirror = plan.sectors().n_hemispheres == 2 && ring > last - ring;
    if (!is_mirror && plan.has_sectors(ring)) rings_.push_back(ring);
  }
}

/// One thread's part.
template <class T>
class PixelSectors::Worker {
 public:
  Worker(const PixelSectors& sectors, const KernelMaps& maps, const RingSource<T>& in)
      : plan_(sectors.plan_),
        maps_(&maps),
        chord_(maps.kernel->chord_squared_cut),
        rows_(*plan_, maps, in),
        fitter_(std::max(rounding, 0.03 * plan_->spec().error) * maps.bound),
        values_(most_taps * sector::pixels_together),
        sums_(2 * sector::pixels_together * rows_.n_lanes()) {}

  void convolve(std::int64_t ring, MapView<T> out) {
    prepare(ring);
    for (std::int64_t pixel = 0; pixel < n_pixels(ring); pixel += sector::pixels_together) {
      const std::int64_t count = std::min(sector::pixels_together, n_pixels(ring) - pixel);
      sum(pixel, count);
      store(ring, pixel, count, out);
    }
  }

 private:
  const Ring& ring(std::int64_t r) const { return plan_->grid().ring(RingId{r}); }
  std::int64_t sector_size(std::int64_t r) const {
    return ring(r).n_phi / plan_->sectors().n_sectors;
  }
  std::int64_t mirror_of_zero(std::int64_t r) const {
    return sector_size(r) - static_cast<std::int64_t>(2 * offset_in_pixels(ring(r)));
  }
  /// Pixels of a sector that are not mirrors of others.
  std::int64_t n_pixels(std::int64_t r) const {
    return plan_->sectors().is_mirrored() ? mirror_of_zero(r) / 2 + 1 : sector_size(r);
  }
  /// Sets up the pairs of an output ring.
  void prepare(std::int64_t out);
  void sum(std::int64_t pixel, std::int64_t count);
  void evaluate(std::size_t pair, std::int64_t pixel, const sector::Part& part, double* values);
  void store(std::int64_t out, std::int64_t pixel, std::int64_t count, MapView<T> map) const;

  const RingConvolutionPlan* plan_;
  const KernelMaps* maps_;
  double chord_;
  SectorRows<T> rows_;
  ProfileFitter fitter_;
  std::vector<sector::Pair> pairs_;
  std::vector<std::int64_t> inputs_;  ///< input rings, beside pairs_
  std::vector<RingPairChord> chords_;
  std::vector<double> coefficients_;
  std::vector<sector::Part> parts_;
  HostBuffer<double> values_;  ///< [tap][pixel]
  HostBuffer<double> sums_;    ///< [pixel][direct, mirrored][lane]
};

template <class T>
void PixelSectors::Worker<T>::prepare(std::int64_t out) {
  pairs_.clear();
  inputs_.clear();
  chords_.clear();
  const RingRange near = rings_within(plan_->grid(), {out, out + 1}, maps_->support);
  coefficients_.resize(to_size(near.size() * ProfileFitter::most_coefficients));
  double* coefficients = coefficients_.data();
  for (std::int64_t t = near.begin; t < near.end; ++t) {
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
        static_cast<double>(n_pixels(out)) * width / std::numbers::pi * pair.n_in;
    // A series pays where it replaces more values than it is made of.
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
    pair.mirror = mirror_of_zero(t);
    pairs_.push_back(pair);
    inputs_.push_back(t);
    chords_.push_back(chord);
  }
}

template <class T>
void PixelSectors::Worker<T>::evaluate(std::size_t pair, std::int64_t pixel,
                                       const sector::Part& part, double* values) {
  const sector::Pair& of = pairs_[pair];
  if (of.n_coefficients > 0)
    return sector::evaluate(of, pixel, part.window, part.begin, part.end, values);
  const double weight = ring(inputs_[pair]).weight;
  for (std::int64_t tap = part.begin; tap < part.end; ++tap) {
    for (std::int64_t i = 0; i < sector::pixels_together; ++i, ++values) {
      const double phi = sector::longitude(of, pixel + i, part.window.first[to_size(i)] + tap);
      *values = weight * maps_->kernel->evaluate(chords_[pair].squared_at(phi));
    }
  }
}

template <class T>
void PixelSectors::Worker<T>::sum(std::int64_t pixel, std::int64_t count) {
  std::fill(sums_.begin(), sums_.end(), 0.0);
  const bool with_mirrors = plan_->sectors().is_mirrored();
  std::int64_t room = most_taps;
  const auto flush = [&] {
    sector::add(parts_, rows_.n_lanes(), with_mirrors, sums_.data());
    parts_.clear();
    room = most_taps;
  };
  for (std::size_t p = 0; p < pairs_.size(); ++p) {
    sector::Part part;
    part.pair = &pairs_[p];
    part.window = sector::place(pairs_[p], pixel);
    for (std::int64_t i = count; i < sector::pixels_together; ++i)
      part.window.first[to_size(i)] = part.window.first[to_size(count - 1)];
    for (std::int64_t begin = 0; begin < part.window.n_taps; begin = part.end) {
      if (room == 0) flush();
      part.begin = begin;
      part.end = std::min(part.window.n_taps, begin + room);
      double* values = values_.data() + (most_taps - room) * sector::pixels_together;
      part.values = values;
      evaluate(p, pixel, part, values);
      parts_.push_back(part);
      room -= part.end - part.begin;
    }
  }
  flush();
}

template <class T>
void PixelSectors::Worker<T>::store(std::int64_t out, std::int64_t pixel, std::int64_t count,
                                    MapView<T> map) const {
  const SectorRule& rule = plan_->sectors();
  const LocalRings& own = plan_->own();
  const bool adds = plan_->has_modes(out) || plan_->has_stencil(out);
  const std::int64_t size = sector_size(out);
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
  const std::int64_t zeroth = mirror_of_zero(out);
  const std::int64_t skipped = pixel == 0 && zeroth == size ? 1 : 0;
  const std::int64_t n_mirrored = count - (2 * (pixel + count - 1) == zeroth ? 1 : 0) - skipped;
  const std::int64_t n_lanes = rows_.n_lanes();
  std::int64_t lane = 0;
  for (std::int64_t m = 0; m < maps_->n_maps; ++m) {
    for (std::int64_t h = 0; h < rule.n_hemispheres; ++h) {
      // The equator is its own mirror.
      const bool is_equator = h == 1 && mirrored_ring == out;
      const RingId id{h == 0 ? out : mirrored_ring};
      T* pixels = map.component(maps_->first_map + m).data() + own.first_pixel(own.local(id));
      for (std::int64_t k = 0; k < rule.n_sectors; ++k, ++lane, pixels += size) {
        if (is_equator) continue;
        put(pixels + pixel, 1, sums_.data() + lane, 2 * n_lanes, count);
        if (!rule.is_mirrored()) continue;
        put(pixels + zeroth - pixel - skipped, -1,
            sums_.data() + (2 * skipped + 1) * n_lanes + lane, 2 * n_lanes, n_mirrored);
      }
    }
  }
}

template <class T>
void PixelSectors::convolve(const KernelMaps& maps, const RingSource<T>& in, MapView<T> out) const {
  // Rings taken one after the other share their neighbours' rows.
  constexpr std::int64_t together = 64;
  const std::int64_t n_runs = (ssize64(rings_) + together - 1) / together;
  FirstError error;
#pragma omp parallel
  {
    std::unique_ptr<Worker<T>> worker;
    error.guard([&] { worker = std::make_unique<Worker<T>>(*this, maps, in); });
#pragma omp for schedule(dynamic)
    for (std::int64_t run = 0; run < n_runs; ++run) {
      error.guard([&] {
        const std::int64_t end = std::min((run + 1) * together, ssize64(rings_));
        for (std::int64_t i = run * together; i < end; ++i)
          worker->convolve(rings_[to_size(i)], out);
      });
    }
  }
  error.rethrow();
}

template void PixelSectors::convolve(const KernelMaps&, const RingSource<double>&,
                                     MapView<double>) const;
template void PixelSectors::convolve(const KernelMaps&, const RingSource<float>&,
                                     MapView<float>) const;

}  // namespace ringweave
