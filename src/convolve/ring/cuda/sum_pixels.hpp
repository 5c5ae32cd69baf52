// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "convolve/ring/cuda/multiply_modes.hpp"
#include "convolve/ring/cuda/quadrant_sine.hpp"

namespace ringweave::detail::gpu {

/// Pixels of maps on the device: component c begins `stride` pixels after the one before.
template <class T>
struct SumMap {
  T* pixels = nullptr;
  std::int64_t stride = 0;
};

/// Sums over the pixels of rings within reach, for `maps` maps with one kernel. A block has
/// consecutive pixels of one ring, one of each thread; the partners' distances and widths are
/// computed once for all of them, and so are the weights of partners that have as many pixels.
template <class T, int maps>
struct SumPixels {
  static constexpr int least_blocks = 4;
  static constexpr int partners_together = 8;
  static constexpr double pi = 3.14159265358979323846;

  /// A partner of the block's ring.
  struct Partner {
    PairChord chord;
    double half_width;  ///< at least, in its pixels; negative: out of reach
  };
  struct Shared {
    Array<Partner, partners_together> partners;
    Array<double, block_threads> weights;  ///< of shifts along phi
  };
  struct Sums {
    Array<double, maps> of;
  };

  RingSumTables tables;
  KernelLookup kernel;
  std::int64_t n_pieces;  ///< blocks of a ring
  std::int64_t first_map;
  SumMap<const T> own;
  SumMap<const T> halo;
  SumMap<T> out;

  static std::int64_t pieces(std::int64_t longest_ring) {
    return (longest_ring + block_threads - 1) / block_threads;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), n_pieces);
    const PixelRing work = tables.pixel_rings[at.whole];
    const SumRing ring = tables.rings[work.ring];
    const std::int64_t first_pixel = at.rest * block_threads;
    if (first_pixel >= ring.n_phi) return;
    typename Block::template PerThread<Sums> sums;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int map = 0; map < maps; ++map) sums[thread].of[map] = 0;
    });
    for (std::int64_t begin = work.partners.begin; begin < work.partners.end;
         begin += partners_together) {
      const std::int64_t left = work.partners.end - begin;
      const int n = left < partners_together ? static_cast<int>(left) : partners_together;
      block.sync();
      block.each([&](int thread) {
        if (thread < n) shared.partners[thread] = partner(ring, tables.rings[begin + thread]);
      });
      block.sync();
      for (int k = 0; k < n; ++k) {
        const std::int64_t number = begin + k;
        if (number >= work.but.begin && number < work.but.end) continue;
        const SumRing other = tables.rings[number];
        if (shared.partners[k].half_width < 0) continue;
        if (other.n_phi == ring.n_phi) {
          add_shifts(block, ring, other, first_pixel, shared.partners[k], shared, sums);
          continue;
        }
        block.each([&](int thread) {
          const std::int64_t pixel = first_pixel + thread;
          if (pixel < ring.n_phi) add(ring, pixel, other, shared.partners[k], sums[thread]);
        });
      }
    }
    block.each([&](int thread) {
      const std::int64_t pixel = first_pixel + thread;
      if (pixel >= ring.n_phi) return;
      RINGWEAVE_UNROLL
      for (int map = 0; map < maps; ++map) {
        T& to = out.pixels[(first_map + map) * out.stride + ring.first.first + pixel];
        to = static_cast<T>(sums[thread].of[map] + (work.has_modes ? static_cast<double>(to) : 0));
      }
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE Partner partner(const SumRing& ring, const SumRing& other) const {
    const PairChord chord = PairChord::of(ring, other);
    const double room = kernel.chord_squared_cut - chord.gap;
    const auto n = static_cast<double>(other.n_phi);
    double half_width = -1;
    if (room >= chord.span) {
      half_width = n;
    } else if (room >= 0) {
      // Not less than the arc sine, nor much more where it is small.
      const double x = std::sqrt(room / chord.span);
      half_width = (x + (pi / 2 - 1) * x * x * x) / pi * n;
    }
    return {chord, half_width};
  }

  /// Returns the first of the pixels of another ring in the first of the maps.
  RINGWEAVE_HOST_DEVICE const T* pixels_of(const SumRing& other) const {
    const SumMap<const T>& map_of = other.first.is_foreign ? halo : own;
    return map_of.pixels + first_map * map_of.stride + other.first.first;
  }
  RINGWEAVE_HOST_DEVICE std::int64_t stride_of(const SumRing& other) const {
    return other.first.is_foreign ? halo.stride : own.stride;
  }
  static RINGWEAVE_HOST_DEVICE std::int64_t wrapped(std::int64_t pixel, std::int64_t n) {
    return pixel < 0 ? pixel + n : pixel < n ? pixel : pixel - n;
  }
  /// Returns a difference along a ring of `turn` the shorter way.
  static RINGWEAVE_HOST_DEVICE double nearest(double apart, double turn) {
    if (apart > turn / 2) return apart - turn;
    return apart < -turn / 2 ? apart + turn : apart;
  }
  /// Returns the kernel for half a difference in longitude.
  RINGWEAVE_HOST_DEVICE double value_at(const Partner& partner, double half_phi) const {
    const double sine = quadrant_sine(half_phi);
    return kernel.evaluate(partner.chord.squared(sine * sine));
  }

  /// Adds a ring of as many pixels: a weight for each shift serves all of them.
  template <class Block, class PerThread>
  RINGWEAVE_LAUNCH void add_shifts(const Block& block, const SumRing& ring, const SumRing& other,
                                   std::int64_t first_pixel, const Partner& partner, Shared& shared,
                                   PerThread& sums) const {
    const std::int64_t n = ring.n_phi;
    const auto turn = static_cast<double>(n);
    const double offset = ring.offset - other.offset;
    auto first = static_cast<std::int64_t>(std::ceil(offset - partner.half_width));
    auto last = static_cast<std::int64_t>(std::floor(offset + partner.half_width));
    if (last - first >= n - 1) {
      first = 0;
      last = n - 1;
    }
    const T* const pixels = pixels_of(other);
    const std::int64_t stride = stride_of(other);
    for (std::int64_t begin = first; begin <= last; begin += block_threads) {
      const std::int64_t left = last - begin + 1;
      const int n_shifts = left < block_threads ? static_cast<int>(left) : block_threads;
      block.sync();
      block.each([&](int thread) {
        if (thread >= n_shifts) return;
        const double apart = nearest(offset - static_cast<double>(begin + thread), turn);
        shared.weights[thread] = other.weight * value_at(partner, apart * (pi / turn));
      });
      block.sync();
      block.each([&](int thread) {
        const std::int64_t pixel = first_pixel + thread;
        if (pixel >= n) return;
        for (int k = 0; k < n_shifts; ++k) {
          const T* const from = pixels + wrapped(pixel + begin + k, n);
          RINGWEAVE_UNROLL
          for (int map = 0; map < maps; ++map) {
            double& sum = sums[thread].of[map];
            sum = std::fma(shared.weights[k], static_cast<double>(from[map * stride]), sum);
          }
        }
      });
    }
  }

  RINGWEAVE_HOST_DEVICE void add(const SumRing& ring, std::int64_t pixel, const SumRing& other,
                                 const Partner& partner, Sums& sums) const {
    const auto n = static_cast<double>(ring.n_phi);
    const auto n_other = static_cast<double>(other.n_phi);
    // Exact where both rings begin at a whole or half pixel.
    const double place = (static_cast<double>(pixel) + ring.offset) * n_other;
    const double middle = place / n - other.offset;
    auto first = static_cast<std::int64_t>(std::ceil(middle - partner.half_width));
    auto last = static_cast<std::int64_t>(std::floor(middle + partner.half_width));
    if (last - first >= other.n_phi - 1) {
      first = 0;
      last = other.n_phi - 1;
    }
    const double turn = n * n_other;
    const T* const pixels = pixels_of(other);
    const std::int64_t stride = stride_of(other);
    Sums of_ring;
    RINGWEAVE_UNROLL
    for (int map = 0; map < maps; ++map) of_ring.of[map] = 0;
    for (std::int64_t j = first; j <= last; ++j) {
      const double apart = nearest(place - (static_cast<double>(j) + other.offset) * n, turn);
      const double value = value_at(partner, apart * (pi / turn));
      const T* const from = pixels + wrapped(j, other.n_phi);
      RINGWEAVE_UNROLL
      for (int map = 0; map < maps; ++map) {
        of_ring.of[map] = std::fma(value, static_cast<double>(from[map * stride]), of_ring.of[map]);
      }
    }
    RINGWEAVE_UNROLL
    for (int map = 0; map < maps; ++map)
      sums.of[map] = std::fma(other.weight, of_ring.of[map], sums.of[map]);
  }
};

}  // namespace ringweave::detail::gpu
