// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"
#include "fft/cuda/ring_arithmetic.hpp"
#include "fft/cuda/ring_batches.hpp"

namespace ringweave::detail::gpu {

/// Pixels of a batch of rings: component c begins at element c * stride.
template <class T>
struct RingPixels {
  T* map;
  std::int64_t stride;

  RINGWEAVE_HOST_DEVICE T* of(const PlannedRing& ring, std::int64_t component) const {
    return map + component * stride + ring.first_pixel;
  }
};

/// Two neighbouring pixels, accessed at once if aligned.
template <class T>
struct alignas(2 * sizeof(T)) PixelPair {
  T first;
  T second;
};
template <class T>
RINGWEAVE_HOST_DEVICE bool is_aligned(const T* pixels) {
  return reinterpret_cast<std::uintptr_t>(pixels) % (2 * sizeof(T)) == 0;
}
template <class T>
RINGWEAVE_HOST_DEVICE Double2 load_pair(const T* pixels) {
  PixelPair<T> pair;
  if (is_aligned(pixels)) {
    pair = *reinterpret_cast<const PixelPair<T>*>(pixels);
  } else {
    pair = {pixels[0], pixels[1]};
  }
  return {static_cast<double>(pair.first), static_cast<double>(pair.second)};
}
template <class T>
RINGWEAVE_HOST_DEVICE void store_pair(T* pixels, Double2 value) {
  const PixelPair<T> pair{static_cast<T>(value.x), static_cast<T>(value.y)};
  if (is_aligned(pixels)) {
    *reinterpret_cast<PixelPair<T>*>(pixels) = pair;
  } else {
    pixels[0] = pair.first;
    pixels[1] = pair.second;
  }
}

/// Loads pixels as input of backward FFTs, padded with zeros.
template <class T>
struct LoadPixels {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;
  RingRows batch;
  const Double2* factors;
  RingPixels<const T> pixels;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      const Quotient at = divide(row, batch.n_rings);
      batch.rows[row * batch.row_length + k] = value(batch.rings[at.rest], at.whole, k);
    });
  }

 private:
  RINGWEAVE_HOST_DEVICE Double2 value(const PlannedRing& ring, std::int64_t component,
                                      std::int64_t k) const {
    if (k >= ring.n_complex) return {0, 0};
    const T* pixel = pixels.of(ring, component);
    Double2 made{0, 0};
    if (ring.n_phi % 2 == 0) {
      made = load_pair(pixel + 2 * k);
    } else {
      made.x = static_cast<double>(pixel[k]);
    }
    if (ring.chirp < 0) return made;
    return product(made, chirp_value(factors + ring.roots, ring.n_complex, k));
  }
};

/// Stores the output of backward FFTs as pixels.
template <class T>
struct StorePixels {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< covering the longest FFT of the batch
  RingRows batch;
  const Double2* factors;
  RingPixels<T> pixels;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      const Quotient at = divide(row, batch.n_rings);
      const PlannedRing& ring = batch.rings[at.rest];
      if (k >= ring.n_complex) return;
      Double2 made = batch.rows[row * batch.row_length + k];
      if (ring.chirp >= 0) {
        made = product(made, chirp_value(factors + ring.roots, ring.n_complex, k));
      }
      T* pixel = pixels.of(ring, at.whole);
      if (ring.n_phi % 2 == 0) {
        store_pair(pixel + 2 * k, made);
      } else {
        pixel[k] = static_cast<T>(made.x);
      }
    });
  }
};

/// Computes the sequence rows are convolved with: exp(-i pi k^2 / n) for |k| < n, periodic in the
/// row, divided by its length.
struct MakeChirps {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;
  const ChirpLength* lengths;  ///< [row]
  const Double2* factors;
  Double2* chirps;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      const ChirpLength& length = lengths[row];
      const std::int64_t distance = k < length.n_complex ? k : pieces.row_length - k;
      Double2 value{0, 0};
      if (distance < length.n_complex) {
        value = scaled(1.0 / static_cast<double>(pieces.row_length),
                       conjugate(chirp_value(factors + length.roots, length.n_complex, distance)));
      }
      chirps[row * pieces.row_length + k] = value;
    });
  }
};

/// Multiplies the spectra of rows by those of their chirps.
struct MultiplyByChirps {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;
  RingRows batch;
  const Double2* chirps;

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t k) {
      const PlannedRing& ring = batch.rings[divide(row, batch.n_rings).rest];
      Double2& value = batch.rows[row * batch.row_length + k];
      value = product(value, chirps[ring.chirp * batch.row_length + k]);
    });
  }
};

}  // namespace ringweave::detail::gpu
