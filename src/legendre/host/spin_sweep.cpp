// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/spin_sweep.hpp"

#include <algorithm>

namespace ringweave::detail::inline legendre {
namespace {

using Complex = std::complex<double>;

}  // namespace

SpinSweep::SpinSweep(const PairTables& pairs, const PairIndex& places, int lmax)
    : pairs_(&pairs),
      places_(&places),
      recurrence_(lmax),
      columns_((lmax + 1 + sweep::chunk) * shape.n_columns()),
      sums_(pairs.padded_size() * shape.n_sums()),
      adjoint_scratch_(sweep::adjoint_scratch(shape, pairs.count())),
      rows_(2 * (std::int64_t{lmax} + 1)) {}

void SpinSweep::prepare(int m, int spin, std::int64_t first_pair, std::int64_t end_pair,
                        double norm) {
  swept_ = pairs_->by_one();
  swept_.count = std::min(end_pair, swept_.count);
  recurrence_.prepare(m, spin);
  parity_ = sign_of(spin);
  south_ = sign_of(std::max(m, spin) + m);
  order_ = {spin_seed(m, spin, norm), recurrence_.coefficients(), recurrence_.n_steps(),
            first_pair};
}

template <class T>
void SpinSweep::set_alm(const std::complex<T>* e, const std::complex<T>* b) {
  recurrence_.precondition(e, b, columns_.data());
}

void SpinSweep::synthesize() {
  sweep::synthesize(swept_, order_, shape, columns_.data(), sums_.data(), pairs_->padded_size());
}

void SpinSweep::clear() {
  const std::int64_t stride = pairs_->padded_size();
  const std::int64_t first = sweep::first_touched(order_.first_pair);
  for (std::int64_t i = 0; i < shape.n_sums(); ++i) {
    std::fill(sums_.begin() + i * stride + first, sums_.begin() + (i + 1) * stride, 0.0);
  }
}

void SpinSweep::adjoint() {
  sweep::adjoint(swept_, order_, shape, sums_.data(), pairs_->padded_size(), columns_.data(),
                 adjoint_scratch_.data());
}

std::pair<const Complex*, const Complex*> SpinSweep::alm() {
  Complex* e = rows_.data();
  Complex* b = rows_.data() + rows_.size() / 2;
  recurrence_.restore(columns_.data(), e, b);
  return {e, b};
}

std::int64_t SpinSweep::bytes() const {
  const std::int64_t doubles =
      columns_.size() + sums_.size() + adjoint_scratch_.size() + 2 * rows_.size();
  return recurrence_.bytes() + doubles * static_cast<std::int64_t>(sizeof(double));
}

template void SpinSweep::set_alm(const std::complex<double>*, const std::complex<double>*);
template void SpinSweep::set_alm(const std::complex<float>*, const std::complex<float>*);

}  // namespace ringweave::detail::inline legendre
