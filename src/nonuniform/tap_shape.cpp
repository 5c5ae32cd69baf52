// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_shape.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "nonuniform/tap_modes.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

using Long = long double;
constexpr int n_terms = TapShape::n_corrections + 1;
using LongTerms = std::array<Long, n_terms>;
using Terms = std::array<double, n_terms>;

// With fewer the fit hides its error between them.
constexpr int n_frequencies = 45;
constexpr int n_reweightings = 16;
// b over pi width (1 - 1 / (2 oversampling)).
constexpr double least_factor = 0.90;
constexpr double most_factor = 1.08;
constexpr int n_factors = 10;
constexpr int middle_factor = 5;

/// Returns the modified Bessel function of order 0 of the root of `square`.
Long bessel_of_root(Long square) {
  Long sum = 1;
  Long term = 1;
  for (int k = 1; term > sum * std::numeric_limits<Long>::epsilon() / 4; ++k) {
    term *= square / (4 * static_cast<Long>(k) * static_cast<Long>(k));
    sum += term;
  }
  return sum;
}

LongTerms legendre_terms(Long x) {
  LongTerms terms{};
  Long before = 1;
  Long value = x;
  terms[0] = 1;
  for (int l = 2; l < 2 * n_terms; ++l) {
    const Long next = ((2 * l - 1) * x * value - (l - 1) * before) / l;
    before = std::exchange(value, next);
    if (l % 2 == 0) terms[to_size(l / 2)] = value;
  }
  return terms;
}

/// The sums of one mode as functions of the terms' coefficients c, c_0 = 1. In double: remainders
/// are small already, so that rounding is as small relative to them.
struct ModeTerms {
  Terms mean{};
  std::vector<Terms> remainders;  ///< [offset][real, imaginary]
};

double product(const Terms& a, const Terms& b) {
  double sum = 0;
  for (std::size_t i = 0; i < n_terms; ++i) sum += a[i] * b[i];
  return sum;
}

std::vector<ModeTerms> mode_terms(const TapModes& modes, int width, Long b) {
  std::array<std::vector<Long>, n_terms> taps;
  const Long at_centre = bessel_of_root(b * b);
  for (const Long offset : modes.offsets()) {
    for (int i = 0; i < width; ++i) {
      const Long x = 2 * modes.tap_position(i, offset) / width;
      const LongTerms terms = legendre_terms(x);
      const Long value = bessel_of_root(b * b * (1 - x * x)) / at_centre;
      for (std::size_t j = 0; j < n_terms; ++j) taps[j].push_back(value * terms[j]);
    }
  }
  std::vector<ModeTerms> terms(modes.frequencies().size());
  for (std::size_t k = 0; k < terms.size(); ++k) {
    terms[k].remainders.resize(2 * modes.offsets().size());
    for (std::size_t j = 0; j < n_terms; ++j) {
      const TapModes::Sums sums = modes.sums(k, taps[j]);
      terms[k].mean[j] = static_cast<double>(sums.mean);
      for (std::size_t q = 0; q < sums.remainders.size(); ++q)
        terms[k].remainders[q][j] = static_cast<double>(sums.remainders[q]);
    }
  }
  return terms;
}

/// Returns c, c_0 = 1, that minimises c^T square c.
Terms least_squares(std::array<Terms, n_terms> square) {
  // Elimination without pivoting, from the last unknown: the matrix is positive.
  for (std::size_t p = n_terms - 1; p > 0; --p) {
    for (std::size_t i = 0; i < p; ++i) {
      const double ratio = square[i][p] / square[p][p];
      for (std::size_t j = 0; j < p; ++j) square[i][j] -= ratio * square[p][j];
    }
  }
  Terms c{};
  c[0] = 1;
  for (std::size_t p = 1; p < n_terms; ++p) {
    double sum = 0;
    for (std::size_t j = 0; j < p; ++j) sum += square[p][j] * c[j];
    c[p] = -sum / square[p][p];
  }
  return c;
}

struct Fit {
  Terms c{};
  double error = std::numeric_limits<double>::infinity();  ///< of the worst mode and offset
};

/// Fits c by least squares of the errors of all modes at all offsets, with weights that grow where
/// errors are large until all are as small as the largest can be (Lawson's method).
Fit fit_terms(const std::vector<ModeTerms>& modes) {
  Fit best;
  const std::size_t n_offsets = modes.front().remainders.size() / 2;
  std::vector<double> weights(modes.size() * n_offsets, 1);
  Terms c{};
  c[0] = 1;
  for (int step = 0; step < n_reweightings; ++step) {
    std::array<Terms, n_terms> square{};
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const double h = product(c, modes[k].mean);
      for (std::size_t q = 0; q < 2 * n_offsets; ++q) {
        const Terms& remainder = modes[k].remainders[q];
        const double factor = weights[k * n_offsets + q / 2] / (h * h);
        for (std::size_t i = 0; i < n_terms; ++i) {
          const double scaled = factor * remainder[i];
          for (std::size_t j = 0; j < n_terms; ++j) square[i][j] += scaled * remainder[j];
        }
      }
    }
    Fit fit;
    fit.c = c = least_squares(square);
    fit.error = 0;
    double sum = 0;
    for (std::size_t k = 0; k < modes.size(); ++k) {
      const double h = std::abs(product(c, modes[k].mean));
      for (std::size_t q = 0; q < n_offsets; ++q) {
        const double re = product(c, modes[k].remainders[2 * q]) / h;
        const double im = product(c, modes[k].remainders[2 * q + 1]) / h;
        const double error = std::sqrt(re * re + im * im);
        fit.error = std::max(fit.error, error);
        double& weight = weights[k * n_offsets + q];
        weight *= error;
        sum += weight;
      }
    }
    for (double& weight : weights) weight /= sum;
    if (fit.error < best.error) best = fit;
  }
  return best;
}

}  // namespace

long double TapShape::operator()(long double x) const {
  const LongTerms terms = legendre_terms(x);
  Long sum = 1;
  for (std::size_t j = 0; j < n_corrections; ++j) sum += corrections[j] * terms[j + 1];
  return bessel_of_root(b * b * (1 - x * x)) / bessel_of_root(b * b) * sum;
}

TapShape fit_tap_shape(int width, double oversampling) {
  const TapModes modes(width, crowded_frequencies(n_frequencies, 0.5 / oversampling));
  TapShape best{};
  double least = std::numeric_limits<double>::infinity();
  const auto improves = [&](int k) {
    if (k < 0 || k >= n_factors) return false;
    const double factor = least_factor + (most_factor - least_factor) * k / (n_factors - 1);
    const Long b = std::numbers::pi_v<Long> * width * factor * (1 - 0.5 / oversampling);
    const Fit fit = fit_terms(mode_terms(modes, width, b));
    if (fit.error >= least) return false;
    least = fit.error;
    best = {width, b, {}};
    std::copy(fit.c.begin() + 1, fit.c.end(), best.corrections.begin());
    return true;
  };
  // Downhill on both sides of a start in the middle: the best of all, to 0.1 % of the error.
  improves(middle_factor);
  int k = middle_factor;
  while (improves(k + 1)) ++k;
  if (k > middle_factor) return best;
  while (improves(k - 1)) --k;
  return best;
}

}  // namespace ringweave::detail::inline nonuniform
