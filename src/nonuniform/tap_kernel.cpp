// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>

#include "base/checked_cast.hpp"
#include "nonuniform/tap_modes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

using Long = long double;
using TapSeries = std::vector<std::vector<Long>>;  ///< Chebyshev coefficients, [tap < half][k]

constexpr int n_error_frequencies = 101;
// Taps are entire functions of the offset: the series fall below the rounding of long double before
// this degree.
constexpr std::size_t n_tap_series = 28;
// More would only add rounding.
constexpr int most_terms = 9;
// Where modes are amplified most, the error of the polynomials counts for more.
constexpr Long accepted_error = 1.03L;
// log h is analytic in the square of the frequency up to the first zero of h, more than twice as
// far as the band reaches.
constexpr std::size_t n_transform_series = 26;

/// Fits sum_k c_k T_k(x) through the values at the nodes x_j = cos(pi (j + 1/2) / n).
std::vector<Long> chebyshev_series(std::span<const Long> values) {
  const std::size_t n = values.size();
  std::vector<Long> series(n, 0);
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t j = 0; j < n; ++j) {
      const auto turns = static_cast<Long>(k * (2 * j + 1) % (4 * n)) / static_cast<Long>(2 * n);
      series[k] += values[j] * std::cos(std::numbers::pi_v<Long> * turns);
    }
    series[k] *= Long(k == 0 ? 1 : 2) / static_cast<Long>(n);
  }
  return series;
}

std::vector<Long> chebyshev_nodes(std::size_t n) {
  std::vector<Long> nodes;
  for (std::size_t j = 0; j < n; ++j) {
    nodes.push_back(std::cos(std::numbers::pi_v<Long> * static_cast<Long>(2 * j + 1) /
                             static_cast<Long>(2 * n)));
  }
  return nodes;
}

double chebyshev_sum(const std::vector<double>& series, double x) {
  double value = 0;
  double before = 0;
  for (std::size_t k = series.size() - 1; k > 0; --k) {
    const double next = series[k] + 2 * x * value - before;
    before = value;
    value = next;
  }
  return series[0] + x * value - before;
}

/// Returns the coefficients of 1, x, x^2, ... of the first n terms of a Chebyshev series.
std::vector<Long> powers_of_series(std::span<const Long> series, std::size_t n) {
  std::vector<Long> powers(n, 0);
  std::vector<Long> before(n, 0);  // T_(k-1)
  std::vector<Long> term(n, 0);    // T_k
  term[0] = 1;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) powers[i] += series[k] * term[i];
    std::vector<Long> next(n, 0);
    for (std::size_t i = 0; i < n; ++i) {
      next[i] = -before[i] + (i > 0 ? (k == 0 ? 1 : 2) * term[i - 1] : 0);
    }
    before = std::move(term);
    term = std::move(next);
  }
  return powers;
}

template <class Value>
std::vector<Long> values_of_taps(const TapModes& modes, int width, Value value) {
  std::vector<Long> values;
  for (const Long x : modes.offsets()) {
    for (int i = 0; i < width; ++i) values.push_back(value(i, x));
  }
  return values;
}

std::vector<Long> values_of(const TapModes& modes, const TapShape& shape) {
  return values_of_taps(modes, shape.width, [&](int i, Long x) {
    return shape(2 * modes.tap_position(i, x) / static_cast<Long>(shape.width));
  });
}
std::vector<Long> values_of(const TapModes& modes, const TapPolynomials& taps) {
  return values_of_taps(modes, taps.width,
                        [&](int i, Long x) { return tap_value(taps, i, static_cast<double>(x)); });
}

/// Returns the error of the worst mode.
template <class Taps>
Long worst_error(const TapModes& modes, const Taps& taps) {
  const std::vector<Long> values = values_of(modes, taps);
  Long worst = 0;
  for (std::size_t k = 0; k < modes.frequencies().size(); ++k)
    worst = std::max(worst, modes.sums(k, values).error());
  return worst;
}

TapSeries series_of_taps(const TapShape& shape) {
  const TapModes positions(shape.width, {});
  TapSeries series;
  for (int i = 0; 2 * i < shape.width; ++i) {
    std::vector<Long> values;
    for (const Long x : chebyshev_nodes(n_tap_series))
      values.push_back(shape(2 * positions.tap_position(i, x) / static_cast<Long>(shape.width)));
    series.push_back(chebyshev_series(values));
  }
  return series;
}

/// Returns how many even and odd terms of all series leave less than `tolerance`.
int terms_needed(const TapSeries& series, Long tolerance) {
  int n_terms = 1;
  for (const std::vector<Long>& tap : series) {
    Long rest = 0;
    std::size_t k = tap.size();
    while (k > 0 && rest + std::abs(tap[k - 1]) <= tolerance) rest += std::abs(tap[--k]);
    n_terms = std::max(n_terms, static_cast<int>(k + 1) / 2);
  }
  return std::min(n_terms, most_terms);
}

}  // namespace

TapKernel::TapKernel(int width, double oversampling) : oversampling_(oversampling), shape_{} {
  if (width < least_width || width > most_width || !(oversampling > 1)) {
    throw InternalError(fmt::format("{} taps with oversampling {}; expected {} to {} and above 1",
                                    width, oversampling, least_width, most_width));
  }
  shape_ = fit_tap_shape(width, oversampling);
  const TapModes modes(width, crowded_frequencies(n_error_frequencies, 0.5 / oversampling));
  const Long least_error = worst_error(modes, shape_);
  const TapSeries series = series_of_taps(shape_);
  n_terms_ = terms_needed(series, least_error / 30) - 1;
  do {
    ++n_terms_;
    fill_polynomials(series);
    error_ = static_cast<double>(worst_error(modes, polynomials()));
  } while (error_ > accepted_error * least_error && n_terms_ < most_terms);
  fit_transform();
}

void TapKernel::fill_polynomials(const TapSeries& series) {
  const int half = polynomials().half;
  coefficients_.allocate(2 * half * n_terms_);
  std::fill(coefficients_.begin(), coefficients_.end(), 0.0);
  for (int i = 0; i < std::min(half, width()); ++i) {
    const int mirrored = width() - 1 - i;
    const std::vector<Long> powers =
        powers_of_series(series[to_size(std::min(i, mirrored))], to_size(2 * n_terms_));
    for (int k = 0; k < n_terms_; ++k) {
      double* row = coefficients_.data() + 2 * half * k + i;
      row[0] = static_cast<double>(powers[to_size(2 * k)]);
      // The tap in the middle is its own mirror image.
      const auto odd = static_cast<double>(powers[to_size(2 * k + 1)]);
      row[half] = i < mirrored ? odd : i > mirrored ? -odd : 0.0;
    }
  }
}

void TapKernel::fit_transform() {
  const std::vector<Long> nodes = chebyshev_nodes(n_transform_series);
  std::vector<double> frequencies;
  for (const Long x : nodes)
    frequencies.push_back(0.5 / oversampling_ * std::sqrt(static_cast<double>(1 + x) / 2));
  const TapModes modes(width(), frequencies);
  const std::vector<Long> taps = values_of(modes, polynomials());
  std::vector<Long> logarithms;
  for (std::size_t k = 0; k < frequencies.size(); ++k)
    logarithms.push_back(std::log(modes.sums(k, taps).mean));
  const std::vector<Long> series = chebyshev_series(logarithms);
  log_transform_.assign(series.begin(), series.end());
}

TapPolynomials TapKernel::polynomials() const {
  return {coefficients_.data(), width(), width() <= 8 ? 4 : 8, n_terms_};
}

double TapKernel::transform(double frequency) const {
  const double part = 2 * oversampling_ * frequency;
  return std::exp(chebyshev_sum(log_transform_, 2 * part * part - 1));
}

double TapKernel::error(double frequency) const {
  const TapModes modes(width(), {frequency});
  return static_cast<double>(modes.sums(0, values_of(modes, polynomials())).error());
}

}  // namespace ringweave::detail::inline nonuniform
