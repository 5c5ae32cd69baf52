// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/scalar_sweep.hpp"

#include <algorithm>

namespace ringweave {
namespace {

using Complex = std::complex<double>;

// Below this degree steps of two degrees are exact enough on every ring.
constexpr int least_lmax_for_equator = 1000;

}  // namespace

ScalarSweep::ScalarSweep(const PairTables& pairs, const RingPlaces& places, int lmax, int max_maps)
    : pairs_(&pairs),
      places_(&places),
      pairs_by_two_(pairs.by_two()),
      split_(lmax < least_lmax_for_equator ? pairs.count() : pairs.first_equatorial()),
      equator_size_(split_ < pairs.count() ? pairs.padded_size() - split_ : 0),
      by_two_(lmax),
      by_one_(has_equator() ? lmax : 0),
      columns_by_two_((lmax / 2 + 1 + sweep::chunk) * 4 * max_maps * sweep::lanes()),
      columns_by_one_(has_equator() ? (lmax + 1 + sweep::chunk) * 2 * max_maps * sweep::lanes()
                                    : 0),
      sums_(pairs.padded_size() * 4 * max_maps),
      equator_sums_(equator_size_ * 4 * max_maps),
      row_(std::int64_t{lmax} + 1) {
  pairs_by_two_.count = split_;
  equator_pairs_ = pairs.by_one_from(split_);
}

void ScalarSweep::prepare(int m, std::int64_t first_pair, double norm) {
  by_two_.prepare(m);
  order_by_two_ = {{{norm, norm}, m, 0}, by_two_.coefficients(), by_two_.n_steps(), first_pair};
  if (!has_equator()) return;
  by_one_.prepare_scalar(m, by_two_.e());
  order_by_one_ = {{{norm, norm}, m, 0},
                   by_one_.coefficients(),
                   by_one_.n_steps(),
                   std::max(first_pair, split_) - split_};
}

template <class T>
void ScalarSweep::set_alm(int map, const std::complex<T>* alm) {
  by_two_.precondition(alm, columns_by_two_.data() + 4 * map, 4 * maps_);
  if (has_equator()) by_one_.precondition(alm, columns_by_one_.data() + 2 * map, 2 * maps_);
}

void ScalarSweep::synthesize() {
  sweep::synthesize(pairs_by_two_, order_by_two_, shape_by_two(), columns_by_two_.data(),
                    sums_.data(), pairs_->padded_size());
  if (!has_equator()) return;
  sweep::synthesize(equator_pairs_, order_by_one_, shape_by_one(), columns_by_one_.data(),
                    equator_sums_.data(), equator_size_);
}

void ScalarSweep::clear() {
  const std::int64_t stride = pairs_->padded_size();
  const std::int64_t first = sweep::first_touched(order_by_two_.first_pair);
  for (std::int64_t i = 0; i < 4 * maps_; ++i) {
    std::fill(sums_.begin() + i * stride + first, sums_.begin() + (i + 1) * stride, 0.0);
  }
  std::fill(equator_sums_.begin(), equator_sums_.begin() + 4 * maps_ * equator_size_, 0.0);
}

void ScalarSweep::adjoint() {
  sweep::adjoint(pairs_by_two_, order_by_two_, shape_by_two(), sums_.data(), pairs_->padded_size(),
                 columns_by_two_.data());
  if (!has_equator()) return;
  sweep::adjoint(equator_pairs_, order_by_one_, shape_by_one(), equator_sums_.data(), equator_size_,
                 columns_by_one_.data());
}

const Complex* ScalarSweep::alm(int map) {
  by_two_.restore(columns_by_two_.data() + 4 * map, 4 * maps_, row_.data());
  if (has_equator()) by_one_.restore_add(columns_by_one_.data() + 2 * map, 2 * maps_, row_.data());
  return row_.data();
}

std::int64_t ScalarSweep::bytes() const {
  const std::int64_t doubles = columns_by_two_.size() + columns_by_one_.size() + sums_.size() +
                               equator_sums_.size() + 2 * row_.size();
  return by_two_.bytes() + by_one_.bytes() + doubles * static_cast<std::int64_t>(sizeof(double));
}

template void ScalarSweep::set_alm(int, const std::complex<double>*);
template void ScalarSweep::set_alm(int, const std::complex<float>*);

}  // namespace ringweave
