// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/plane_filter.hpp"

#include <omp.h>

#include <algorithm>
#include <string>

#include "base/checked_cast.hpp"
#include "base/scratch_arena.hpp"
#include "fft/host/plane_lines.hpp"
#include "fft/host/plane_multiply.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

/// Error  UsageError unless values and results fit the period.
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

bool is_smooth(std::int64_t n) {
  for (const std::int64_t prime : {2, 3, 5, 7}) {
    while (n % prime == 0) n /= prime;
  }
  return n == 1;
}

}  // namespace

std::int64_t FilterAxis::n_frequencies() const {
  return series == AxisSeries::fourier ? length / 2 + 1 : length;
}

std::int64_t fast_length(std::int64_t n, bool is_even) {
  const std::int64_t step = is_even ? 2 : 1;
  n = std::max(n, step);
  n += n % step;
  while (!is_smooth(n)) n += step;
  return n;
}

struct PlaneFilter::Impl {
  Impl(const FilterAxis& x_axis, const FilterAxis& y_axis)
      : x(x_axis), y(y_axis), rows(x_axis), columns(y_axis), multiplier(x_axis, y_axis) {}

  std::int64_t strip_size() const { return y.length * strip_width; }
  /// Numbers from one strip to the next, a strip and a line of the cache: strips that are a power
  /// of 2 apart would share few places of a cache.
  std::int64_t strip_stride() const { return strip_size() + 4; }

  /// Scratch of all threads, and of one.
  struct Scratch {
    Complex* rows = nullptr;  ///< [strip][row][strip_width]
    Complex* strip = nullptr;
    PlaneRows::Scratch row;
  };
  /// memory  null: only count
  Scratch place(double* memory, int thread, std::int64_t* size) const {
    ScratchArena pieces(memory);
    Scratch scratch;
    scratch.rows =
        pieces.take<Complex>(rows.n_strips() * std::max(y.size, y.size_out) * strip_width);
    for (int t = 0; t <= thread; ++t) {
      scratch.strip = pieces.take<Complex>(strip_size());
      scratch.row.values = pieces.take<double>(x.length);
      scratch.row.numbers = pieces.take<Complex>(rows.n_strips() * strip_width);
    }
    if (size != nullptr) *size = pieces.whole_pages();
    return scratch;
  }

  FilterAxis x;
  FilterAxis y;
  PlaneRows rows;
  PlaneColumns columns;
  StripMultiplier multiplier;
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
  return impl_->rows.n_strips() * impl_->strip_stride();
}

std::int64_t PlaneFilter::scratch_size(int n_threads) const {
  std::int64_t size = 0;
  impl_->place(nullptr, n_threads - 1, &size);
  return size;
}

std::int64_t PlaneFilter::multiplier_size() const {
  return x().n_frequencies() * y().n_frequencies();
}

double PlaneFilter::scale() const {
  return 1 / (static_cast<double>(x().length) * static_cast<double>(y().length));
}

void PlaneFilter::forward(const double* plane, std::int64_t row_stride, const FilterWindow& window,
                          Complex* spectrum, double* scratch, int n_threads) const {
  const LineWindow x_window = clipped(window.x_begin, window.x_end, x().size);
  const LineWindow y_window = clipped(window.y_begin, window.y_end, y().size);
  const std::int64_t n_strips = impl_->rows.n_strips();
  const std::int64_t n_rows = y_window.size();
#pragma omp parallel num_threads(n_threads)
  {
    const Impl::Scratch mine = impl_->place(scratch, omp_get_thread_num(), nullptr);
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < n_rows; ++r) {
      impl_->rows.forward(plane + (y_window.begin + r) * row_stride, x_window, mine.row);
      const Complex* numbers = mine.row.numbers;
      for (std::int64_t s = 0; s < n_strips; ++s, numbers += strip_width)
        std::copy(numbers, numbers + strip_width, mine.rows + (s * n_rows + r) * strip_width);
    }
#pragma omp for schedule(static)
    for (std::int64_t s = 0; s < n_strips; ++s)
      impl_->columns.forward(mine.rows + s * n_rows * strip_width, y_window, mine.strip,
                             spectrum + s * impl_->strip_stride());
  }
}

void PlaneFilter::multiply(const double* multiplier, double weight, const Complex* spectrum,
                           Complex* sum, Accumulate how, int n_threads) const {
  const std::int64_t n_strips = impl_->rows.n_strips();
  const std::int64_t stride = impl_->strip_stride();
#pragma omp parallel for schedule(static) num_threads(n_threads)
  for (std::int64_t s = 0; s < n_strips; ++s)
    impl_->multiplier.multiply(multiplier, weight, s, spectrum + s * stride, sum + s * stride, how);
}

void PlaneFilter::backward(Complex* sum, double* plane, std::int64_t row_stride, Accumulate how,
                           double* scratch, int n_threads) const {
  const std::int64_t n_strips = impl_->rows.n_strips();
  const std::int64_t n_rows = y().size_out;
#pragma omp parallel num_threads(n_threads)
  {
    const Impl::Scratch mine = impl_->place(scratch, omp_get_thread_num(), nullptr);
#pragma omp for schedule(static)
    for (std::int64_t s = 0; s < n_strips; ++s)
      impl_->columns.backward(sum + s * impl_->strip_stride(), mine.strip,
                              mine.rows + s * n_rows * strip_width);
#pragma omp for schedule(static)
    for (std::int64_t r = 0; r < n_rows; ++r) {
      Complex* numbers = mine.row.numbers;
      for (std::int64_t s = 0; s < n_strips; ++s, numbers += strip_width) {
        const Complex* from = mine.rows + (s * n_rows + r) * strip_width;
        std::copy(from, from + strip_width, numbers);
      }
      impl_->rows.backward(mine.row, plane + r * row_stride, how);
    }
  }
}

void PlaneFilter::multiplier_of_taps(std::span<const double> taps, std::int64_t n_x,
                                     std::int64_t n_y, std::span<double> multiplier) const {
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
  // An even plane has a real transform.
  for (std::int64_t q = 0; q < y().n_frequencies(); ++q) {
    for (std::int64_t p = 0; p < x().n_frequencies(); ++p) {
      const std::int64_t strip = p / strip_width;
      multiplier[to_size(q * x().n_frequencies() + p)] =
          spectrum[strip * period.impl_->strip_stride() + q * strip_width + p % strip_width].real();
    }
  }
}

}  // namespace ringweave::detail::inline fft
