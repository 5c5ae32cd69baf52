// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/column_lanes.hpp"

#include <algorithm>
#include <cstring>

#include "base/simd/instruction_sets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/column_lanes.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "fft/host/lane_convolution-inl.hpp"
#include "fft/lane_fft-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

using column_lanes::Scratch;
// Elements of all lanes that are interleaved in the L1 cache before vectors load them.
constexpr std::int64_t staged = 32;
// Elements of rows that are transformed together within the L1 cache.
constexpr std::int64_t most_together = column_lanes::most_together;

HWY_INLINE void copy(const Complex* from, Complex* to) { std::memcpy(to, from, sizeof(Complex)); }

/// One table for all lanes, or one for the first lanes and another for the rest.
struct OneTable {
  const Complex* table;
  HWY_INLINE ComplexLanes operator()(std::int64_t k) const { return broadcast(table[k]); }
};
struct TwoTables {
  const Complex* first;
  const Complex* second;
  hn::Mask<D> is_first;
  HWY_INLINE ComplexLanes operator()(std::int64_t k) const {
    const ComplexLanes a = broadcast(first[k]);
    const ComplexLanes b = broadcast(second[k]);
    return {hn::IfThenElse(is_first, a.re, b.re), hn::IfThenElse(is_first, a.im, b.im)};
  }
};

/// Calls work(k, value) for elements k of all lanes, begin <= k < end; lanes from `n` on are
/// undefined.
template <class Work>
HWY_INLINE void read_columns(const ColumnLanes& columns, std::int64_t begin, std::int64_t end,
                             std::int64_t n, const Work& work) {
  HWY_ALIGN Complex side_by_side[staged * n_lanes] = {};
  const Complex* from[n_lanes];
  std::int64_t stride[n_lanes];
  for (std::int64_t i = 0; i < n_lanes; ++i) {
    const ColumnLanes::Lane& lane = columns.lanes[static_cast<std::size_t>(i)];
    stride[i] = lane.in_stride;
    from[i] = lane.in + begin * stride[i];
  }
  for (; begin < end; begin += staged) {
    const std::int64_t count = std::min(staged, end - begin);
    for (std::int64_t k = 0; k < count; ++k) {
      for (std::int64_t i = 0; i < n; ++i) {
        copy(from[i], side_by_side + k * n_lanes + i);
        from[i] += stride[i];
      }
    }
    for (std::int64_t k = 0; k < count; ++k)
      work(begin + k, load_interleaved(side_by_side + k * n_lanes));
  }
}

/// Writes value(j) to element j of the first n lanes.
template <class Value>
HWY_INLINE void write_columns(const ColumnLanes& columns, std::int64_t begin, std::int64_t end,
                              std::int64_t n, const Value& value) {
  HWY_ALIGN Complex side_by_side[staged * n_lanes];
  Complex* to[n_lanes];
  std::int64_t stride[n_lanes];
  for (std::int64_t i = 0; i < n_lanes; ++i) {
    const ColumnLanes::Lane& lane = columns.lanes[static_cast<std::size_t>(i)];
    stride[i] = lane.out_stride;
    to[i] = lane.out + begin * stride[i];
  }
  for (; begin < end; begin += staged) {
    const std::int64_t count = std::min(staged, end - begin);
    for (std::int64_t j = 0; j < count; ++j)
      store_interleaved(value(begin + j), side_by_side + j * n_lanes);
    for (std::int64_t j = 0; j < count; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        copy(side_by_side + j * n_lanes + i, to[i]);
        to[i] += stride[i];
      }
    }
  }
}

HWY_INLINE std::pair<double*, double*> fft_lanes(const LaneTransform& fft, double* data,
                                                 double* other, std::int64_t batch = 1) {
  return backward_fft(data, other, fft.turns.data(), fft.length, fft.radices, batch);
}

template <class Values, class Response>
void convolve_columns(const ColumnLanes& columns, OneTable longer, const Values& chirp,
                      const Response& response, double* data) {
  const LaneConvolution& convolution = *columns.first->convolution;
  const std::int64_t n = columns.first->length;
  const std::int64_t n_all = columns.second->length;
  read_columns(columns, 0, n_all, n_lanes, [&](std::int64_t k, ComplexLanes value) {
    store(product(chirp(k), value), data + k * element);
  });
  const auto is_first = hn::FirstN(D(), static_cast<std::size_t>(columns.n_first));
  read_columns(columns, n_all, n, columns.n_first, [&](std::int64_t k, ComplexLanes value) {
    const ComplexLanes a = product(longer(k), value);
    store({hn::IfThenElseZero(is_first, a.re), hn::IfThenElseZero(is_first, a.im)},
          data + k * element);
  });
  for (std::int64_t k = n; k < convolution.length / 2; ++k) store(zero(), data + k * element);
  convolve(convolution, data, response);
  write_columns(columns, 0, n_all, n_lanes,
                [&](std::int64_t j) { return conj_product(load(data + j * element), chirp(j)); });
  write_columns(columns, n_all, n, columns.n_first,
                [&](std::int64_t j) { return conj_product(load(data + j * element), longer(j)); });
}

void transform_columns(const ColumnLanes& columns, const Chirp& first_chirp,
                       const Chirp& second_chirp, Scratch scratch) {
  const OneTable longer{first_chirp.values};
  const ColumnTransform& first = *columns.first;
  const ColumnTransform& second = *columns.second;
  if (first.convolution == nullptr) {
    read_columns(columns, 0, first.length, n_lanes, [&](std::int64_t k, ComplexLanes value) {
      store(value, scratch.data + k * element);
    });
    const double* found = fft_lanes(*first.fft, scratch.data, scratch.other).first;
    write_columns(columns, 0, first.length, n_lanes,
                  [&](std::int64_t j) { return load(found + j * element); });
  } else if (&first == &second) {
    convolve_columns(columns, longer, longer, OneTable{first_chirp.response}, scratch.data);
  } else {
    const auto is_first = hn::FirstN(D(), static_cast<std::size_t>(columns.n_first));
    convolve_columns(columns, longer, TwoTables{first_chirp.values, second_chirp.values, is_first},
                     TwoTables{first_chirp.response, second_chirp.response, is_first},
                     scratch.data);
  }
}

// exp(2 pi i k / 8).
constexpr double half_root = 0.70710678118654752440;
constexpr Complex eighth_turns[8] = {
    {1, 0},  {half_root, half_root},   {0, 1},  {-half_root, half_root},
    {-1, 0}, {-half_root, -half_root}, {0, -1}, {half_root, -half_root}};

/// First pass of a spectrum, radix 8, with blocks from `first` on in the lanes; the second half of
/// `in` is read as well.
HWY_INLINE void cut_into_lanes(const LaneConvolution::Pass& level, const Complex* in,
                               std::int64_t first, double* data) {
  HWY_ALIGN Complex side_by_side[n_lanes];
  ComplexLanes roots[8];
  for (std::int64_t k = 0; k < 8; ++k) {
    for (std::int64_t i = 0; i < n_lanes; ++i) side_by_side[i] = eighth_turns[k * (first + i) % 8];
    roots[k] = load_interleaved(side_by_side);
  }
  const std::int64_t unit = level.length / 8;
  const Complex* twiddles = level.twiddles - 1 + first;
  const auto has_twiddle = hn::Not(hn::FirstN(D(), first == 0 ? 1 : 0));
  for (std::int64_t q = 0; q < unit; ++q) {
    ComplexLanes sum = zero();
    for (std::int64_t k = 0; k < 8; ++k) {
      const ComplexLanes a = broadcast(in[q + unit * k]);
      sum.re = hn::NegMulAdd(a.im, roots[k].im, hn::MulAdd(a.re, roots[k].re, sum.re));
      sum.im = hn::MulAdd(a.im, roots[k].re, hn::MulAdd(a.re, roots[k].im, sum.im));
    }
    const ComplexLanes turned = product(load_interleaved(twiddles), sum);
    store({hn::IfThenElse(has_twiddle, turned.re, sum.re),
           hn::IfThenElse(has_twiddle, turned.im, sum.im)},
          data + q * element);
    twiddles += 7;
  }
}

/// Transforms a block per lane: after the first pass all blocks take the same passes.
void spectrum(const LaneConvolution& convolution, const Complex* in, Complex* out, double* data) {
  const auto& passes = convolution.passes;
  const std::int64_t part = convolution.length / 8;
  HWY_ALIGN Complex side_by_side[n_lanes];
  for (std::int64_t first = 0; first < 8; first += n_lanes) {
    cut_into_lanes(passes[0], in, first, data);
    for (std::size_t i = 1; i < passes.size(); ++i)
      in_place_pass<true>(passes[i], data, part / passes[i].length);
    for (std::int64_t k = 0; k < part; ++k) {
      store_interleaved(load(data + k * element), side_by_side);
      for (std::int64_t i = 0; i < n_lanes; ++i)
        copy(side_by_side + i, out + (first + i) * part + k);
    }
  }
}

void make_twiddles(const double* fine, const Complex* coarse, std::int64_t n_rows,
                   std::int64_t n_columns, double* twiddles) {
  for (std::int64_t j = 0; j < n_columns; j += n_lanes) {
    for (std::int64_t c = 0; c < n_rows; ++c) {
      store(product(broadcast(*coarse++), load(fine + c * element)), twiddles);
      twiddles += element;
    }
  }
}

/// Loads columns j..j + count of all rows, element c of column j from from[j n_rows + c], into
/// [c][j / lanes][re, im][j % lanes], times twiddles.
HWY_INLINE void read_rows(const Complex* from, std::int64_t count, std::int64_t n_rows,
                          const double* twiddles, Complex* side_by_side, double* data) {
  for (std::int64_t j = 0; j < count; ++j) {
    Complex* to = side_by_side + j / n_lanes * n_rows * n_lanes + j % n_lanes;
    for (std::int64_t c = 0; c < n_rows; ++c) copy(from++, to + c * n_lanes);
  }
  const std::int64_t batch = (count + n_lanes - 1) / n_lanes;
  for (std::int64_t b = 0; b < batch; ++b) {
    for (std::int64_t c = 0; c < n_rows; ++c) {
      store(product(load(twiddles), load_interleaved(side_by_side)),
            data + (c * batch + b) * element);
      twiddles += element;
      side_by_side += n_lanes;
    }
  }
}

void transform_rows(const RowLanes& rows, const Complex* in, Complex* out, Scratch scratch) {
  const std::int64_t n_rows = rows.fft->length;
  const std::int64_t together = std::max<std::int64_t>(1, most_together / n_rows) * n_lanes;
  for (std::int64_t j = 0; j < rows.n_columns; j += together) {
    const std::int64_t count = std::min(together, rows.n_columns - j);
    const std::int64_t batch = (count + n_lanes - 1) / n_lanes;
    read_rows(in + j * n_rows, count, n_rows, rows.twiddles + j * n_rows * 2,
              reinterpret_cast<Complex*>(scratch.other), scratch.data);
    const double* found = fft_lanes(*rows.fft, scratch.data, scratch.other, batch).first;
    const std::int64_t n_full = count / n_lanes;
    for (std::int64_t q = 0; q < n_rows; ++q) {
      Complex* to = out + j + q * rows.n_columns;
      for (std::int64_t b = 0; b < n_full; ++b) {
        store_interleaved(load(found + (q * batch + b) * element), to + b * n_lanes);
        // For the next iteration: each row of pixels is a separate stream, too short for the
        // hardware prefetcher.
        __builtin_prefetch(to + together + b * n_lanes, 1);
        __builtin_prefetch(to + together + b * n_lanes + n_lanes / 2, 1);
      }
      if (n_full < batch) {
        HWY_ALIGN Complex last[n_lanes];
        store_interleaved(load(found + (q * batch + n_full) * element), last);
        std::copy_n(last, count - n_full * n_lanes, to + n_full * n_lanes);
      }
    }
  }
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft {

using Complex = std::complex<double>;

HWY_EXPORT(spectrum);
HWY_EXPORT(transform_columns);
HWY_EXPORT(transform_rows);
HWY_EXPORT(make_twiddles);

namespace column_lanes {

std::int64_t scratch_size(std::int64_t length) noexcept {
  return 2 * length * lane_rings::n_lanes();
}

void spectrum(const LaneConvolution& convolution, const Complex* in, Complex* out,
              double* data) noexcept {
  HWY_DYNAMIC_DISPATCH(spectrum)(convolution, in, out, data);
}

void transform_columns(const ColumnLanes& columns, const Chirp& first, const Chirp& second,
                       Scratch scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(transform_columns)(columns, first, second, scratch);
}

std::int64_t twiddle_size(std::int64_t n_rows, std::int64_t n_columns) noexcept {
  const std::int64_t lanes = lane_rings::n_lanes();
  return (n_columns + lanes - 1) / lanes * lanes * n_rows * 2;
}

void make_twiddles(const double* fine, const Complex* coarse, std::int64_t n_rows,
                   std::int64_t n_columns, double* twiddles) noexcept {
  HWY_DYNAMIC_DISPATCH(make_twiddles)(fine, coarse, n_rows, n_columns, twiddles);
}

void transform_rows(const RowLanes& rows, const Complex* in, Complex* out,
                    Scratch scratch) noexcept {
  HWY_DYNAMIC_DISPATCH(transform_rows)(rows, in, out, scratch);
}

}  // namespace column_lanes
}  // namespace ringweave::detail::inline fft
#endif  // HWY_ONCE
