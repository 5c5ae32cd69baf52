// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// The series that an axis is filtered in.
enum class AxisSeries {
  fourier,  ///< period `length`; element k has the frequency k / length
  cosine    ///< even about half an element beyond both ends (DCT-II); k / (2 length)
};

/// One axis of a plane, and its place in the filtered period: values not given are zero.
struct FilterAxis {
  std::int64_t size = 0;    ///< values given
  std::int64_t first = 0;   ///< position of the first value in the period
  std::int64_t length = 0;  ///< of the period
  AxisSeries series = AxisSeries::fourier;
  /// Values are also reflected about the first and the last one, which must fill a Fourier period:
  /// first = 0, length = 2 (size - 1).
  bool is_mirrored = false;
  /// Values that result: positions first_out .. first_out + size_out - 1.
  std::int64_t first_out = 0;
  std::int64_t size_out = 0;

  /// Frequencies with a multiplier of their own, 0 .. n - 1: length / 2 + 1 of a Fourier axis,
  /// `length` of a cosine axis.
  std::int64_t n_frequencies() const;
};

/// Returns the least number >= n whose only prime factors are 2, 3, 5 and 7, even where asked: a
/// fast length. Error  UsageError above 2^58.
std::int64_t fast_length(std::int64_t n, bool is_even = false);

/// Values that are taken as zero: those outside of columns [x_begin, x_end) and rows [y_begin,
/// y_end).
struct FilterWindow {
  std::int64_t x_begin = 0;
  std::int64_t x_end = 0;
  std::int64_t y_begin = 0;
  std::int64_t y_end = 0;
};

/// The numbers of a multiplier that are stored: [frequency of y][frequency of x], or of one that
/// stays the same where x and y are exchanged, on equal axes, those of q >= p: (q, p) at q (q + 1)
/// / 2 + p.
enum class MultiplierForm { whole, symmetric };

/// Returns how many these are.
std::int64_t multiplier_size(const FilterAxis& x, const FilterAxis& y, MultiplierForm form);

struct FilterMultiplier {
  const double* values = nullptr;
  MultiplierForm form = MultiplierForm::whole;
};

/// Filters planes: pad, real FFT, multiply by real even multipliers, inverse FFT, crop. Fourier and
/// cosine axes, the latter as real FFTs of reordered rows. Real symmetric operators. Plans are made
/// once, without measuring. Constant after construction; any thread may call it, each with spectra
/// and scratch of its own. The same bits for any number of threads. Rows of zeros take no time.
/// Memory of spectra and scratch begins at a multiple of 64 bytes, as HostBuffer's does; spectra
/// may follow each other.
/// From  Makhoul (1980), IEEE Trans. Acoust. Speech Signal Process. 28, 27
/// (cosine axes)
class PlaneFilter {
 public:
  /// Makes the plans of FFTs along both axes. Error  UsageError for impossible axes.
  PlaneFilter(const FilterAxis& x, const FilterAxis& y);
  ~PlaneFilter();
  PlaneFilter(PlaneFilter&&) noexcept;

  const FilterAxis& x() const;
  const FilterAxis& y() const;
  std::int64_t spectrum_size() const;              ///< complex numbers of the spectrum of a plane
  std::int64_t scratch_size(int n_threads) const;  ///< doubles

  /// plane     [y.size][x.size], rows `row_stride` apart
  /// spectrum  spectrum_size() numbers in an order of its own, overwritten
  void forward(const double* plane, std::int64_t row_stride, const FilterWindow& window,
               std::complex<double>* spectrum, double* scratch, int n_threads) const;
  /// Adds weight * multiplier * spectrum to `sum`, or overwrites it.
  /// multiplier  times scale(), which the inverse needs; not symmetric on cosine axes
  void multiply(const FilterMultiplier& multiplier, double weight,
                const std::complex<double>* spectrum, std::complex<double>* sum, Accumulate how,
                double* scratch, int n_threads) const;
  /// plane  [y.size_out][x.size_out], rows `row_stride` apart; overwritten or added to
  /// sum    its contents are lost
  void backward(std::complex<double>* sum, double* plane, std::int64_t row_stride, Accumulate how,
                double* scratch, int n_threads) const;

  /// The factor that multipliers must contain, so that a multiplier of `scale()` everywhere is the
  /// identity: one over the product of the FFTs' lengths and the like.
  double scale() const;

  /// Computes the multiplier of an even stencil on Fourier axes: result = sum of taps[|dy|][|dx|]
  /// times values at (dx, dy), wrapped around periods as often as it is longer. scale() included.
  /// taps  [n_y][n_x]
  /// multiplier  multiplier_size() numbers, overwritten. OpenMP.
  void multiplier_of_taps(std::span<const double> taps, std::int64_t n_x, std::int64_t n_y,
                          MultiplierForm form, std::span<double> multiplier) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave::detail::inline fft
