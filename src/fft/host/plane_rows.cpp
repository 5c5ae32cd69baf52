// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>

#include "base/simd/instruction_sets.hpp"
#include "fft/host/plane_lanes.hpp"
#include "fft/host/plane_lines.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/plane_rows.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
// After foreach_target.h.
#include "base/simd/complex_lanes-inl.hpp"
#include "fft/lane_turn-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ringweave::detail::HWY_NAMESPACE {

/// The rows of a group in memory. Real parts belong to the first n_lanes rows, imaginary parts to
/// the others.
template <class T>
struct GroupRows {
  T* first = nullptr;
  std::int64_t apart = 0;
  std::int64_t n_rows = 0;

  bool has(std::int64_t row) const { return row < n_rows; }
  T* row(std::int64_t r) const { return first + r * apart; }
  /// Rows that do not exist are read as the first one.
  T* readable(std::int64_t r) const { return has(r) ? row(r) : first; }
};

/// Writes values [begin, end) of all rows to the elements of the FFT.
void fill_rows(const FilterAxis& axis, const GroupRows<const double>& rows, std::int64_t begin,
               std::int64_t end, double* values) {
  std::fill(values, values + axis.length * element, 0.0);
  for (std::int64_t half = 0; half < 2; ++half) {
    const double* from[n_lanes];
    for (std::int64_t r = 0; r < n_lanes; ++r) from[r] = rows.readable(half * n_lanes + r);
    const auto place = [&](std::int64_t i) {
      return values + reversed(axis, fft_element(axis, axis.first + i)) * element + half * n_lanes;
    };
    std::int64_t i = begin;
    for (; i + n_lanes <= end; i += n_lanes) {
      V v[n_lanes];
      for (std::int64_t r = 0; r < n_lanes; ++r) v[r] = hn::LoadU(D(), from[r] + i);
      turn<n_lanes>(D(), v);
      for (std::int64_t c = 0; c < n_lanes; ++c) hn::Store(v[c], D(), place(i + c));
    }
    for (; i < end; ++i) {
      double* to = place(i);
      for (std::int64_t r = 0; r < n_lanes; ++r) to[r] = from[r][i];
    }
  }
  if (!axis.is_mirrored) return;
  // A Fourier axis from 0 on: value i is element i, and its image the one that is reversed.
  for (std::int64_t i = std::max<std::int64_t>(begin, 1); i < std::min(end, axis.size - 1); ++i)
    store(load(values + reversed(axis, i) * element), values + i * element);
}

/// Writes numbers [n_lanes] of n_lanes rows, [number][row], to the rows of a strip.
HWY_INLINE void put_strip(ComplexLanes* numbers, const GroupRows<double>& rows, std::int64_t half) {
  V re[n_lanes];
  V im[n_lanes];
  for (std::int64_t c = 0; c < n_lanes; ++c) {
    re[c] = numbers[c].re;
    im[c] = numbers[c].im;
  }
  turn<n_lanes>(D(), re);
  turn<n_lanes>(D(), im);
  for (std::int64_t r = 0; r < n_lanes; ++r) {
    if (rows.has(half * n_lanes + r)) store({re[r], im[r]}, rows.row(half * n_lanes + r));
  }
}

/// Reads a strip that put_strip() has written.
HWY_INLINE void get_strip(const GroupRows<const double>& rows, std::int64_t half,
                          ComplexLanes* numbers) {
  V re[n_lanes];
  V im[n_lanes];
  for (std::int64_t r = 0; r < n_lanes; ++r) {
    const ComplexLanes row = load(rows.readable(half * n_lanes + r));
    re[r] = row.re;
    im[r] = row.im;
  }
  turn<n_lanes>(D(), re);
  turn<n_lanes>(D(), im);
  for (std::int64_t c = 0; c < n_lanes; ++c) numbers[c] = {re[c], im[c]};
}

/// Separates the transforms of two real rows, which are the even and the odd part of that of both.
void separate_rows(const FilterAxis& axis, const double* values, std::int64_t n_strips,
                   GroupRows<double> rows, std::int64_t strips_apart) {
  const V one_half = broadcast(0.5);
  for (std::int64_t s = 0; s < n_strips; ++s, rows.first += strips_apart) {
    ComplexLanes first[n_lanes];
    ComplexLanes second[n_lanes];
    for (std::int64_t c = 0; c < n_lanes; ++c) {
      const std::int64_t k = s * n_lanes + c;
      const bool exists = k <= axis.length / 2;
      const ComplexLanes direct = exists ? load(values + k * element) : zero();
      const ComplexLanes mirrored =
          exists ? conjugate(load(values + reversed(axis, k) * element)) : zero();
      first[c] = scaled(direct + mirrored, one_half);
      second[c] = scaled(times_i(mirrored - direct), one_half);
    }
    put_strip(first, rows, 0);
    put_strip(second, rows, 1);
  }
}

/// Reverses separate_rows().
void join_rows(const FilterAxis& axis, GroupRows<const double> rows, std::int64_t n_strips,
               std::int64_t strips_apart, double* values) {
  for (std::int64_t s = 0; s < n_strips; ++s, rows.first += strips_apart) {
    ComplexLanes first[n_lanes];
    ComplexLanes second[n_lanes];
    get_strip(rows, 0, first);
    get_strip(rows, 1, second);
    for (std::int64_t c = 0; c < n_lanes; ++c) {
      const std::int64_t k = s * n_lanes + c;
      if (k > axis.length / 2) break;
      store(add_times_i(conjugate(first[c]), conjugate(second[c])),
            values + reversed(axis, k) * element);
      store(add_times_i(first[c], second[c]), values + k * element);
    }
  }
}

/// Copies the values that result from the elements of the FFT.
void take_rows(const FilterAxis& axis, const double* values, const GroupRows<double>& rows,
               Accumulate how) {
  const bool adds = how == Accumulate::add;
  for (std::int64_t half = 0; half < 2; ++half) {
    const auto place = [&](std::int64_t i) {
      return values + fft_element(axis, axis.first_out + i) * element + half * n_lanes;
    };
    const std::int64_t first_row = half * n_lanes;
    std::int64_t i = 0;
    for (; i + n_lanes <= axis.size_out; i += n_lanes) {
      V v[n_lanes];
      for (std::int64_t c = 0; c < n_lanes; ++c) v[c] = hn::Load(D(), place(i + c));
      turn<n_lanes>(D(), v);
      for (std::int64_t r = 0; r < n_lanes && rows.has(first_row + r); ++r) {
        double* to = rows.row(first_row + r) + i;
        hn::StoreU(adds ? hn::Add(hn::LoadU(D(), to), v[r]) : v[r], D(), to);
      }
    }
    for (; i < axis.size_out; ++i) {
      for (std::int64_t r = 0; r < n_lanes && rows.has(first_row + r); ++r) {
        double& to = rows.row(first_row + r)[i];
        to = adds ? to + place(i)[r] : place(i)[r];
      }
    }
  }
}

void read_group(const FilterAxis& axis, const double* rows, std::int64_t row_stride,
                std::int64_t n_rows, LineWindow window, double* values) {
  fill_rows(axis, {rows, row_stride, n_rows}, window.begin, window.end, values);
}
void put_group(const FilterAxis& axis, const double* values, std::int64_t n_strips,
               std::int64_t n_rows, PlaneRows::Strips<double> strips) {
  separate_rows(axis, values, n_strips, {strips.data, element, n_rows}, strips.apart);
}
void get_group(const FilterAxis& axis, PlaneRows::Strips<const double> strips,
               std::int64_t n_strips, std::int64_t n_rows, double* values) {
  join_rows(axis, {strips.data, element, n_rows}, n_strips, strips.apart, values);
}
void write_group(const FilterAxis& axis, const double* values, double* rows,
                 std::int64_t row_stride, std::int64_t n_rows, Accumulate how) {
  take_rows(axis, values, {rows, row_stride, n_rows}, how);
}

}  // namespace ringweave::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ringweave::detail::inline fft {

HWY_EXPORT(read_group);
HWY_EXPORT(put_group);
HWY_EXPORT(get_group);
HWY_EXPORT(write_group);

LineWindow clipped(std::int64_t begin, std::int64_t end, std::int64_t size) {
  begin = std::max<std::int64_t>(begin, 0);
  end = std::min(end, size);
  return begin < end ? LineWindow{begin, end} : LineWindow{};
}

PlaneRows::PlaneRows(const FilterAxis& axis)
    : axis_(axis), width_(plane_lanes::width()), fft_(&StripFft::of_length(axis.length)) {}

void PlaneRows::forward(const double* rows, std::int64_t row_stride, std::int64_t n_rows,
                        LineWindow window, const Scratch& scratch,
                        Strips<double> strips) const noexcept {
  HWY_DYNAMIC_DISPATCH(read_group)(axis_, rows, row_stride, n_rows, window, scratch.data);
  const double* values = fft_->transform(scratch.data, scratch.other);
  HWY_DYNAMIC_DISPATCH(put_group)(axis_, values, n_strips(), n_rows, strips);
}

void PlaneRows::backward(Strips<const double> strips, const Scratch& scratch, double* rows,
                         std::int64_t row_stride, std::int64_t n_rows,
                         Accumulate how) const noexcept {
  HWY_DYNAMIC_DISPATCH(get_group)(axis_, strips, n_strips(), n_rows, scratch.data);
  const double* values = fft_->transform(scratch.data, scratch.other);
  HWY_DYNAMIC_DISPATCH(write_group)(axis_, values, rows, row_stride, n_rows, how);
}

}  // namespace ringweave::detail::inline fft
#endif  // HWY_ONCE
