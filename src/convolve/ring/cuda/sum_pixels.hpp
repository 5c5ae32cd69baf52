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
/// computed once for all of them.
template <class T, int maps>
struct SumPixels {
  static constexpr int least_blocks = 4;
  static constexpr double pi = 3.14159265358979323846;

  /// A partner of the block's ring.
  struct Partner {
    PairChord chord;
    double half_width;  ///< at least, in its pixels; negative: out of reach
  };
  struct Shared {
    Array<Partner, block_threads> partners;
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
         begin += block_threads) {
      const std::int64_t left = work.partners.end - begin;
      const int n = left < block_threads ? static_cast<int>(left) : block_threads;
      block.sync();
      block.each([&](int thread) {
        if (thread < n) shared.partners[thread] = partner(ring, tables.rings[begin + thread]);
      });
      block.sync();
      block.each([&](int thread) {
        const std::int64_t pixel = first_pixel + thread;
        if (pixel >= ring.n_phi) return;
        for (int k = 0; k < n; ++k) {
          const std::int64_t number = begin + k;
          if (number >= work.but.begin && number < work.but.end) continue;
          add(ring, pixel, tables.rings[number], shared.partners[k], sums[thread]);
        }
      });
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

  RINGWEAVE_HOST_DEVICE void add(const SumRing& ring, std::int64_t pixel, const SumRing& other,
                                 const Partner& partner, Sums& sums) const {
    if (partner.half_width < 0) return;
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
    const SumMap<const T>& map_of = other.first.is_foreign ? halo : own;
    const T* const pixels = map_of.pixels + first_map * map_of.stride + other.first.first;
    Sums of_ring;
    RINGWEAVE_UNROLL
    for (int map = 0; map < maps; ++map) of_ring.of[map] = 0;
    for (std::int64_t j = first; j <= last; ++j) {
      double apart = place - (static_cast<double>(j) + other.offset) * n;
      if (apart > turn / 2) apart -= turn;
      if (apart < -turn / 2) apart += turn;
      const double sine = quadrant_sine(apart * (pi / turn));
      const double value = kernel.evaluate(partner.chord.squared(sine * sine));
      const std::int64_t at = j < 0 ? j + other.n_phi : j < other.n_phi ? j : j - other.n_phi;
      RINGWEAVE_UNROLL
      for (int map = 0; map < maps; ++map) {
        of_ring.of[map] =
            std::fma(value, static_cast<double>(pixels[map * map_of.stride + at]), of_ring.of[map]);
      }
    }
    RINGWEAVE_UNROLL
    for (int map = 0; map < maps; ++map)
      sums.of[map] = std::fma(other.weight, of_ring.of[map], sums.of[map]);
  }
};

}  // namespace ringweave::detail::gpu
