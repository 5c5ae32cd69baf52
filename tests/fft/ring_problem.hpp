// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <numbers>
#include <random>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "fft/ring_fft.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail {

/// Returns the position of the mode (m, owned ring) in a layout; -1 where no segment holds it.
inline std::int64_t position_of(const ModeLayout& rows, std::int64_t row, RingId ring) {
  for (const RowSegment& segment : rows.segments(rows.rows()[to_size(row)])) {
    if (segment.rings.contains(index(ring)))
      return segment.first + index(ring) - segment.rings.begin;
  }
  return -1;
}

/// Rows of one rank that holds every order 0..mmax for every ring of a grid.
inline ModeLayout dense_rows(const RingGrid& grid, int mmax) {
  ModeLayout rows;
  for (int m = 0; m <= mmax; ++m) {
    rows.begin_row(m);
    rows.add_segment({0, grid.n_rings()}, m * grid.n_rings());
  }
  rows.set_size((mmax + std::int64_t{1}) * grid.n_rings());
  return rows;
}

inline RingFftShape dense_shape(RingGrid made, int mmax, std::int64_t n_components) {
  const auto grid = std::make_shared<const RingGrid>(std::move(made));
  return {LocalRings(grid), dense_rows(*grid, mmax), n_components};
}

/// A ring and its mirror, n pixels each, at two arbitrary offsets.
inline RingGrid two_rings(std::int64_t n) {
  return RingGrid::from_rings({{0.4, 0.3, n, 0}, {std::numbers::pi - 0.4, 1.7, n, 0}});
}

inline std::vector<std::complex<double>> random_modes(const RingFftShape& shape,
                                                      std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<std::complex<double>> modes(to_size(shape.rows.size() * shape.n_components));
  for (auto& mode : modes) {
    const double re = normal(generator);
    mode = {re, normal(generator)};
  }
  return modes;
}

template <class T = double>
std::vector<T> random_map(const RingFftShape& shape, std::uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::normal_distribution<double> normal;
  std::vector<T> map(to_size(shape.rings.n_pixels() * shape.n_components));
  for (auto& pixel : map) pixel = static_cast<T>(normal(generator));
  return map;
}

inline ModeView<double> view(std::vector<std::complex<double>>& modes) {
  return {modes.data(), ssize64(modes)};
}
inline ModeView<const double> view(const std::vector<std::complex<double>>& modes) {
  return {modes.data(), ssize64(modes)};
}
template <class T>
MapView<T> map_view(const RingFftShape& shape, std::vector<T>& map) {
  return {map.data(), shape.n_components, shape.rings.n_pixels()};
}
template <class T>
MapView<const T> map_view(const RingFftShape& shape, const std::vector<T>& map) {
  return {map.data(), shape.n_components, shape.rings.n_pixels()};
}

/// Returns exp(i m phi_j) of one ring, with m times phi0 and m j modulo n kept apart so that no
/// digits are lost.
class RingPhase {
 public:
  explicit RingPhase(const Ring& ring) : ring_(ring), root_(to_size(ring.n_phi)) {
    for (std::int64_t k = 0; k < ring.n_phi; ++k) {
      root_[to_size(k)] =
          std::polar(1.0L, 2 * std::numbers::pi_v<long double> * static_cast<long double>(k) /
                               static_cast<long double>(ring.n_phi));
    }
  }
  std::complex<long double> offset(std::int64_t m) const {
    return std::polar(1.0L, static_cast<long double>(m) * static_cast<long double>(ring_.phi0));
  }
  std::complex<long double> root(std::int64_t m, std::int64_t j) const {
    return root_[to_size(m * j % ring_.n_phi)];
  }

 private:
  Ring ring_;
  std::vector<std::complex<long double>> root_;
};

/// Computes the map by its defining sum, in long double.
inline std::vector<double> direct_synthesis(const RingFftShape& shape,
                                            const std::vector<std::complex<double>>& modes) {
  std::vector<double> map(to_size(shape.n_components * shape.rings.n_pixels()));
  for (std::int64_t r = 0; r < shape.rings.n_rings(); ++r) {
    const Ring& ring = shape.rings.ring(LocalRing{r});
    const RingPhase phase(ring);
    for (std::int64_t c = 0; c < shape.n_components; ++c) {
      std::vector<long double> sum(to_size(ring.n_phi), 0.0L);
      for (std::int64_t row = 0; row < ssize64(shape.rows.rows()); ++row) {
        const std::int64_t position =
            position_of(shape.rows, row, shape.rings.global(LocalRing{r}));
        if (position < 0) continue;
        const std::int64_t m = shape.rows.rows()[to_size(row)].m;
        const std::complex<long double> mode(modes[to_size(position * shape.n_components + c)]);
        const std::complex<long double> shifted = mode * phase.offset(m) * (m == 0 ? 1.0L : 2.0L);
        for (std::int64_t j = 0; j < ring.n_phi; ++j)
          sum[to_size(j)] += (shifted * phase.root(m, j)).real();
      }
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        map[to_size(c * shape.rings.n_pixels() + shape.rings.first_pixel(LocalRing{r}) + j)] =
            static_cast<double>(sum[to_size(j)]);
      }
    }
  }
  return map;
}

/// Computes the adjoint by its definition, in long double; positions outside all segments keep the
/// values of `modes`.
inline void direct_adjoint(const RingFftShape& shape, const std::vector<double>& map,
                           std::vector<std::complex<double>>& modes) {
  for (std::int64_t r = 0; r < shape.rings.n_rings(); ++r) {
    const Ring& ring = shape.rings.ring(LocalRing{r});
    const RingPhase phase(ring);
    for (std::int64_t row = 0; row < ssize64(shape.rows.rows()); ++row) {
      const std::int64_t position = position_of(shape.rows, row, shape.rings.global(LocalRing{r}));
      if (position < 0) continue;
      const std::int64_t m = shape.rows.rows()[to_size(row)].m;
      for (std::int64_t c = 0; c < shape.n_components; ++c) {
        std::complex<long double> sum = 0;
        for (std::int64_t j = 0; j < ring.n_phi; ++j) {
          const std::int64_t pixel =
              c * shape.rings.n_pixels() + shape.rings.first_pixel(LocalRing{r}) + j;
          sum += static_cast<long double>(map[to_size(pixel)]) * std::conj(phase.root(m, j));
        }
        modes[to_size(position * shape.n_components + c)] =
            std::complex<double>(sum * std::conj(phase.offset(m)));
      }
    }
  }
}

/// Root mean square and largest of |a - b|, relative to the root mean square of b.
struct Difference {
  double rms;
  double max;
};
template <class T, class U>
Difference difference(const std::vector<T>& a, const std::vector<U>& b) {
  double sum = 0;
  double norm = 0;
  double largest = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const double gap = std::abs(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    sum += gap * gap;
    norm += std::norm(std::complex<double>(b[i]));
    largest = std::max(largest, gap);
  }
  return {std::sqrt(sum / norm), largest / std::sqrt(norm / static_cast<double>(b.size()))};
}

/// The layout of a rank in the middle of a larger job: a northern band and its mirror, rows grouped
/// by two senders with padding between them, polar modes pruned, and a belt that was folded before
/// it was sent.
inline RingFftShape ranks_share() {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(16));
  const RingRange north{9, 21};
  const RingRange south{grid->n_rings() - 21, grid->n_rings() - 9};
  const int mmax = 60;
  std::vector<std::int64_t> first(to_size(mmax + 1));
  std::int64_t position = 3;
  for (const int parity : {1, 0}) {
    for (int m = parity; m <= mmax; m += 2) {
      first[to_size(m)] = position;
      position += north.size() + south.size();
    }
    position += 5;
  }
  ModeLayout rows;
  for (int m = 0; m <= mmax; ++m) {
    rows.begin_row(m);
    const RingRange kept_north{std::min<std::int64_t>(9 + m / 10, 15), m > 32 ? 15 : 21};
    const RingRange kept_south{grid->n_rings() - kept_north.end,
                               grid->n_rings() - kept_north.begin};
    if (m % 13 == 7) continue;
    rows.add_segment(kept_north, first[to_size(m)]);
    rows.add_segment(kept_south, first[to_size(m)] + kept_north.size());
  }
  rows.set_size(position);
  return {LocalRings(grid, {north, south}), std::move(rows), 2};
}

/// Tells whether a position holds the mode of some order and ring.
inline std::vector<bool> held_positions(const RingFftShape& shape) {
  std::vector<bool> held(to_size(shape.rows.size()), false);
  for (const auto& row : shape.rows.rows()) {
    for (const RowSegment& segment : shape.rows.segments(row)) {
      for (std::int64_t i = 0; i < segment.rings.size(); ++i)
        held[to_size(segment.first + i)] = true;
    }
  }
  return held;
}

/// Returns the gap of <S a, y> = <a, S^T y> with weight 2 for m > 0, relative to ||S a|| ||y|| /
/// sqrt N, for map = S modes and back = S^T pixels.
inline double adjoint_gap(const RingFftShape& shape, const std::vector<std::complex<double>>& modes,
                          const std::vector<double>& map, const std::vector<double>& pixels,
                          const std::vector<std::complex<double>>& back) {
  long double left = 0;
  long double norm_map = 0;
  long double norm_pixels = 0;
  for (std::size_t i = 0; i < map.size(); ++i) {
    left += static_cast<long double>(map[i]) * static_cast<long double>(pixels[i]);
    norm_map += static_cast<long double>(map[i] * map[i]);
    norm_pixels += static_cast<long double>(pixels[i] * pixels[i]);
  }
  long double right = 0;
  for (std::int64_t row = 0; row < ssize64(shape.rows.rows()); ++row) {
    const double weight = shape.rows.rows()[to_size(row)].m == 0 ? 1 : 2;
    for (std::int64_t r = 0; r < shape.rings.n_rings(); ++r) {
      const std::int64_t position = position_of(shape.rows, row, shape.rings.global(LocalRing{r}));
      if (position < 0) continue;
      for (std::int64_t c = 0; c < shape.n_components; ++c) {
        const std::size_t i = to_size(position * shape.n_components + c);
        right += static_cast<long double>(weight * (std::conj(modes[i]) * back[i]).real());
      }
    }
  }
  const long double scale =
      std::sqrt(norm_map * norm_pixels / static_cast<long double>(map.size()));
  return static_cast<double>(std::abs(left - right) / scale);
}

}  // namespace ringweave::detail
