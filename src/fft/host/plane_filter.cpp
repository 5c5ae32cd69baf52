// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/plane_filter.hpp"

#include <omp.h>

#include <algorithm>
#include <numbers>
#include <string>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "base/unit_powers.hpp"
#include "fft/host/plane_lanes.hpp"
#include "fft/host/plane_lines.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

/// Throws a UsageError unless values and results fit the period.
void check_axis(const FilterAxis& axis, const char* name) {
  const auto fits = [&](std::int64_t first, std::int64_t size) {
    return first >= 0 && size >= 0 && first <= axis.length - size;
  };
  const std::string of_axis =
      std::string("filter of planes: ") + name + " axis of length " + std::to_string(axis.length);
  if (axis.length < 1 || !fits(axis.first, axis.size) || !fits(axis.first_out, axis.size_out))
    throw UsageError(of_axis + " cannot hold " + std::to_string(axis.size) + " values from " +
                     std::to_string(axis.first) + " on and " + std::to_string(axis.size_out) +
                     " results from " + std::to_string(axis.first_out) +
                     " on; make it as long as both need");
  const bool fills = axis.first == 0 && axis.size >= 2 && axis.length == 2 * (axis.size - 1) &&
                     axis.series == AxisSeries::fourier;
  if (axis.is_mirrored && !fills)
    throw UsageError(of_axis + " is mirrored, with " + std::to_string(axis.size) +
                     " values; it must be a Fourier axis of 2 (values - 1)");
}

/// Returns exp(i pi k / length), k < count, of a cosine axis; else nothing.
HostBuffer<Complex> turns_of(const FilterAxis& axis, std::int64_t count) {
  if (axis.series == AxisSeries::fourier) return {};
  const auto angle = std::numbers::pi_v<long double> / static_cast<long double>(axis.length);
  HostBuffer<Complex> turns(count);
  UnitPowers({{angle, count}}).expand(0, count, turns.data());
  return turns;
}

/// Returns row q of a symmetric multiplier, which has q + 1 numbers.
const double* half_row(const double* half, std::int64_t q) { return half + q * (q + 1) / 2; }

/// Writes the numbers of a strip, [frequency of y][lane], of a symmetric multiplier.
void expand_strip(const double* half, std::int64_t n, std::int64_t first, std::int64_t width,
                  double* strip) {
  const std::int64_t end = std::min(first + width, n);
  for (std::int64_t p = first; p < end; ++p) {
    const double* const row = half_row(half, p);
    for (std::int64_t q = 0; q < p; ++q) strip[q * width + p - first] = row[q];
  }
  for (std::int64_t q = first; q < n; ++q)
    std::copy_n(half_row(half, q) + first, std::min(end, q + 1) - first, strip + q * width);
}

double* reals(Complex* numbers) { return reinterpret_cast<double*>(numbers); }
const double* reals(const Complex* numbers) { return reinterpret_cast<const double*>(numbers); }

}  // namespace

std::int64_t FilterAxis::n_frequencies() const {
  return series == AxisSeries::fourier ? length / 2 + 1 : length;
}

std::int64_t multiplier_size(const FilterAxis& x, const FilterAxis& y, MultiplierForm form) {
  const std::int64_t n_x = x.n_frequencies();
  return form == MultiplierForm::symmetric ? n_x * (n_x + 1) / 2 : n_x * y.n_frequencies();
}

std::int64_t fast_length(std::int64_t n, bool is_even) {
  constexpr std::int64_t most = std::int64_t{1} << 58;
  if (n > most)
    throw UsageError("an FFT of " + std::to_string(n) + " numbers is longer than any memory");
  const std::int64_t least = is_even ? 2 : 1;
  std::int64_t shortest = 2 * most;
  for (std::int64_t sevens = least; sevens < shortest; sevens *= 7) {
    for (std::int64_t fives = sevens; fives < shortest; fives *= 5) {
      for (std::int64_t threes = fives; threes < shortest; threes *= 3) {
        std::int64_t length = threes;
        while (length < n) length *= 2;
        shortest = std::min(shortest, length);
      }
    }
  }
  return shortest;
}

// A cosine axis holds the transform of reordered values, V_k, k < length. With t_k = exp(-i pi k /
// (2 length)), t_k V_k = (C_k - i C_{length - k}) / 2 for real values, where C are their cosines
// and C_length = 0. Multiplying C by m makes s V_k + d exp(i pi k / length) conj(V_k) of V_k, s and
// d half the sum and difference of m_k and m_{length - k}. Along y conj(V_k) is V_{length - k},
// which is linear: it holds for complex columns. Along x real and imaginary part of t_p V_p are two
// real columns, of p and length - p, whose transforms along y are half of Z_q +- conj(Z_{length -
// q}).
struct PlaneFilter::Impl {
  Impl(const FilterAxis& x_axis, const FilterAxis& y_axis)
      : x(x_axis),
        y(y_axis),
        rows(x_axis),
        columns(y_axis),
        x_turns(turns_of(x, n_strips() * plane_lanes::width())),
        y_turns(turns_of(y, y.length / 2 + 1)),
        multiplied{x.length, y.length, rows.n_numbers(), x_turns.data(), y_turns.data()} {}

  std::int64_t n_strips() const { return rows.n_strips(); }
  /// Doubles from one strip of a spectrum to the next, a strip and a line of the cache: strips that
  /// are a power of 2 apart would share few places of the cache.
  std::int64_t strip_stride() const { return columns.strip_size() + 8; }

  /// Scratch of all threads, and of one.
  struct Scratch {
    double* rows = nullptr;  ///< [strip][row], rows of a strip
    double* strip = nullptr;
    PlaneRows::Scratch group;
  };
  /// memory  null: only count
  Scratch place(double* memory, int thread, std::int64_t* size) const {
    ScratchArena pieces(memory);
    Scratch scratch;
    const std::int64_t most_rows = std::max(y.size, y.size_out);
    scratch.rows = pieces.allocate<double>(n_strips() * most_rows * columns.row_size());
    for (int t = 0; t <= thread; ++t) {
      scratch.strip = pieces.allocate<double>(columns.strip_size());
      scratch.group.data = pieces.allocate<double>(rows.scratch_size());
      scratch.group.other = pieces.allocate<double>(rows.scratch_size());
    }
    if (size != nullptr) *size = pieces.whole_pages();
    return scratch;
  }

  FilterAxis x;
  FilterAxis y;
  PlaneRows rows;
  PlaneColumns columns;
  HostBuffer<Complex> x_turns;
  HostBuffer<Complex> y_turns;
  plane_lanes::Multiplied multiplied;
};

PlaneFilter::PlaneFilter(const FilterAxis& x, const FilterAxis& y) {
  check_axis(x, "x");
  check_axis(y, "y");
  impl_ = std::make_unique<Impl>(x, y);
}
PlaneFilter::~PlaneFilter() = default;
PlaneFilter::PlaneFilter(PlaneFilter&&) noexcept = default;

const FilterAxis& PlaneFilter::x() const { return impl_->x; }
const FilterAxis& PlaneFilter::y() const { return impl_->y; }

std::int64_t PlaneFilter::spectrum_size() const {
  return impl_->n_strips() * impl_->strip_stride() / 2;
}

std::int64_t PlaneFilter::scratch_size(int n_threads) const {
  std::int64_t size = 0;
  impl_->place(nullptr, n_threads - 1, &size);
  return size;
}

double PlaneFilter::scale() const {
  return 1 / (static_cast<double>(x().length) * static_cast<double>(y().length));
}

void PlaneFilter::forward(const double* plane, std::int64_t row_stride, const FilterWindow& window,
                          Complex* spectrum, double* scratch, int n_threads) const {
  const LineWindow x_window = clipped(window.x_begin, window.x_end, x().size);
  const LineWindow y_window = clipped(window.y_begin, window.y_end, y().size);
  const std::int64_t n_strips = impl_->n_strips();
  const std::int64_t n_rows = y_window.size();
  const std::int64_t row_size = impl_->columns.row_size();
  const std::int64_t group = impl_->rows.group_size();
#pragma omp parallel num_threads(n_threads)
  {
    const Impl::Scratch mine = impl_->place(scratch, omp_get_thread_num(), nullptr);
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < n_rows; r += group)
      impl_->rows.forward(plane + (y_window.begin + r) * row_stride, row_stride,
                          std::min(group, n_rows - r), x_window, mine.group,
                          {mine.rows + r * row_size, n_rows * row_size});
#pragma omp for schedule(static)
    for (std::int64_t s = 0; s < n_strips; ++s)
      impl_->columns.forward(mine.rows + s * n_rows * row_size, y_window,
                             reals(spectrum) + s * impl_->strip_stride(), mine.strip);
  }
}

void PlaneFilter::multiply(const FilterMultiplier& multiplier, double weight,
                           const Complex* spectrum, Complex* sum, Accumulate how, double* scratch,
                           int n_threads) const {
  const std::int64_t n_strips = impl_->n_strips();
  const std::int64_t stride = impl_->strip_stride();
  const std::int64_t width = plane_lanes::width();
  const std::int64_t n_frequencies = x().n_frequencies();
#pragma omp parallel num_threads(n_threads)
  {
    double* const strip = impl_->place(scratch, omp_get_thread_num(), nullptr).strip;
#pragma omp for schedule(static)
    for (std::int64_t s = 0; s < n_strips; ++s) {
      plane_lanes::MultiplierRows rows{multiplier.values, n_frequencies, 0};
      if (multiplier.form == MultiplierForm::symmetric) {
        rows = {strip, width, s * width};
        expand_strip(multiplier.values, n_frequencies, rows.begin, width, strip);
      }
      plane_lanes::multiply(impl_->multiplied, rows, weight, s * width,
                            reals(spectrum) + s * stride, reals(sum) + s * stride, how);
    }
  }
}

void PlaneFilter::backward(Complex* sum, double* plane, std::int64_t row_stride, Accumulate how,
                           double* scratch, int n_threads) const {
  const std::int64_t n_strips = impl_->n_strips();
  const std::int64_t n_rows = y().size_out;
  const std::int64_t row_size = impl_->columns.row_size();
  const std::int64_t group = impl_->rows.group_size();
#pragma omp parallel num_threads(n_threads)
  {
    const Impl::Scratch mine = impl_->place(scratch, omp_get_thread_num(), nullptr);
#pragma omp for schedule(static)
    for (std::int64_t s = 0; s < n_strips; ++s)
      impl_->columns.backward(reals(sum) + s * impl_->strip_stride(), mine.strip,
                              mine.rows + s * n_rows * row_size);
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < n_rows; r += group)
      impl_->rows.backward({mine.rows + r * row_size, n_rows * row_size}, mine.group,
                           plane + r * row_stride, row_stride, std::min(group, n_rows - r), how);
  }
}

void PlaneFilter::multiplier_of_taps(std::span<const double> taps, std::int64_t n_x,
                                     std::int64_t n_y, MultiplierForm form,
                                     std::span<double> multiplier) const {
  const auto whole = [](const FilterAxis& axis) {
    if (axis.series != AxisSeries::fourier)
      throw UsageError("filter of planes: taps are multipliers of Fourier axes only");
    return FilterAxis{.size = axis.length, .length = axis.length};
  };
  const PlaneFilter period(whole(x()), whole(y()));
  const std::int64_t nx = x().length;
  const std::int64_t ny = y().length;
  HostBuffer<double> plane(nx * ny);
  std::fill(plane.begin(), plane.end(), 0.0);
  const auto add = [&](std::int64_t dx, std::int64_t dy, double tap) {
    plane[(dy % ny + ny) % ny * nx + (dx % nx + nx) % nx] += tap;
  };
  for (std::int64_t dy = 0; dy < n_y; ++dy) {
    for (std::int64_t dx = 0; dx < n_x; ++dx) {
      const double tap = taps[to_size(dy * n_x + dx)] * scale();
      add(dx, dy, tap);
      if (dx > 0) add(-dx, dy, tap);
      if (dy > 0) add(dx, -dy, tap);
      if (dx > 0 && dy > 0) add(-dx, -dy, tap);
    }
  }
  const int n_threads = omp_get_max_threads();
  HostBuffer<Complex> spectrum(period.spectrum_size());
  HostBuffer<double> scratch(period.scratch_size(n_threads));
  period.forward(plane.data(), nx, {0, nx, 0, ny}, spectrum.data(), scratch.data(), n_threads);
  // An even plane has a real transform: row q of strip p / width, lane p % width.
  const std::int64_t width = plane_lanes::width();
  double* to = multiplier.data();
  for (std::int64_t q = 0; q < y().n_frequencies(); ++q) {
    const std::int64_t end = form == MultiplierForm::symmetric ? q + 1 : x().n_frequencies();
    for (std::int64_t p = 0; p < end; ++p) {
      const double* strip = reals(spectrum.data()) + p / width * period.impl_->strip_stride();
      *to++ = strip[q * period.impl_->columns.row_size() + p % width];
    }
  }
}

}  // namespace ringweave::detail::inline fft
