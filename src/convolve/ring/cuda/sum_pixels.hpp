// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/host_device.hpp"
#include "convolve/ring/cuda/convolved_fields.hpp"
#include "convolve/ring/cuda/multiply_modes.hpp"
#include "convolve/ring/cuda/quadrant_sine.hpp"

namespace ringweave::detail::gpu {

/// Pixels of maps on the device: component c begins `stride` pixels after the one before.
template <class T>
struct SumMap {
  T* pixels = nullptr;
  std::int64_t stride = 0;
};

/// Sums over the pixels of rings within reach, for some Fields with one kernel: the common part of
/// its launches. A block has pixels of one ring; the partners' distances and widths are computed
/// once for all of them.
template <class T, class Fields>
struct PixelSums {
  using Value = typename Fields::Value;
  static constexpr int maps = Fields::maps;
  static constexpr int partners_together = 8;
  static constexpr double pi = 3.14159265358979323846;

  /// A partner of the block's ring.
  struct Partner {
    typename Fields::Pair pair;
    double half_width;  ///< at least, in its pixels; negative: out of reach
  };
  /// Some partners, and those that follow.
  struct Partners {
    Array<Array<Partner, partners_together>, 2> of;
  };
  /// Differences of pixels, partner less ring, on rings of as many pixels.
  struct Shifts {
    std::int64_t first;
    std::int64_t last;
  };

  RingSumTables tables;
  KernelLookup kernel;
  Fields fields;
  const PixelRing* rings;
  std::int64_t n_pieces;  ///< blocks of a ring
  std::int64_t first_map;
  SumMap<const T> own;
  SumMap<const T> halo;
  SumMap<T> out;

 protected:
  /// Calls add(partner's ring, partner) for the rings within reach.
  template <class Block, class Add>
  RINGWEAVE_LAUNCH void for_partners(const Block& block, const PixelRing& work, const SumRing& ring,
                                     Partners& partners, const Add& add) const {
    int now = 0;
    for (std::int64_t begin = work.partners.begin; begin < work.partners.end;
         begin += partners_together) {
      const std::int64_t left = work.partners.end - begin;
      const int n = left < partners_together ? static_cast<int>(left) : partners_together;
      block.each([&](int thread) {
        if (thread < n) partners.of[now][thread] = partner(ring, tables.rings[begin + thread]);
      });
      // Nobody reads those before the last ones any more.
      block.sync();
      for (int k = 0; k < n; ++k) {
        const std::int64_t number = begin + k;
        if (number >= work.but.begin && number < work.but.end) continue;
        if (partners.of[now][k].half_width < 0) continue;
        add(tables.rings[number], partners.of[now][k]);
      }
      now = 1 - now;
    }
  }

  RINGWEAVE_HOST_DEVICE Partner partner(const SumRing& ring, const SumRing& other) const {
    const auto pair = Fields::Pair::of(ring, other);
    const double room = kernel.chord_squared_cut - pair.chord.gap;
    const auto n = static_cast<double>(other.n_phi);
    double half_width = -1;
    if (room >= pair.chord.span) {
      half_width = n;
    } else if (room >= 0) {
      // Not less than the arc sine, nor much more where it is small.
      const double x = std::sqrt(room / pair.chord.span);
      half_width = (x + (pi / 2 - 1) * x * x * x) / pi * n;
    }
    return {pair, half_width};
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
  RINGWEAVE_HOST_DEVICE Shifts shifts(const SumRing& ring, const SumRing& other,
                                      const Partner& partner) const {
    const double offset = ring.offset - other.offset;
    const Shifts of{static_cast<std::int64_t>(std::ceil(offset - partner.half_width)),
                    static_cast<std::int64_t>(std::floor(offset + partner.half_width))};
    return of.last - of.first >= ring.n_phi - 1 ? Shifts{0, ring.n_phi - 1} : of;
  }
  /// Returns the kernel of a shift times the partner's weight.
  RINGWEAVE_HOST_DEVICE Value weight(const SumRing& ring, const SumRing& other,
                                     const Partner& partner, std::int64_t shift) const {
    const auto turn = static_cast<double>(ring.n_phi);
    const double apart = nearest(ring.offset - other.offset - static_cast<double>(shift), turn);
    return value_at(other, partner, apart * (pi / turn));
  }
  /// Returns the same for half a difference in longitude.
  RINGWEAVE_HOST_DEVICE Value value_at(const SumRing& other, const Partner& partner,
                                       double half_phi) const {
    const double sine = quadrant_sine(half_phi);
    const LongitudeApart apart{sine * sine, 2 * sine * quadrant_cosine(half_phi)};
    return fields.value(kernel, partner.pair, apart, other.weight);
  }
  RINGWEAVE_HOST_DEVICE void store(const PixelRing& work, const SumRing& ring, std::int64_t pixel,
                                   int map, double sum) const {
    T& to = out.pixels[(first_map + map) * out.stride + ring.first.first + pixel];
    to = static_cast<T>(sum + (work.has_modes ? static_cast<double>(to) : 0));
  }
};

/// Operations that leave a ring and its partners as they are.
enum class Symmetry {
  none,
  quarters  ///< a quarter of a turn, and a reflection
};

/// Sums on rings whose partners have other numbers of pixels. A thread has a pixel and its images,
/// which see their partners at the same distances and share each value of the kernel. Partners that
/// have as many pixels share it with the whole block.
template <class T, class Fields, Symmetry symmetry>
struct SumPixels : PixelSums<T, Fields> {
  using Base = PixelSums<T, Fields>;
  using Base::maps;
  using typename Base::Partner;
  using typename Base::Shifts;
  using typename Base::Value;
  static constexpr int least_blocks = Fields::least_blocks;
  static constexpr int turns = symmetry == Symmetry::quarters ? 4 : 1;
  static constexpr int sides = symmetry == Symmetry::quarters ? 2 : 1;  ///< as it is, reflected

  struct Shared {
    typename Base::Partners partners;
    Array<Value, block_threads> weights;  ///< of shifts along phi
  };
  struct Sums {
    Array<Array<Array<double, maps>, turns>, sides> of;
  };

  /// Pixels of which every other one is an image, or none.
  static RINGWEAVE_HOST_DEVICE std::int64_t first_pixels(std::int64_t n_phi) {
    return sides == 2 ? n_phi / turns / 2 + 1 : n_phi;
  }
  static std::int64_t pieces(std::int64_t longest_ring) {
    return (first_pixels(longest_ring) + block_threads - 1) / block_threads;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), this->n_pieces);
    const PixelRing work = this->rings[at.whole];
    const SumRing ring = this->tables.rings[work.ring];
    const std::int64_t n_first = first_pixels(ring.n_phi);
    const std::int64_t first_pixel = at.rest * block_threads;
    if (first_pixel >= n_first) return;
    typename Block::template PerThread<Sums> sums;
    block.each([&](int thread) { clear(sums[thread]); });
    this->for_partners(block, work, ring, shared.partners,
                       [&](const SumRing& other, const Partner& partner) {
                         if (other.n_phi == ring.n_phi) {
                           add_shifts(block, ring, other, first_pixel, partner, shared, sums);
                           return;
                         }
                         block.each([&](int thread) {
                           const std::int64_t pixel = first_pixel + thread;
                           if (pixel < n_first) add(ring, pixel, other, partner, sums[thread]);
                         });
                       });
    block.each([&](int thread) {
      const std::int64_t pixel = first_pixel + thread;
      if (pixel < n_first) store_images(work, ring, pixel, sums[thread]);
    });
  }

 private:
  static RINGWEAVE_HOST_DEVICE void clear(Sums& sums) {
    RINGWEAVE_UNROLL
    for (int side = 0; side < sides; ++side) {
      RINGWEAVE_UNROLL
      for (int turn = 0; turn < turns; ++turn) {
        RINGWEAVE_UNROLL
        for (int map = 0; map < maps; ++map) sums.of[side][turn][map] = 0;
      }
    }
  }
  static RINGWEAVE_HOST_DEVICE std::int64_t reflected(const SumRing& ring, std::int64_t pixel) {
    return Base::wrapped(ring.mirror - pixel, ring.n_phi);
  }

  /// Adds weight times the pixel `number` of a ring, and its images, to a pixel and its images.
  static RINGWEAVE_HOST_DEVICE void add_images(Value weight, const T* pixels, std::int64_t stride,
                                               std::int64_t number, const SumRing& other,
                                               Sums& sums) {
    const std::int64_t n = other.n_phi;
    std::int64_t at = Base::wrapped(number, n);
    RINGWEAVE_UNROLL
    for (int side = 0; side < sides; ++side) {
      const Value value = side == 1 ? Fields::mirrored(weight) : weight;
      if (side == 1) at = reflected(other, at);
      RINGWEAVE_UNROLL
      for (int turn = 0; turn < turns; ++turn) {
        RINGWEAVE_UNROLL
        for (int map = 0; map < maps; ++map) {
          Fields::add_pixel(value, map, static_cast<double>(pixels[map * stride + at]),
                            sums.of[side][turn]);
        }
        at = Base::wrapped(at + n / turns, n);
      }
    }
  }

  /// Stores the sums of a pixel and of its images, unless it is the image of one before.
  RINGWEAVE_HOST_DEVICE void store_images(const PixelRing& work, const SumRing& ring,
                                          std::int64_t pixel, const Sums& sums) const {
    const std::int64_t n_turn = ring.n_phi / turns;
    std::int64_t at = pixel;
    std::int64_t image = pixel;
    if (sides == 2) {
      image = reflected(ring, pixel) % n_turn;
      if (image < pixel) return;
    }
    RINGWEAVE_UNROLL
    for (int side = 0; side < sides; ++side) {
      if (side == 1) {
        if (image == pixel) return;
        at = reflected(ring, pixel);
      }
      RINGWEAVE_UNROLL
      for (int turn = 0; turn < turns; ++turn) {
        RINGWEAVE_UNROLL
        for (int map = 0; map < maps; ++map)
          this->store(work, ring, at, map, sums.of[side][turn][map]);
        at = Base::wrapped(at + n_turn, ring.n_phi);
      }
    }
  }

  /// Adds a ring of as many pixels: a weight for each shift serves all of them.
  template <class Block, class PerThread>
  RINGWEAVE_LAUNCH void add_shifts(const Block& block, const SumRing& ring, const SumRing& other,
                                   std::int64_t first_pixel, const Partner& partner, Shared& shared,
                                   PerThread& sums) const {
    const Shifts shifts = this->shifts(ring, other, partner);
    const T* const pixels = this->pixels_of(other);
    const std::int64_t stride = this->stride_of(other);
    for (std::int64_t begin = shifts.first; begin <= shifts.last; begin += block_threads) {
      const std::int64_t left = shifts.last - begin + 1;
      const int n_shifts = left < block_threads ? static_cast<int>(left) : block_threads;
      block.sync();
      block.each([&](int thread) {
        if (thread < n_shifts)
          shared.weights[thread] = this->weight(ring, other, partner, begin + thread);
      });
      block.sync();
      block.each([&](int thread) {
        const std::int64_t pixel = first_pixel + thread;
        if (pixel >= first_pixels(ring.n_phi)) return;
        for (int k = 0; k < n_shifts; ++k)
          add_images(shared.weights[k], pixels, stride, pixel + begin + k, other, sums[thread]);
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
    const T* const pixels = this->pixels_of(other);
    const std::int64_t stride = this->stride_of(other);
    for (std::int64_t j = first; j <= last; ++j) {
      const double apart = Base::nearest(place - (static_cast<double>(j) + other.offset) * n, turn);
      const Value weight = this->value_at(other, partner, apart * (Base::pi / turn));
      add_images(weight, pixels, stride, j, other, sums);
    }
  }
};

}  // namespace ringweave::detail::gpu
