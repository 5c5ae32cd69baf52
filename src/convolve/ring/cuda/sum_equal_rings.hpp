// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "convolve/ring/cuda/sum_pixels.hpp"

namespace ringweave::detail::gpu {

/// Sums on rings whose partners all have as many pixels: a weight for each shift along phi serves
/// all of them. A thread has consecutive pixels and moves along a partner with as many of its
/// pixels in registers, so that each is read once from shared memory.
template <class T, class Fields>
struct SumEqualRings : PixelSums<T, Fields> {
  using Base = PixelSums<T, Fields>;
  using Base::maps;
  using typename Base::Partner;
  using typename Base::Shifts;
  using typename Base::Value;
  static constexpr int least_blocks = Fields::least_blocks;
  static constexpr int pixels_of_thread = 8;
  static constexpr int pixels_of_block = pixels_of_thread * block_threads;
  static constexpr int shifts_together = block_threads;
  /// A word between the pixels of one thread and the next keeps their banks apart.
  static constexpr int padding = (pixels_of_block + shifts_together) / pixels_of_thread + 1;

  struct Shared {
    typename Base::Partners partners;
    Array<Value, shifts_together> weights;
    Array<double, pixels_of_block + shifts_together + pixels_of_thread + padding> pixels;
  };
  struct Sums {
    Array<Array<double, maps>, pixels_of_thread> of;
  };

  static std::int64_t pieces(std::int64_t longest_ring) {
    return (longest_ring + pixels_of_block - 1) / pixels_of_block;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), this->n_pieces);
    const PixelRing work = this->rings[at.whole];
    const SumRing ring = this->tables.rings[work.ring];
    const std::int64_t first_pixel = at.rest * pixels_of_block;
    if (first_pixel >= ring.n_phi) return;
    const std::int64_t left = ring.n_phi - first_pixel;
    const int n_pixels = left < pixels_of_block ? static_cast<int>(left) : pixels_of_block;
    typename Block::template PerThread<Sums> sums;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < pixels_of_thread; ++i) {
        RINGWEAVE_UNROLL
        for (int map = 0; map < maps; ++map) sums[thread].of[i][map] = 0;
      }
    });
    this->for_partners(block, work, ring, shared.partners,
                       [&](const SumRing& other, const Partner& partner) {
                         add(block, ring, other, first_pixel, n_pixels, partner, shared, sums);
                       });
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int i = 0; i < pixels_of_thread; ++i) {
        const int pixel = thread * pixels_of_thread + i;
        if (pixel >= n_pixels) continue;
        RINGWEAVE_UNROLL
        for (int map = 0; map < maps; ++map)
          this->store(work, ring, first_pixel + pixel, map, sums[thread].of[i][map]);
      }
    });
  }

 private:
  static RINGWEAVE_HOST_DEVICE int padded(int number) { return number + number / pixels_of_thread; }

  template <class Block, class PerThread>
  RINGWEAVE_LAUNCH void add(const Block& block, const SumRing& ring, const SumRing& other,
                            std::int64_t first_pixel, int n_pixels, const Partner& partner,
                            Shared& shared, PerThread& sums) const {
    const Shifts shifts = this->shifts(ring, other, partner);
    for (std::int64_t begin = shifts.first; begin <= shifts.last; begin += shifts_together) {
      const std::int64_t left = shifts.last - begin + 1;
      const int n_shifts = left < shifts_together ? static_cast<int>(left) : shifts_together;
      RINGWEAVE_UNROLL
      for (int map = 0; map < maps; ++map) {
        // The pixels before, and the weights with the first map, are not needed any more.
        block.sync();
        block.each([&](int thread) {
          if (map == 0 && thread < n_shifts)
            shared.weights[thread] = this->weight(ring, other, partner, begin + thread);
          load(thread, other, map, first_pixel + begin, n_pixels + n_shifts - 1, shared);
        });
        block.sync();
        block.each([&](int thread) {
          if (thread * pixels_of_thread < n_pixels)
            add_shifts(thread, n_shifts, map, shared, sums[thread]);
        });
      }
    }
  }

  /// Copies pixels of a ring to shared memory; beyond them it has zeros as far as threads read.
  RINGWEAVE_HOST_DEVICE void load(int thread, const SumRing& other, int map, std::int64_t first,
                                  int n, Shared& shared) const {
    const T* const pixels = this->pixels_of(other) + map * this->stride_of(other);
    for (int i = thread; i < n + 2 * pixels_of_thread; i += block_threads) {
      const std::int64_t pixel = Base::wrapped(first + i, other.n_phi);
      if (i < pixels_of_block + shifts_together + pixels_of_thread)
        shared.pixels[padded(i)] = i < n ? static_cast<double>(pixels[pixel]) : 0;
    }
  }

  static RINGWEAVE_HOST_DEVICE void add_shifts(int thread, int n_shifts, int map,
                                               const Shared& shared, Sums& sums) {
    const double* const pixels = shared.pixels + padded(thread * pixels_of_thread);
    Array<double, pixels_of_thread> window;
    RINGWEAVE_UNROLL
    for (int i = 0; i < pixels_of_thread; ++i) window[i] = pixels[i];
    for (int begin = 0; begin < n_shifts; begin += pixels_of_thread) {
      const double* const next = pixels + padded(begin + pixels_of_thread);
      RINGWEAVE_UNROLL
      for (int k = 0; k < pixels_of_thread; ++k) {
        if (begin + k < n_shifts) {
          const Value weight = shared.weights[begin + k];
          RINGWEAVE_UNROLL
          for (int i = 0; i < pixels_of_thread; ++i)
            Fields::add_pixel(weight, map, window[(i + k) % pixels_of_thread], sums.of[i]);
          window[k] = next[k];
        }
      }
    }
  }
};

}  // namespace ringweave::detail::gpu
