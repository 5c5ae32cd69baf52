// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/recurrence.hpp"

#include <algorithm>

namespace ringweave {
namespace {

constexpr std::int64_t whole_chunks(std::int64_t steps) {
  return (steps + sweep::chunk - 1) / sweep::chunk * sweep::chunk;
}

template <class T>
void deliver(double re, double im, std::complex<T>& target, LegendreStage::Accumulate how) {
  if (how == LegendreStage::Accumulate::add) {
    re += static_cast<double>(target.real());
    im += static_cast<double>(target.imag());
  }
  target = {static_cast<T>(re), static_cast<T>(im)};
}

std::int64_t held(const HostBuffer<double>& buffer) {
  return buffer.size() * static_cast<std::int64_t>(sizeof(double));
}

}  // namespace

ScalarRecurrence::ScalarRecurrence(int lmax) : lmax_(lmax) {
  const std::int64_t steps = whole_chunks(lmax / 2 + 1);
  numerators_.allocate(2 * steps + 2);
  denominators_.allocate(2 * steps + 2);
  e_.allocate(2 * steps + 2);
  alpha_.allocate(steps + 1);
  coefficients_.allocate(steps * sweep::coefficient_stride(1));
}

void ScalarRecurrence::prepare(int m) {
  m_ = m;
  n_steps_ = whole_chunks((lmax_ - m) / 2 + 1);
  const std::int64_t n = n_steps_;
  double* squares = numerators_.data();
  double* denominators = denominators_.data();
  for (std::int64_t j = 0; j < 2 * n + 2; ++j) {
    const double l = static_cast<double>(m + j);
    squares[j] = static_cast<double>(j) * static_cast<double>(2 * std::int64_t{m} + j);
    denominators[j] = 4 * l * l - 1;
  }
  denominators[0] = 1;  // e_0 = 0 also for l = 0
  sweep::square_roots(squares, denominators, e_.data(), 2 * n + 2);
  const double* e = e_.data();

  double* alpha = alpha_.data();
  double* product = denominators;
  double* ratio = squares;
  for (std::int64_t k = 0; k < n; ++k) product[k] = e[2 * k + 2] * e[2 * k + 3];
  for (std::int64_t k = 1; k < n; ++k) ratio[k] = product[k - 1] / product[k];
  alpha[0] = 1 / e[1];
  alpha[1] = 1 / e[3];
  for (std::int64_t k = 1; k < n; ++k) alpha[k + 1] = -alpha[k - 1] * ratio[k];

  double* c = coefficients_.data();
  for (std::int64_t k = 0; k < n; ++k) {
    const double a = alpha[k] / (product[k] * alpha[k + 1]);
    const double zero = e[2 * k + 1] * e[2 * k + 1] + e[2 * k + 2] * e[2 * k + 2];
    c[3 * k] = a;
    c[3 * k + 1] = -a * zero;
    c[3 * k + 2] = a * (1 - zero);
  }
}

template <class T>
void ScalarRecurrence::precondition(const std::complex<T>* alm, double* columns, std::int64_t stride) const {
  const std::int64_t n_degrees = lmax_ - m_ + 1;
  const auto coefficient = [&](std::int64_t j) {
    return j < n_degrees ? std::complex<double>(alm[j]) : std::complex<double>();
  };
  const double* e = e_.data();
  std::complex<double> even = coefficient(0);
  for (std::int64_t k = 0; k < n_steps_; ++k, columns += stride) {
    const std::complex<double> next_even = coefficient(2 * k + 2);
    const std::complex<double> odd = coefficient(2 * k + 1);
    const double here = alpha_[k] * e[2 * k + 1];
    const double next = alpha_[k] * e[2 * k + 2];
    columns[0] = here * even.real() + next * next_even.real();
    columns[1] = here * even.imag() + next * next_even.imag();
    columns[2] = alpha_[k] * odd.real();
    columns[3] = alpha_[k] * odd.imag();
    even = next_even;
  }
}

template <class T>
void ScalarRecurrence::restore(const double* columns, std::int64_t stride, std::complex<T>* alm,
                               LegendreStage::Accumulate how) const {
  const std::int64_t n_degrees = lmax_ - m_ + 1;
  const double* e = e_.data();
  double before_re = 0;
  double before_im = 0;
  for (std::int64_t k = 0; 2 * k < n_degrees; ++k, columns += stride) {
    const double alpha = alpha_[k];
    deliver(alpha * e[2 * k + 1] * columns[0] + before_re, alpha * e[2 * k + 1] * columns[1] + before_im, alm[2 * k],
            how);
    if (2 * k + 1 < n_degrees) deliver(alpha * columns[2], alpha * columns[3], alm[2 * k + 1], how);
    before_re = alpha * e[2 * k + 2] * columns[0];
    before_im = alpha * e[2 * k + 2] * columns[1];
  }
}

std::int64_t ScalarRecurrence::bytes() const {
  return held(numerators_) + held(denominators_) + held(e_) + held(alpha_) + held(coefficients_);
}

SpinRecurrence::SpinRecurrence(int lmax) : lmax_(lmax) {
  const std::int64_t steps = whole_chunks(std::int64_t{lmax} + 1);
  numerators_.allocate(steps + 1);
  denominators_.allocate(steps + 1);
  a_.allocate(steps + 1);
  gain_.allocate(steps + 1);
  coefficients_.allocate(steps * sweep::coefficient_stride(2));
}

void SpinRecurrence::prepare(int m, int spin) {
  m_ = m;
  first_degree_ = std::max(m, spin);
  n_steps_ = first_degree_ > lmax_ ? 0 : whole_chunks(lmax_ - first_degree_ + 1);
  const std::int64_t n = n_steps_;
  if (n == 0) return;
  for (std::int64_t j = 0; j <= n; ++j) {
    const double l = static_cast<double>(first_degree_ + j);
    numerators_[j] = (l - m) * (l + m) * ((l - spin) * (l + spin));
    denominators_[j] = l * l * (4 * l * l - 1);
  }
  sweep::square_roots(numerators_.data(), denominators_.data(), a_.data(), n + 1);

  gain_[0] = 1;
  gain_[1] = 1;
  for (std::int64_t j = 1; j < n; ++j) gain_[j + 1] = -gain_[j - 1] * (a_[j] / a_[j + 1]);

  double* c = coefficients_.data();
  for (std::int64_t j = 0; j < n; ++j, c += sweep::coefficient_stride(2)) {
    const double l = static_cast<double>(first_degree_ + j);
    const double a = gain_[j] / (a_[j + 1] * gain_[j + 1]);
    const double shift = static_cast<double>(m) * spin / (l * (l + 1));
    c[0] = a;
    c[1] = a * shift;
    c[2] = -a * shift;
    c[3] = a * (1 + shift);
    c[4] = a * (1 - shift);
  }
}

template <class T>
void SpinRecurrence::precondition(const std::complex<T>* e, const std::complex<T>* b, double* columns) const {
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

template <class T>
void SpinRecurrence::restore(const double* columns, std::complex<T>* e, std::complex<T>* b,
                             LegendreStage::Accumulate how) const {
  const std::int64_t skip = std::min(first_degree_, lmax_ + 1) - m_;
  for (std::int64_t j = 0; j < skip; ++j) {
    deliver(0, 0, e[j], how);
    deliver(0, 0, b[j], how);
  }
  for (std::int64_t j = 0; j <= lmax_ - first_degree_; ++j, columns += 4) {
    const double half = 0.5 * gain_[j];
    deliver(half * (columns[0] + columns[2]), half * (columns[1] + columns[3]), e[skip + j], how);
    deliver(half * (columns[1] - columns[3]), half * (columns[2] - columns[0]), b[skip + j], how);
  }
}

std::int64_t SpinRecurrence::bytes() const {
  return held(numerators_) + held(denominators_) + held(a_) + held(gain_) + held(coefficients_);
}

template void ScalarRecurrence::precondition(const std::complex<double>*, double*, std::int64_t) const;
template void ScalarRecurrence::precondition(const std::complex<float>*, double*, std::int64_t) const;
template void ScalarRecurrence::restore(const double*, std::int64_t, std::complex<double>*,
                                        LegendreStage::Accumulate) const;
template void ScalarRecurrence::restore(const double*, std::int64_t, std::complex<float>*,
                                        LegendreStage::Accumulate) const;
template void SpinRecurrence::precondition(const std::complex<double>*, const std::complex<double>*, double*) const;
template void SpinRecurrence::precondition(const std::complex<float>*, const std::complex<float>*, double*) const;
template void SpinRecurrence::restore(const double*, std::complex<double>*, std::complex<double>*,
                                      LegendreStage::Accumulate) const;
template void SpinRecurrence::restore(const double*, std::complex<float>*, std::complex<float>*,
                                      LegendreStage::Accumulate) const;

}  // namespace ringweave
