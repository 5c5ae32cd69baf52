// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/recurrence.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline legendre {
namespace {

constexpr std::int64_t whole_chunks(std::int64_t steps) {
  return (steps + sweep::chunk - 1) / sweep::chunk * sweep::chunk;
}

}  // namespace

RecurrenceByTwo::Scratch::Scratch(int lmax)
    : products_(whole_chunks(lmax / 2 + 1)), ratios_(products_.size()) {}

std::int64_t RecurrenceByTwo::Scratch::bytes() const { return held_bytes(products_, ratios_); }

RecurrenceByTwo::RecurrenceByTwo(int lmax, int lowest_order) : lmax_(lmax) {
  const std::int64_t steps = whole_chunks((lmax - lowest_order) / 2 + 1);
  e_.allocate(2 * steps + 2);
  alpha_.allocate(steps + 1);
  coefficients_.allocate(steps * sweep::stride_by_two);
}

void RecurrenceByTwo::prepare(int m, Scratch& scratch) {
  m_ = m;
  n_steps_ = whole_chunks((lmax_ - m) / 2 + 1);
  m <= highest_precise_order ? prepare_precisely() : prepare_fast(scratch);
}

void RecurrenceByTwo::prepare_precisely() {
  const auto e_at = [&](std::int64_t j) {
    const auto l = static_cast<long double>(m_ + j);
    return std::sqrt((l - m_) * (l + m_) / (4 * l * l - 1));
  };
  double* c = coefficients_.data();
  long double e[4] = {0, e_at(1), e_at(2), e_at(3)};  // e_{2k} .. e_{2k+3}
  long double alpha = 1 / e[1];
  long double next_alpha = 1 / e[3];
  for (std::int64_t k = 0; k < n_steps_; ++k) {
    if (k > 0) {
      const long double before = alpha;
      alpha = next_alpha;
      next_alpha = -before * (e[0] * e[1]) / (e[2] * e[3]);
    }
    e_[2 * k] = static_cast<double>(e[0]);
    e_[2 * k + 1] = static_cast<double>(e[1]);
    e_[2 * k + 2] = static_cast<double>(e[2]);
    alpha_[k] = static_cast<double>(alpha);
    const long double a = alpha / (e[2] * e[3] * next_alpha);
    const long double zero = e[1] * e[1] + e[2] * e[2];
    c[3 * k] = static_cast<double>(a);
    c[3 * k + 1] = static_cast<double>(-a * zero);
    c[3 * k + 2] = static_cast<double>(a * (1 - zero));
    e[0] = e[2];
    e[1] = e[3];
    e[2] = e_at(2 * k + 4);
    e[3] = e_at(2 * k + 5);
  }
}

void RecurrenceByTwo::prepare_fast(Scratch& scratch) {
  const std::int64_t n = n_steps_;
  double* e = e_.data();
  sweep::degree_factors(m_, 2 * n + 2, e);
  const double* products = scratch.products_.data();
  const double* ratios = scratch.ratios_.data();
  sweep::ratios_by_two(e, n, scratch.products_.data(), scratch.ratios_.data());
  double* alpha = alpha_.data();
  alpha[0] = 1 / e[1];
  alpha[1] = 1 / e[3];
  for (std::int64_t k = 1; k < n; ++k) alpha[k + 1] = -alpha[k - 1] * ratios[k - 1];
  sweep::coefficients_by_two(e, alpha, products, n, coefficients_.data());
}

std::int64_t RecurrenceByTwo::bytes() const { return held_bytes(e_, alpha_, coefficients_); }

RecurrenceByOne::RecurrenceByOne(int lmax) : lmax_(lmax) {
  const std::int64_t steps = whole_chunks(std::int64_t{lmax} + 1);
  numerators_.allocate(steps + 1);
  denominators_.allocate(steps + 1);
  e_.allocate(steps + 1);
  a_.allocate(steps + 1);
  gain_.allocate(steps + 1);
  coefficients_.allocate(steps * sweep::stride_by_one);
}

void RecurrenceByOne::begin(int m, int spin) {
  m_ = m;
  first_degree_ = std::max(m, spin);
  n_steps_ = first_degree_ > lmax_ ? 0 : whole_chunks(lmax_ - first_degree_ + 1);
}

void RecurrenceByOne::prepare_scalar(int m, const double* e) {
  begin(m, 0);
  prepare_gain(e);
  double* c = coefficients_.data();
  for (std::int64_t j = 0; j < n_steps_; ++j, c += sweep::stride_by_one) {
    c[0] = a_[j];
    c[1] = 0;
    c[2] = 0;
    c[3] = a_[j];
    c[4] = a_[j];
  }
}

void RecurrenceByOne::prepare(int m, int spin) {
  begin(m, spin);
  if (n_steps_ == 0) return;
  m <= highest_precise_order ? prepare_precisely(spin) : prepare_fast(spin);
}

void RecurrenceByOne::prepare_precisely(int spin) {
  const auto e_at = [&](std::int64_t j) {
    const auto l = static_cast<long double>(first_degree_ + j);
    return std::sqrt((l - m_) * (l + m_) * ((l - spin) * (l + spin)) / (l * l * (4 * l * l - 1)));
  };
  double* c = coefficients_.data();
  long double e = e_at(1);
  long double gain = 1;
  long double next_gain = 1;
  for (std::int64_t j = 0; j < n_steps_; ++j, c += sweep::stride_by_one) {
    if (j > 0) {
      const long double before = gain;
      const long double next_e = e_at(j + 1);
      gain = next_gain;
      next_gain = -before * e / next_e;
      e = next_e;
    }
    gain_[j] = static_cast<double>(gain);
    const auto l = static_cast<long double>(first_degree_ + j);
    const long double a = gain / (e * next_gain);
    const long double shift = static_cast<long double>(m_) * spin / (l * (l + 1));
    c[0] = static_cast<double>(a);
    c[1] = static_cast<double>(a * shift);
    c[2] = static_cast<double>(-a * shift);
    c[3] = static_cast<double>(a * (1 + shift));
    c[4] = static_cast<double>(a * (1 - shift));
  }
}

void RecurrenceByOne::prepare_fast(int spin) {
  const int m = m_;
  for (std::int64_t j = 0; j <= n_steps_; ++j) {
    const double l = static_cast<double>(first_degree_ + j);
    numerators_[j] = (l - m) * (l + m) * ((l - spin) * (l + spin));
    denominators_[j] = l * l * (4 * l * l - 1);
  }
  sweep::square_roots(numerators_.data(), denominators_.data(), e_.data(), n_steps_ + 1);
  prepare_gain(e_.data());
  double* c = coefficients_.data();
  for (std::int64_t j = 0; j < n_steps_; ++j, c += sweep::stride_by_one) {
    const double l = static_cast<double>(first_degree_ + j);
    const double shift = static_cast<double>(m) * spin / (l * (l + 1));
    c[0] = a_[j];
    c[1] = a_[j] * shift;
    c[2] = -a_[j] * shift;
    c[3] = a_[j] * (1 + shift);
    c[4] = a_[j] * (1 - shift);
  }
}

void RecurrenceByOne::prepare_gain(const double* e) {
  const std::int64_t n = n_steps_;
  double* ratio = numerators_.data();
  sweep::quotients(e, e + 1, ratio, n);
  gain_[0] = 1;
  gain_[1] = 1;
  for (std::int64_t j = 1; j < n; ++j) gain_[j + 1] = -gain_[j - 1] * ratio[j];
  double* product = denominators_.data();
  for (std::int64_t j = 0; j < n; ++j) product[j] = e[j + 1] * gain_[j + 1];
  sweep::quotients(gain_.data(), product, a_.data(), n);
}

template <class T>
void RecurrenceByOne::precondition(const std::complex<T>* e, const std::complex<T>* b,
                                   double* columns) const {
  const std::int64_t n_degrees = lmax_ - first_degree_ + 1;
  const std::int64_t skip = first_degree_ - m_;
  for (std::int64_t j = 0; j < n_steps_; ++j, columns += 4) {
    if (j >= n_degrees) {
      std::fill_n(columns, 4, 0.0);
      continue;
    }
    const std::complex<double> gradient(e[skip + j]);
    const std::complex<double> curl(b[skip + j]);
    columns[0] = gain_[j] * (gradient.real() - curl.imag());
    columns[1] = gain_[j] * (gradient.imag() + curl.real());
    columns[2] = gain_[j] * (gradient.real() + curl.imag());
    columns[3] = gain_[j] * (gradient.imag() - curl.real());
  }
}

void RecurrenceByOne::restore(const double* columns, std::complex<double>* e,
                              std::complex<double>* b) const {
  const std::int64_t skip = std::min(first_degree_, lmax_ + 1) - m_;
  std::fill_n(e, skip, 0.0);
  std::fill_n(b, skip, 0.0);
  for (std::int64_t j = 0; j <= lmax_ - first_degree_; ++j, columns += 4) {
    const double half = 0.5 * gain_[j];
    e[skip + j] = {half * (columns[0] + columns[2]), half * (columns[1] + columns[3])};
    b[skip + j] = {half * (columns[1] - columns[3]), half * (columns[2] - columns[0])};
  }
}

template <class T>
void RecurrenceByOne::precondition(std::span<const std::complex<T>> alm, double* columns,
                                   std::int64_t stride) const {
  const std::int64_t n_degrees = std::min(ssize64(alm), n_steps_);
  for (std::int64_t j = 0; j < n_degrees; ++j) {
    const std::complex<double> value(alm[to_size(j)]);
    columns[j * stride] = gain_[j] * value.real();
    columns[j * stride + 1] = gain_[j] * value.imag();
  }
  for (std::int64_t j = n_degrees; j < n_steps_; ++j) std::fill_n(columns + j * stride, 2, 0.0);
}

void RecurrenceByOne::restore_add(const double* columns, std::int64_t stride,
                                  std::span<std::complex<double>> alm) const {
  for (std::int64_t j = 0; j < ssize64(alm); ++j, columns += stride) {
    alm[to_size(j)] += std::complex<double>(gain_[j] * columns[0], gain_[j] * columns[1]);
  }
}

std::int64_t RecurrenceByOne::bytes() const {
  return held_bytes(numerators_, denominators_, e_, a_, gain_, coefficients_);
}

template void RecurrenceByOne::precondition(std::span<const std::complex<double>>, double*,
                                            std::int64_t) const;
template void RecurrenceByOne::precondition(std::span<const std::complex<float>>, double*,
                                            std::int64_t) const;
template void RecurrenceByOne::precondition(const std::complex<double>*,
                                            const std::complex<double>*, double*) const;
template void RecurrenceByOne::precondition(const std::complex<float>*, const std::complex<float>*,
                                            double*) const;

// lambda_{+-s} at l = high: norm sin^{high - low} (1 -+ z)^low, times (-1)^m for +s, (-1)^high for
// -s.
sweep::Seed spin_seed(int m, int spin, double norm) {
  const int high = std::max(m, spin);
  const int low = std::min(m, spin);
  double ratio = 1;
  for (int j = 1; j <= low; ++j) ratio *= static_cast<double>(high - j + 1) / (high + j);
  const double size = norm * std::sqrt(ratio);
  return {{sign_of(m) * size, sign_of(high) * size}, high - low, low};
}

std::vector<double> sectoral_norms(int mmax) {
  std::vector<double> norms;
  long double square = 0.25L / std::numbers::pi_v<long double>;
  for (int m = 0; m <= mmax; ++m) {
    norms.push_back(static_cast<double>(std::sqrt(square)));
    square *= (2.0L * m + 3) / (2.0L * m + 2);
  }
  return norms;
}

}  // namespace ringweave::detail::inline legendre
