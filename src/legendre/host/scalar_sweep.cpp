// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/scalar_sweep.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Complex = std::complex<double>;

}  // namespace

ScalarSweep::ScalarSweep(const PairTables& pairs, const PairIndex& places, int lmax,
                         std::int64_t split, int max_maps)
    : pairs_(&pairs),
      places_(&places),
      lmax_(lmax),
      pairs_by_two_(pairs.by_two()),
      split_(split),
      equator_size_(split_ < pairs.count() ? pairs.padded_size() - split_ : 0),
      recurrence_scratch_(lmax),
      own_by_two_(lmax),
      by_one_(has_equator() ? lmax : 0),
      columns_by_two_((lmax / 2 + 1 + sweep::chunk) * 4 * max_maps),
      columns_by_one_(has_equator() ? (lmax + 1 + sweep::chunk) * 2 * max_maps : 0),
      sums_(pairs.padded_size() * 4 * max_maps),
      equator_sums_(equator_size_ * 4 * max_maps),
      adjoint_scratch_(
          sweep::adjoint_scratch({sweep::Kind::scalars_by_two, max_maps}, pairs.count())) {
  pairs_by_two_.count = split_;
  equator_pairs_ = pairs.by_one_from(split_);
  maps_.reserve(to_size(max_maps));
  by_two_sums_.maps.reserve(to_size(max_maps));
  by_two_sums_.stride = pairs.padded_size();
  equatorial_.maps.reserve(to_size(max_maps));
  equatorial_.stride = equator_size_;
}

void ScalarSweep::prepare(int m, std::int64_t first_pair, double norm, const Seeds* kept) {
  if (kept == nullptr) own_by_two_.prepare(m, recurrence_scratch_);
  by_two_ = kept == nullptr ? &own_by_two_ : &kept->recurrence;
  order_by_two_ = {{{norm, norm}, m, 0},
                   by_two_->coefficients(),
                   by_two_->n_steps(),
                   first_pair,
                   kept == nullptr ? nullptr : kept->first_values.data()};
  if (!has_equator()) return;
  by_one_.prepare_scalar(m, by_two_->e());
  order_by_one_ = {{{norm, norm}, m, 0},
                   by_one_.coefficients(),
                   by_one_.n_steps(),
                   std::max(first_pair, split_) - split_};
}

ScalarSweep::Seeds ScalarSweep::seeds(int m, std::int64_t first_pair, double norm) {
  Seeds result{RecurrenceByTwo(lmax_, m), {}};
  result.recurrence.prepare(m, recurrence_scratch_);
  prepare(m, first_pair, norm, &result);
  result.first_values.allocate(sweep::n_first_values(pairs_by_two_, order_by_two_));
  sweep::first_values(pairs_by_two_, order_by_two_, result.first_values.data());
  return result;
}

void ScalarSweep::choose_maps(std::span<const Map> maps) {
  maps_.assign(maps.begin(), maps.end());
  by_two_sums_.maps.clear();
  equatorial_.maps.clear();
  const std::int64_t stride = pairs_->padded_size();
  double* sums = sums_.data();
  double* even = equator_sums_.data();
  double* odd = even + 2 * ssize64(maps) * equator_size_;
  for (const Map& map : maps_) {
    by_two_sums_.maps.push_back({sums, sums + 2 * stride, pairs_->z(), map.weight, map.component});
    sums += 4 * stride;
    if (!has_equator()) continue;
    equatorial_.maps.push_back(
        {even, odd, nullptr, map.weight == nullptr ? nullptr : map.weight + split_, map.component});
    even += 2 * equator_size_;
    odd += 2 * equator_size_;
  }
}

template <class T>
void ScalarSweep::set_alm(int map, std::span<const std::complex<T>> alm) {
  by_two_->precondition(alm, columns_by_two_.data() + 4 * map, 4 * n_maps());
  if (has_equator()) by_one_.precondition(alm, columns_by_one_.data() + 2 * map, 2 * n_maps());
}

void ScalarSweep::synthesize() {
  sweep::synthesize(pairs_by_two_, order_by_two_, shape_by_two(), columns_by_two_.data(),
                    sums_.data(), pairs_->padded_size());
  if (!has_equator()) return;
  sweep::synthesize(equator_pairs_, order_by_one_, shape_by_one(), columns_by_one_.data(),
                    equator_sums_.data(), equator_size_);
}

std::array<ScalarSweep::Part, 2> ScalarSweep::parts(const sweep::RingRun& run) const {
  if (run.south) {
    const std::int64_t n = std::clamp<std::int64_t>(run.first_pair - split_ + 1, 0, run.count);
    return {{{true, 0, {run.first_pair - split_, n, true}},
             {false, n, {run.first_pair - n, run.count - n, true}}}};
  }
  const std::int64_t n = std::clamp<std::int64_t>(split_ - run.first_pair, 0, run.count);
  return {{{false, 0, {run.first_pair, n, false}},
           {true, n, {run.first_pair + n - split_, run.count - n, false}}}};
}

void ScalarSweep::write_modes(const sweep::RingRun& run, Complex* modes,
                              std::int64_t n_components) const {
  for (const Part& part : parts(run)) {
    const Sums& sums = part.equatorial ? equatorial_ : by_two_sums_;
    sweep::write_modes(sums.maps.data(), n_maps(), sums.stride, part.run,
                       modes + part.first_ring * n_components, n_components);
  }
}

void ScalarSweep::Sums::zero_up_to(std::int64_t pair) {
  if (pair <= covered) return;
  for (const sweep::MapSums& map : maps) {
    for (double* sums : {map.even, map.even + stride, map.odd, map.odd + stride}) {
      std::fill(sums + covered, sums + pair, 0.0);
    }
  }
  covered = pair;
}

void ScalarSweep::Sums::add(const sweep::RingRun& run, const Complex* modes,
                            std::int64_t n_components) {
  if (run.count == 0) return;
  const std::int64_t first = run.south ? run.first_pair - run.count + 1 : run.first_pair;
  const std::int64_t end = first + run.count;
  zero_up_to(first);
  const bool add = first < covered;
  if (add) zero_up_to(end);
  sweep::read_modes(maps.data(), static_cast<int>(maps.size()), stride, run, modes, n_components,
                    add);
  covered = std::max(covered, end);
}

void ScalarSweep::add_modes(const sweep::RingRun& run, const Complex* modes,
                            std::int64_t n_components) {
  for (const Part& part : parts(run)) {
    (part.equatorial ? equatorial_ : by_two_sums_)
        .add(part.run, modes + part.first_ring * n_components, n_components);
  }
}

ScalarSweep::Place ScalarSweep::place(int map, std::int64_t ring) const {
  const std::int64_t pair = places_->pair(ring);
  const bool equatorial = pair >= split_;
  const sweep::MapSums& sums = (equatorial ? equatorial_ : by_two_sums_).maps[to_size(map)];
  const std::int64_t i = equatorial ? pair - split_ : pair;
  const double z = sums.z == nullptr ? 1 : sums.z[i];
  return {sums.even + i, sums.odd + i, (equatorial ? equatorial_ : by_two_sums_).stride,
          places_->is_south(ring) ? -z : z, sums.weight == nullptr ? 1 : sums.weight[i]};
}

Complex ScalarSweep::mode(int map, std::int64_t ring) const {
  const Place at = place(map, ring);
  return at.weight *
         Complex(at.even[0] + at.z * at.odd[0], at.even[at.stride] + at.z * at.odd[at.stride]);
}

void ScalarSweep::add_mode(int map, std::int64_t ring, Complex mode) {
  const std::int64_t pair = places_->pair(ring);
  pair >= split_ ? equatorial_.zero_up_to(pair - split_ + 1) : by_two_sums_.zero_up_to(pair + 1);
  const Place at = place(map, ring);
  const Complex value = at.weight * mode;
  at.even[0] += value.real();
  at.even[at.stride] += value.imag();
  at.odd[0] += at.z * value.real();
  at.odd[at.stride] += at.z * value.imag();
}

void ScalarSweep::begin_adjoint() {
  by_two_sums_.covered = sweep::first_touched(order_by_two_.first_pair);
  equatorial_.covered = 0;
}

void ScalarSweep::adjoint(std::span<const sweep::PrefetchRange> wanted) {
  by_two_sums_.zero_up_to(by_two_sums_.stride);
  equatorial_.zero_up_to(equatorial_.stride);
  sweep::adjoint(pairs_by_two_, order_by_two_, shape_by_two(), sums_.data(), pairs_->padded_size(),
                 columns_by_two_.data(), adjoint_scratch_.data(), wanted);
  if (!has_equator()) return;
  sweep::adjoint(equator_pairs_, order_by_one_, shape_by_one(), equator_sums_.data(), equator_size_,
                 columns_by_one_.data(), adjoint_scratch_.data());
}

void ScalarSweep::alm(int map, std::span<Complex> row) const {
  by_two_->restore(columns_by_two_.data() + 4 * map, 4 * n_maps(), row);
  if (has_equator()) by_one_.restore_add(columns_by_one_.data() + 2 * map, 2 * n_maps(), row);
}

std::int64_t ScalarSweep::Seeds::bytes() const {
  return recurrence.bytes() + first_values.size() * static_cast<std::int64_t>(sizeof(double));
}

std::int64_t ScalarSweep::bytes() const {
  const std::int64_t doubles = columns_by_two_.size() + columns_by_one_.size() + sums_.size() +
                               equator_sums_.size() + adjoint_scratch_.size();
  return recurrence_scratch_.bytes() + own_by_two_.bytes() + by_one_.bytes() +
         doubles * static_cast<std::int64_t>(sizeof(double));
}

template void ScalarSweep::set_alm(int, std::span<const std::complex<double>>);
template void ScalarSweep::set_alm(int, std::span<const std::complex<float>>);

}  // namespace ringweave::detail::inline legendre
