// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/shared/spin_ladder.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "legendre/shared/recurrence.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Complex = std::complex<double>;

constexpr Complex times_i(Complex value) { return {-value.imag(), value.real()}; }

}  // namespace

SpinLadder::SpinLadder(int spin, int lmax) : spin_(spin), lmax_(lmax) {
  for (int s = 1; s <= spin; ++s) {
    const std::int64_t size = std::int64_t{lmax} + spin + 2;
    Step& step = steps_.emplace_back();
    for (HostBuffer<double>* table : {&step.u, &step.v, &step.w}) {
      table->allocate(size);
      std::fill(table->begin(), table->end(), 0.0);
    }
    for (std::int64_t i = s; i < size; ++i) {
      const double l = static_cast<double>(i);
      step.u[i] = std::sqrt((l - s + 1) * (l - s + 2)) / (l + 1);
      step.v[i] = std::sqrt((l + s - 1) * (l + s)) / l;
      step.w[i] = std::sqrt((l - s + 1) * (l + s)) / (l * (l + 1));
    }
  }
}

// Index j of a row is degree m + j. Before the step from spin s a row ends at degree lmax + spin -
// s; rows are zero below their spin, where u, v and w are zero too.
template <class T>
void SpinLadder::lower(int m, const double* e_table, const std::complex<T>* e,
                       const std::complex<T>* b, Complex* q, Complex* u, Scratch& scratch) const {
  // One zero entry before the row and two after it serve as neighbours.
  Complex* plus = scratch.plus_.data() + 1;
  Complex* minus = scratch.minus_.data() + 1;
  std::int64_t n = std::int64_t{lmax_} - m + 1;
  const std::int64_t skip = std::clamp<std::int64_t>(spin_ - m, 0, n);
  std::fill_n(plus - 1, skip + 1, Complex());
  std::fill_n(minus - 1, skip + 1, Complex());
  for (std::int64_t j = skip; j < n; ++j) {
    const Complex gradient(e[j]);
    const Complex curl = times_i(Complex(b[j]));
    plus[j] = gradient + curl;
    minus[j] = gradient - curl;
  }
  for (int s = spin_; s > 0; --s, ++n) {
    const Step& step = steps_[to_size(s - 1)];
    const double* above = step.u.data() + m;
    const double* below = step.v.data() + m + 1;
    const double* beside = step.w.data() + m;
    plus[n] = minus[n] = plus[n + 1] = minus[n + 1] = 0;
    // In place: entry j of a row is needed once more, for entry j + 1.
    Complex plus_before = 0;
    Complex minus_before = 0;
    for (std::int64_t j = 0; j <= n; ++j) {
      const double from_below = j == 0 ? 0 : e_table[j] * above[j - 1];
      const double from_above = -e_table[j + 1] * below[j];
      const double from_here = m * beside[j];
      const Complex plus_here = plus[j];
      const Complex minus_here = minus[j];
      plus[j] = from_here * plus_here - (from_below * plus_before + from_above * plus[j + 1]);
      minus[j] = from_here * minus_here + (from_below * minus_before + from_above * minus[j + 1]);
      plus_before = plus_here;
      minus_before = minus_here;
    }
  }
  const double parity = sign_of(spin_);
  for (std::int64_t j = 0; j < n; ++j) {
    q[j] = -0.5 * (plus[j] + parity * minus[j]);
    u[j] = times_i(0.5 * (plus[j] - parity * minus[j]));
  }
}

void SpinLadder::raise(int m, const double* e_table, const Complex* q, const Complex* u, Complex* e,
                       Complex* b, Scratch& scratch) const {
  Complex* plus = scratch.plus_.data() + 1;
  Complex* minus = scratch.minus_.data() + 1;
  std::int64_t n = std::int64_t{lmax_} + spin_ - m + 1;
  const double parity = sign_of(spin_);
  for (std::int64_t j = 0; j < n; ++j) {
    const Complex i_u = times_i(u[j]);
    plus[j] = -(q[j] + i_u);
    minus[j] = -parity * (q[j] - i_u);
  }
  for (int s = 1; s <= spin_; ++s) {
    --n;
    const Step& step = steps_[to_size(s - 1)];
    const double* up = step.u.data() + m;
    const double* down = step.v.data() + m;
    const double* beside = step.w.data() + m;
    Complex plus_before = 0;
    Complex minus_before = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double to_above = e_table[j + 1] * up[j];
      const double to_below = -e_table[j] * down[j];
      const double to_here = m * beside[j];
      const Complex plus_here = plus[j];
      const Complex minus_here = minus[j];
      plus[j] = to_here * plus_here - (to_above * plus[j + 1] + to_below * plus_before);
      minus[j] = to_here * minus_here + (to_above * minus[j + 1] + to_below * minus_before);
      plus_before = plus_here;
      minus_before = minus_here;
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    e[j] = 0.5 * (plus[j] + minus[j]);
    b[j] = times_i(-0.5 * (plus[j] - minus[j]));
  }
}

std::int64_t SpinLadder::bytes() const {
  std::int64_t doubles = 0;
  for (const Step& step : steps_) doubles += step.u.size() + step.v.size() + step.w.size();
  return doubles * static_cast<std::int64_t>(sizeof(double));
}

template void SpinLadder::lower(int, const double*, const std::complex<double>*,
                                const std::complex<double>*, Complex*, Complex*, Scratch&) const;
template void SpinLadder::lower(int, const double*, const std::complex<float>*,
                                const std::complex<float>*, Complex*, Complex*, Scratch&) const;

}  // namespace ringweave::detail::inline legendre
